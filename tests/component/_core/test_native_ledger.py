"""Operations that outlive their iterations: rows, frames, refusals, many at once."""

import resource
from typing import Any

import pytest

from pileup._core._native import Histogram, Op, Press, now

JOBS = 100_000
SECOND = 10**9


def iteration(press: Press, client: int = 0) -> Op:
    """Return the first iteration of a press."""
    assert press.spawn() == client
    op = press.seat(client).next()
    assert op is not None
    return op


def test_each_is_one_row_of_the_iteration_that_began_it(bench: Any) -> None:
    ledger = bench.recorder.ledger()
    op = iteration(bench.press(kind="times", times=1, phase=5))
    op.begin("queue", "a")
    op.begin("job", "a", 1000)
    op.finish(0)
    begun = ledger.since("queue", "a")
    assert ledger.since("job", "a") == 1000 and ledger.since("job", "b") is None
    assert op.intended <= begun <= now()
    assert ledger.turn("queue", "a", "run", begun + SECOND) and not ledger.turn("queue", "a", "run")
    assert ledger.end("run", "a", 1, begun + 3 * SECOND, "exit code 1", bytes=7) and not ledger.end("run", "a")
    assert (ledger.open(), ledger.open("job"), ledger.keys("job")) == (1, 1, ["a"])
    ledger.close()
    table = bench.table()
    parent = table.named("iteration")["id"][0]
    queue, run, job = (table.named(name)[0] for name in ("queue", "run", "job"))
    for row in (queue, run, job):
        assert (row["parent"], row["case"], row["target"], row["place"], row["phase"]) == (parent, 3, 1, 2, 5)
        assert row["intended"] == row["start"] and table.texts[row["key"]] == "a"
    assert (queue["start"], queue["end"], queue["outcome"]) == (begun, begun + SECOND, 0)
    assert (run["start"], run["end"], run["outcome"]) == (begun + SECOND, begun + 3 * SECOND, 1)
    assert (run["bytes"], table.texts[run["error"]]) == (7, "exit code 1")
    assert (job["start"], job["outcome"]) == (1000, 4)
    assert len(table.rows) == 4


def test_frames_tell_what_ended_once_and_what_is_open_now(bench: Any) -> None:
    ledger = bench.recorder.ledger()
    for case, keys in ((3, "abc"), (4, "xy")):
        op = iteration(bench.press(case=case))
        for key in keys:
            op.begin("job", key, SECOND)
        op.finish(0)
    assert [(frame["case"], frame["in_flight"], frame["rows"]) for frame in ledger.frames()] == [(3, 3, []), (4, 2, [])]
    assert ledger.frames() == []
    ended = [("a", 0, 2 * SECOND, ""), ("c", 2, 2 * SECOND, "no slot"), ("z", 0, None, "")]
    assert ledger.end_many("job", ended) == 2
    (frame,) = ledger.frames()
    (row,) = frame["rows"]
    assert (frame["case"], frame["in_flight"]) == (3, 1)
    assert (row["operation"], row["iteration"], row["phase"], row["passed"], row["refused"]) == ("job", False, 3, 1, 1)
    response = Histogram.decode(row["response"])
    assert response.count == 1 and response.max == pytest.approx(SECOND, rel=1e-3)
    ledger.close()
    told = [(frame["case"], frame["in_flight"], frame["rows"][0]["unfinished"]) for frame in ledger.frames()]
    assert told == [(3, 0, 1), (4, 0, 2)]


def test_what_cannot_begin_says_why(bench: Any) -> None:
    ledger = bench.recorder.ledger()
    op = iteration(bench.press(kind="times", times=1))
    op.begin("job", "a")
    with pytest.raises(ValueError, match=r"\"job\" on \"a\" is open already; expected a key"):
        op.begin("job", "a")
    with pytest.raises(ValueError, match="empty"):
        op.begin("", "a")
    op.finish(0)
    with pytest.raises(RuntimeError, match="after its iteration has ended"):
        op.begin("job", "b")
    with pytest.raises(ValueError, match="outcome 9 is unknown; expected 0"):
        ledger.end("job", "a", 9)
    assert ledger.open() == 1, "what was refused has changed nothing"


def test_a_hundred_thousand_open_ones_take_little_memory_and_end_once(bench: Any) -> None:
    ledger = bench.recorder.ledger()
    names = [f"pileup-0123456789-{number}" for number in range(JOBS)]
    op = iteration(bench.press(kind="times", times=1))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for name in names:
        op.begin("job", name)
    op.finish(0)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert ledger.open() == JOBS
    assert grown < 60 * 10**6
    assert ledger.keys("job", 2) == names[:2]
    assert ledger.end_many("job", [(name, 0, None, "") for name in reversed(names)]) == JOBS
    assert ledger.end_many("job", [(name, 0, None, "") for name in names]) == 0
    table = bench.table()
    rows = table.named("job")
    assert sorted(table.texts[number] for number in rows["key"]) == sorted(names)
