"""What the monitor makes of two documents; against a real server it is tested in contract/."""

from collections.abc import Iterator

import pytest

from pileup.builtin.xrootd.figures import read_statistics
from pileup.builtin.xrootd.monitor import XrootdMonitor
from pileup.builtin.xrootd.target import XrootdTarget
from pileup.plugin import PluginError

DOCUMENT = """<statistics tod="{now}" ver="v5.5.3" src="vm:1094" tos="100" pgm="xrootd" ins="t" pid="{pid}" site="">
<stats id="link"><num>{links}</num><maxn>9</maxn><tot>{links}</tot><in>{bytes}</in><out>10{bytes}</out></stats>
<stats id="proc"><usr><s>1</s><u>{micro}</u></usr><sys><s>0</s><u>5</u></sys></stats>
<stats id="xrootd"><num>4</num><ops><open>{opens}</open><rd>0</rd></ops><err>0</err><lgn><num>2</num></lgn></stats>
<stats id="sched"><jobs>7</jobs><inq>3</inq><threads>8</threads><idle>1</idle></stats></statistics>"""


def document(pid: int = 7, links: int = 1, moved: int = 100, opens: int = 0, micro: int = 0) -> bytes:
    filled = {"{pid}": pid, "{links}": links, "{bytes}": moved, "{opens}": opens, "{micro}": micro, "{now}": 1}
    text = DOCUMENT
    for word, value in filled.items():
        text = text.replace(word, str(value))
    return text.encode()


@pytest.fixture
def ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes on by two seconds at every look."""
    clock: Iterator[float] = iter(range(0, 1000, 2))
    monkeypatch.setattr("pileup.builtin.xrootd.monitor.time.monotonic", lambda: next(clock))


def samples(monkeypatch: pytest.MonkeyPatch, *documents: bytes) -> list[dict[str, tuple[float, str]]]:
    """What the monitor says of each document."""
    told = iter(documents)
    monkeypatch.setattr(XrootdTarget, "statistics", lambda self: next(told))
    monitor = XrootdMonitor(url="root://127.0.0.1:1//")
    return [{each.metric: (each.value, each.unit) for each in monitor.sample()} for _ in documents]


@pytest.mark.usefixtures("ticks")
def test_counts_begin_with_the_first_sample_and_rates_with_the_second(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = samples(monkeypatch, document(opens=5), document(opens=45, moved=300, links=3, micro=500_000))
    assert first["opens"] == (0, "")
    assert "open_rate" not in first
    assert second["opens"] == (40, "")
    assert second["open_rate"] == (20, "/s")
    assert (second["in"], second["in_rate"]) == ((200, "B"), (100, "B/s"))
    assert (second["connections"], second["queue"], second["threads"]) == ((3, ""), (3, ""), (8, ""))
    assert second["cpu"] == (25, "%")


@pytest.mark.usefixtures("ticks")
def test_a_server_that_was_started_again_goes_on_from_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    _, before, after, last = samples(
        monkeypatch, document(), document(opens=10), document(pid=8, opens=4), document(pid=8, opens=6)
    )
    assert [each["opens"][0] for each in (before, after, last)] == [10, 14, 16]
    assert after["open_rate"] == (2, "/s")
    assert "cpu" not in after


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"", "not XML"),
        (b"<a/>", "neither links nor operations"),
        (b"<!DOCTYPE a><a/>", "declare a document type"),
        (b"<a>" + b" " * (1 << 20) + b"</a>", "too long"),
    ],
)
def test_what_is_no_document_is_told(text: bytes, told: str) -> None:
    with pytest.raises(PluginError, match=told):
        read_statistics(text)


def test_one_server_is_watched() -> None:
    for options in ({}, {"target": "se", "url": "root://h//"}):
        with pytest.raises(ValueError, match="one server is watched; expected `target` or `url`"):
            XrootdMonitor(**options)
    with pytest.raises(ValueError, match="belong to `url`"):
        XrootdMonitor(target="se", ca="x")


def test_a_target_that_nobody_knows_is_told() -> None:
    with pytest.raises(PluginError, match="not known here; expected a monitor without `host`"):
        list(XrootdMonitor(target="se").sample())
