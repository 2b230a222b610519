"""Any pattern is read or refused by name, and whatever bytes a log has, each of its lines counts once."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from pileup.builtin.logs.monitor import LogMonitor
from pileup.builtin.logs.presets import FORMATS
from pileup.plugin.testing import MonitorRecord, RecordedOperation

FIELDS = ("time", "begin", "end", "took", "operation", "key", "id", "client", "status", "bytes", "error", "own", "job")
AT = b"1795647601"
SINGLE = r"^(?P<time>[0-9.]+) (?P<took>[0-9.]+) (?P<operation>\S+) (?P<key>.*)"
BEGINS, ENDS = r"^(?P<time>\S+) begin (?P<join>\S+)", r"^(?P<time>\S+) end (?P<join>\S+)"
pieces = st.sampled_from(
    [r"\S+", r"\d+", "[0-9.]+", ".*", "a|b", " ", "^", "$", "(", ")", "[", "*", "?", "{2}", "\\", "é"]
)
groups = st.builds(
    "(?P<{}>{})".format, st.sampled_from(FIELDS), st.sampled_from([r"\S+", r"\d+", "[0-9.]*", ".*", "x?"])
)
patterns = st.one_of(st.text(max_size=30), st.lists(st.one_of(pieces, groups), max_size=8).map(" ".join))
words = st.one_of(
    st.binary(max_size=12), st.sampled_from([AT, AT + b".5", b"0", b"-", b"0.1", b"GET", b"9" * 30, b"%zz"])
)
contents = st.one_of(
    st.binary(max_size=300), st.lists(st.lists(words, max_size=6).map(b" ".join), max_size=20).map(b"\n".join)
)


def lines_of(content: bytes) -> int:
    """How many lines have ended."""
    return content.count(b"\n")


def read(content: bytes, cuts: list[int], **options: Any) -> tuple[dict[str, float], list[RecordedOperation], int]:
    """Read a log that grows from cut to cut: sums of the samples, the operations, and how many are still open."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        log.touch()
        monitor = LogMonitor(file=str(log), zone="UTC", **options)
        record = MonitorRecord(monitor)
        monitor.open()
        found: list[RecordedOperation] = []
        sums: dict[str, float] = {}
        left = 0
        places = sorted(cut % (len(content) + 1) for cut in cuts)
        for begin, end in zip((0, *places), (*places, len(content)), strict=True):
            with log.open("ab") as file:
                file.write(content[begin:end])
            for each in (*monitor.sample(), *monitor.sample()):
                sums[each.metric] = sums.get(each.metric, 0) + each.value
                left = int(each.value) if each.metric == "open" else left
            found += record.operations()
        monitor.close()
    return sums, found, left


@given(patterns, patterns, st.sampled_from(["s", "ms", "iso", "%d/%b/%Y", "%Y-%m-%d %H:%M:%S.%f"]), contents)
def test_any_pattern_is_refused_by_name_or_reads_any_bytes(first: str, second: str, form: str, content: bytes) -> None:
    """Of operations of a line each: every line is an operation, another line, or one that cannot be read."""
    for options in ({"pattern": first}, {"begins": first, "ends": second, "join": ["job"]}):
        try:
            LogMonitor(file="x", time=form, **options)
        except ValueError as problem:
            assert "expected" in str(problem)
            continue
        sums, found, _ = read(content, [], time=form, **options)
        assert sums["lines"] == lines_of(content)
        assert sums["operations"] == len(found)
        assert all(0 < each.start <= each.end for each in found)
        if "pattern" in options:
            assert sums["lines"] == sums["operations"] + sums["other"] + sums["unreadable"]


@given(contents, st.lists(st.integers(0, 1000), max_size=4))
@example(b"1 0 GET a\n1795647601 0.1 GET b\n", [])
def test_each_line_of_any_bytes_counts_once_however_the_log_grows(content: bytes, cuts: list[int]) -> None:
    whole, at_once, _ = read(content, [], pattern=SINGLE, time="s")
    parts, one_by_one, _ = read(content, cuts, pattern=SINGLE, time="s")
    assert parts == whole
    assert one_by_one == at_once
    assert whole["lines"] == lines_of(content) == whole["operations"] + whole["other"] + whole["unreadable"]


@given(
    st.lists(st.tuples(st.sampled_from([b"begin", b"end", b"x"]), words), max_size=30), st.lists(st.integers(0, 999))
)
def test_each_of_two_lines_counts_once(rows: list[tuple[bytes, bytes]], cuts: list[int]) -> None:
    """A line is one of the two of an operation, waits for the other, never had one, or is another line."""
    content = b"".join(AT + b" " + kind + b" " + word.replace(b"\n", b"") + b"\n" for kind, word in rows)
    sums, found, left = read(content, cuts, begins=BEGINS, ends=ENDS, time="s")
    assert sums["operations"] == len(found)
    assert sums["lines"] == len(rows)
    assert len(rows) == 2 * (len(found) + sums["unreadable"]) + sums["unpaired"] + sums["other"] + left


@given(st.sampled_from(sorted(FORMATS)), contents, st.lists(st.integers(0, 1000), max_size=3))
def test_no_bytes_break_a_ready_format(name: str, content: bytes, cuts: list[int]) -> None:
    sums, found, _ = read(content, cuts, format=name)
    assert sums["lines"] == lines_of(content)
    assert sums["operations"] == len(found)
