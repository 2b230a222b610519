"""Criteria on what was held or found, where pileup was the bottleneck."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from pileup.model import own
from pileup.stats.cases import CaseData
from pileup.stats.criteria import Criteria
from pileup.stats.monitors import Whole
from pileup.stats.window import Window

AGAIN = {"passed": None, "limited": True}
FIND = {"trials": [{"passed": False, "limited": True}], "measuring": 1}
START = 1_795_000_000 * 10**9
SECOND = 10**9
MS = 10**6


@pytest.mark.parametrize(
    ("trials", "verdict"),
    [
        ([{"passed": False, "limited": True}], "unknown"),
        ([{"passed": False}], "not met"),
        ([{"passed": None, "limited": True}], "unknown"),
        ([AGAIN, {"passed": False}], "not met"),
    ],
)
def test_what_was_found_by_trials_that_pileup_limited_does_not_fail(trials: list[dict[str, Any]], verdict: str) -> None:
    find = {"trials": trials, "measuring": 1}
    info = {"id": 1, "name": "read", "test": "read", "load_kind": "open", "load": "open", "find": find}
    series = Whole("read", "found_low", "", "/s", "here", [1], [100.0])
    with duckdb.connect() as connection:
        judge = Criteria([CaseData(info, [], None)], [series], connection)
        asked = {"id": "C1", "says": "so", "coverage": "full", "at": None}
        found = judge.judge(asked | {"check": "last(read.found_low) >= 150 /s"})
        assert found.verdict == verdict, found
        if verdict == "unknown":
            assert found.reason == "pileup was the bottleneck of read; this figure does not describe the system"
        assert judge.judge(asked | {"check": "last(read.found_low) >= 50 /s"}).verdict == "met"


HOLD = {"metric": "poll.queued", "by": "rate", "at": 5000.0, "half": 250.0, "every": SECOND}


def _held(frames: list[Any], values: list[float], *more: Whole) -> Any:
    """Judge what was held at each of 60 looks, one a second."""
    info = {"id": 1, "name": "submit", "test": "submit", "load_kind": "open", "load": "open", "hold": HOLD}
    times = [START + n * SECOND for n in range(1, 1 + len(values))]
    series = [Whole("submit", "held_value", "", "", "here", times, values), *more]
    data = CaseData(info, frames, Window(START, START + len(values) * SECOND))
    with duckdb.connect() as connection:
        asked = {"id": "C1", "says": "so", "coverage": "full", "at": None}
        return Criteria([data], series, connection).judge(asked | {"check": "min(submit.held_value) >= 5000"})


def test_t26_lateness_is_held_against_what_was_held(row: Any, frame: Any) -> None:
    """70 ms, as often as not, and threads that waited for a CPU: nothing to a queue of minutes."""
    frames = [frame(n, row([20 * MS] * 8), late=[70 * MS] * 8, clients=64) for n in range(1, 61)]
    waits = [
        Whole(own.MONITOR, metric, own.label(0), "%", "here", [START + n * SECOND for n in range(1, 61)], [value] * 60)
        for metric, value in ((own.CPU, 5.0), (own.RUN_QUEUE, 535.0))
    ]
    found = _held(frames, [5031.0] * 59 + [4539.0], *waits)
    assert found.verdict == "not met", found
    assert _held(frames, [5031.0] * 60, *waits).verdict == "met"


def test_what_was_not_held_while_the_process_stood_still_is_not_known(row: Any, frame: Any) -> None:
    frames = [frame(n, row([20 * MS] * 8), clients=64) for n in range(1, 61)]
    stop = Whole(own.MONITOR, own.STOPPED, own.label(0), "s", "here", [START + int(30.2 * SECOND)], [3.0])
    found = _held(frames, [5031.0] * 28 + [4539.0] + [5031.0] * 31, stop)
    assert found.verdict == "unknown"
    assert found.reason.startswith("pileup was the bottleneck of submit from 11:07:07 to 11:07:11 (its process did not")
    elsewhere = _held(frames, [5031.0] * 28 + [4539.0] + [5031.0] * 30 + [4539.0], stop)
    assert elsewhere.verdict == "not met"
