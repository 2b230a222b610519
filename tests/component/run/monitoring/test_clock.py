"""The monitors' clock: samples at their interval, problems told once, slow monitors told."""

import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from pileup.model.record import Outcome, Sample
from pileup.plugin import Monitor, PluginError
from pileup.record import RunFolder
from pileup.run.monitoring import clock as clocks
from pileup.run.monitoring import sampler
from pileup.run.monitoring.clock import MonitorClock, Watch
from tests.manifests import run_of

MS = 10**6
AT = 1_700_000_000 * 10**9


class Counting(Monitor):
    """Counts its samples and says when it has made enough."""

    def __init__(self, enough: int, broken: bool = False) -> None:
        super().__init__()
        self.left = enough
        self.broken = broken
        self.done = threading.Event()

    def sample(self) -> Iterator[Sample]:
        self.left -= 1
        if self.left <= 0:
            self.done.set()
        if self.broken:
            raise OSError("sensor gone")
        yield Sample("left", float(self.left), "things", "side=left")


class Missing(Monitor):
    """Cannot measure here."""

    def open(self) -> None:
        raise PluginError("no such sensor")

    def sample(self) -> Iterator[Sample]:
        raise AssertionError("never reached")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[RunFolder]:
    folder = RunFolder.create(tmp_path, "t", 0)
    yield folder
    folder.close()


def test_samples_are_recorded_with_name_unit_and_labels(folder: RunFolder) -> None:
    monitor = Counting(5)
    clock = MonitorClock([Watch("mine", monitor, 10 * MS)], folder)
    clock.start()
    assert monitor.done.wait(10)
    clock.add("copy", 7, Sample("speed", 3.0, "MB/s"))
    clock.stop()
    rows = list(folder.samples())
    mine = [row for row in rows if row.monitor == "mine"]
    assert [row.sample.value for row in mine][:5] == [4, 3, 2, 1, 0]
    assert (mine[0].sample.metric, mine[0].sample.unit, mine[0].sample.labels) == ("left", "things", "side=left")
    assert [(row.time, row.sample.metric) for row in rows if row.monitor == "copy"] == [(7, "speed")]
    apart = [later.time - first.time for first, later in pairwise(mine)]
    assert min(apart) > 1 * MS, "on a grid, never in a burst"


class Slow(Monitor):
    """Takes its time for the first sample, as one that loads a library and connects; then counts as a server does."""

    def __init__(self, first: float) -> None:
        super().__init__()
        self.first = first
        self.served = 0
        self.seen = threading.Event()

    def sample(self) -> Iterator[Sample]:
        if not self.seen.is_set():
            self.seen.wait(self.first)
        self.seen.set()
        yield Sample("served", float(self.served))


def test_t24_the_first_sample_is_there_before_the_load_begins(folder: RunFolder) -> None:
    """Counters of a server are reported from the first sample on: an open before it was 209 of 210."""
    monitor = Slow(0.3)
    clock = MonitorClock([Watch("server", monitor, 10 * MS), Watch("absent", Missing(), 10 * MS)], folder)
    clock.start()
    monitor.served = 1  # the load
    clock.stop()
    first = next(row for row in folder.samples() if row.monitor == "server")
    assert first.sample.value == 0


def test_a_monitor_that_has_no_first_sample_in_time_does_not_keep_the_load(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clocks, "FIRST", 0.05)
    monitor = Slow(60)
    clock = MonitorClock([Watch("server", monitor, 10 * MS)], folder)
    clock.start()
    told = [event.text for event in folder.events() if event.kind == "monitor"]
    assert told == ["monitor server had no sample yet when the load began: what came before it is not counted"]
    monitor.seen.set()
    clock.stop()


def test_a_problem_is_told_once_and_sampling_goes_on(folder: RunFolder) -> None:
    monitor = Counting(4, broken=True)
    clock = MonitorClock([Watch("broken", monitor, 10 * MS)], folder)
    clock.start()
    assert monitor.done.wait(10)
    clock.stop()
    # a busy machine may be told of too
    told = [event.text for event in folder.events() if event.kind == "monitor" and "sensor gone" in event.text]
    assert len(told) == 1
    assert told[0].startswith("monitor broken: OSError: sensor gone (test_clock.py:")


def test_a_monitor_that_cannot_measure_here_is_told(folder: RunFolder) -> None:
    clock = MonitorClock([Watch("absent", Missing(), 10 * MS)], folder)
    clock.start()
    for _ in range(100):
        if any(True for _ in folder.events()):
            break
        threading.Event().wait(0.02)
    clock.stop()
    assert [event.text for event in folder.events()] == ["monitor absent cannot measure here: no such sensor"]


class Telling(Counting):
    """Tells of two acts of its server with each sample."""

    records = True

    def sample(self) -> Iterable[Sample]:
        if self.left > 0:
            self.record("ask ?", "me@db", start=AT - self.left, end=AT, first_byte=AT - 1, bytes=7, calls=9)
            self.record("fail", start=AT, end=AT - 1, outcome=Outcome.FAILED, error="no room", labels={"kind": "a=b"})
        return super().sample()


def test_what_monitors_record_is_kept_with_labels_and_the_name_of_the_monitor(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampler, "PAUSE", 0.01)
    folder.save(run_of({"targets": [{"name": "other"}, {"name": "db"}], "cases": [{"id": 1, "name": "copy"}]}))
    watched, alone = Telling(3), Telling(3)
    watches = [Watch("slow", watched, 10 * MS, target="db"), Watch("free", alone, 10 * MS)]
    clock = MonitorClock(watches, folder, place=3, index=["other", "db"].index)
    clock.start()
    assert watched.done.wait(10)
    assert alone.done.wait(10)
    clock.stop()
    for state in ("raw", "converted"):
        found = folder.operations().arrays()
        assert len(set(found["id"])) == len(found["id"]) == 12, state
        assert set(found["target"]) == {"db", ""}
        assert (set(found["side"]), set(found["case"]), set(found["parent"])) == ({"server"}, {""}, {0})
        assert (set(found["place"]), set(found["phase"])) == ({3}, {"measure"})
        asked = folder.operations().arrays(
            "start", "first_byte", "end", "bytes", "calls", "key", where="operation = 'ask ?'"
        )
        assert {name: array[0] for name, array in asked.items() if name != "start"} == {
            "first_byte": AT - 1,
            "end": AT,
            "bytes": 7,
            "calls": 9,
            "key": "me@db",
        }
        failed = folder.operations().arrays(
            "start", "end", "error", "outcome", "labels", "monitor", where="operation = 'fail' AND target = 'db'"
        )
        assert {name: array[0] for name, array in failed.items()} == {
            "start": AT,
            "end": AT,
            "error": "no room",
            "outcome": "failed",
            "labels": "kind=a_b",
            "monitor": "slow",
        }
        folder.convert()


class Asking(Monitor):
    """Asks the server itself what it did, which it can while that runs."""

    records = True

    def __init__(self) -> None:
        super().__init__()
        self.did = [AT]
        self.runs = True

    def sample(self) -> Iterable[Sample]:
        if not self.runs:
            raise ConnectionError("the server has ended")
        self.record_many("act", start=self.did, end=self.did)
        self.did = []
        return ()


def test_what_a_server_did_last_is_asked_for_while_it_runs(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler, "PAUSE", 0.01)
    folder.save(run_of({"cases": [{"id": 1, "name": "copy"}]}))
    monitor = Asking()
    clock = MonitorClock([Watch("mine", monitor, 60_000 * MS)], folder)
    clock.start()
    monitor.did = [AT + 1, AT + 2]
    clock.rest()
    monitor.runs = False
    clock.stop()
    rows = folder.operations().arrays("start", where="monitor = 'mine'")
    assert sorted(rows["start"].tolist()) == [AT, AT + 1, AT + 2]
    assert not [event.text for event in folder.events()]


class Odd(Counting):
    """Gives what is not a sample, then what is one; at the end it cannot let go."""

    def __init__(self, act: Callable[[], object]) -> None:
        super().__init__(3)
        self.act = act

    def sample(self) -> Iterator[Sample]:
        yield from super().sample()
        if self.left == 1:
            yield self.act()  # type: ignore[misc]


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda: Sample("a", "three"), "TypeError: Sample('a', 'three'): expected a number (test_clock.py:"),  # type: ignore[arg-type]
        (lambda: Sample("a", None), "TypeError: Sample('a', None): expected a number (test_clock.py:"),  # type: ignore[arg-type]
        (lambda: Sample(7, 1.0), "TypeError: Sample(7, …): metric is 7; expected a text (test_clock.py:"),  # type: ignore[arg-type]
        (lambda: {}["gone"], "KeyError: 'gone' (test_clock.py:"),
        (lambda: ("a", 3), "sample() gave ('a', 3); expected only Samples (fix the file and run again)"),
    ],
)
def test_p6_what_is_no_sample_is_a_problem_of_its_monitor_and_of_nothing_else(
    folder: RunFolder, act: Callable[[], object], said: str
) -> None:
    """A text as a value was met where the record is written: every load beside it ended with an error."""
    odd, fine = Odd(act), Counting(3)
    clock = MonitorClock([Watch("odd", odd, 10 * MS), Watch("fine", fine, 10 * MS)], folder)
    clock.start()
    assert odd.done.wait(10)
    assert fine.done.wait(10)
    clock.write()
    clock.stop()
    told = {
        event.text for event in folder.events() if event.kind == "monitor" and event.text.startswith("monitor odd: ")
    }
    assert len(told) == 1
    assert told.pop().startswith(f"monitor odd: {said}")
    values: dict[str, list[float]] = {}
    for row in folder.samples():
        values.setdefault(row.monitor, []).append(row.sample.value)
    assert values["fine"][:3] == [2, 1, 0]
    assert values["odd"][:2] == [2, 0], "what came with the mistake is lost, what came after it is kept"


@pytest.mark.parametrize("name", ["open", "close"])
def test_a_mistake_in_open_or_close_is_told_with_its_line(folder: RunFolder, name: str) -> None:
    monitor = Counting(1)

    def fail() -> None:
        raise ZeroDivisionError("oops")

    setattr(monitor, name, fail)
    lacks: list[str] = []
    watch = Watch("odd", monitor, 10 * MS)
    clock = MonitorClock([watch], folder, lack=lambda watch, reason, whole: lacks.append(reason))
    clock.start()
    clock.stop()
    (told,) = [event.text for event in folder.events() if event.kind == "monitor"]
    reason = "ZeroDivisionError: oops (test_clock.py:"
    assert told.startswith(f"monitor odd {'cannot measure here' if name == 'open' else 'was not closed'}: {reason}")
    assert [each.startswith(reason) for each in lacks] == ([True] if name == "open" else [])
