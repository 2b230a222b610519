"""Criteria on what was held or found: of which time, and where pileup was the bottleneck."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from pileup.model import self_metrics
from pileup.stats.cases import CaseData
from pileup.stats.frames.window import Window
from pileup.stats.monitors import MetricSeries
from pileup.stats.verdicts.criteria import Criteria
from tests.manifests import case_of, criterion_of

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
    series = MetricSeries("read", "found_low", "", "/s", "here", [1], [100.0])
    with duckdb.connect() as connection:
        judge = Criteria([CaseData(case_of(info), [], Window(0, 10))], [series], connection)
        asked = {"id": "C1", "says": "so", "coverage": "full", "at": None}
        found = judge.judge(criterion_of(asked | {"check": "last(read.found_low) >= 150 /s"}))
        assert found.verdict == verdict, found
        if verdict == "unknown":
            assert found.reason == "pileup was the bottleneck of read; this figure does not describe the system"
        assert judge.judge(criterion_of(asked | {"check": "last(read.found_low) >= 50 /s"})).verdict == "met"


HOLD = {"metric": "poll.queued", "by": "rate", "at": 5000.0, "half": 250.0, "every": SECOND}


def _held(frames: list[Any], values: list[float], *more: MetricSeries) -> Any:
    """Judge what was held at each of 60 looks, one a second."""
    info = {"id": 1, "name": "submit", "test": "submit", "load_kind": "open", "load": "open", "hold": HOLD}
    times = [START + n * SECOND for n in range(1, 1 + len(values))]
    series = [MetricSeries("submit", "held_value", "", "", "here", times, values), *more]
    data = CaseData(case_of(info), frames, Window(START, START + len(values) * SECOND))
    with duckdb.connect() as connection:
        asked = {"id": "C1", "says": "so", "coverage": "full", "at": None}
        return Criteria([data], series, connection).judge(
            criterion_of(asked | {"check": "min(submit.held_value) >= 5000"})
        )


def test_t26_lateness_is_held_against_what_was_held(row: Any, frame: Any) -> None:
    """70 ms, as often as not, and threads that waited for a CPU: nothing to a queue of minutes."""
    frames = [frame(n, row([20 * MS] * 8), late=[70 * MS] * 8, clients=64) for n in range(1, 61)]
    waits = [
        MetricSeries(
            self_metrics.MONITOR,
            metric,
            self_metrics.label(0),
            "%",
            "here",
            [START + n * SECOND for n in range(1, 61)],
            [value] * 60,
        )
        for metric, value in ((self_metrics.CPU, 5.0), (self_metrics.RUN_QUEUE, 535.0))
    ]
    found = _held(frames, [5031.0] * 59 + [4539.0], *waits)
    assert found.verdict == "not met", found
    assert _held(frames, [5031.0] * 60, *waits).verdict == "met"


def test_what_was_not_held_while_the_process_stood_still_is_not_known(row: Any, frame: Any) -> None:
    frames = [frame(n, row([20 * MS] * 8), clients=64) for n in range(1, 61)]
    stop = MetricSeries(
        self_metrics.MONITOR,
        self_metrics.STOPPED,
        self_metrics.label(0),
        "s",
        "here",
        [START + int(30.2 * SECOND)],
        [3.0],
    )
    found = _held(frames, [5031.0] * 28 + [4539.0] + [5031.0] * 31, stop)
    assert found.verdict == "unknown"
    assert found.reason.startswith("pileup was the bottleneck of submit from 11:07:07 to 11:07:11 (its process did not")
    elsewhere = _held(frames, [5031.0] * 28 + [4539.0] + [5031.0] * 30 + [4539.0], stop)
    assert elsewhere.verdict == "not met"


LOOKS = {16: 4539.0, 200: 5031.0, 202: 5049.0, 204: 5062.0, 900: 0.0}
"""Second -> jobs: one while it settled (T27), three in the measured time, one after it."""


@pytest.mark.parametrize(
    ("check", "value", "verdict"),
    [
        ("min(submit.held_value) >= 5000", 5031.0, "met"),
        ("max(submit.held_value) < 5100", 5062.0, "met"),
        ("mean(submit.held) >= 100 %", 1.0, "met"),
        ("min(submit.held_level) > 0", 8.0, "met"),
    ],
)
def test_t27_all_that_is_told_of_a_hold_counts_the_same_time(check: str, value: float, verdict: str) -> None:
    """A ramp was measured from the first second on: that is not a time in which the hold was."""
    ramp = {"id": 1, "name": "ramp", "test": "ramp", "load_kind": "closed", "load": "closed"}
    submit = {"id": 2, "name": "submit", "test": "submit", "load_kind": "open", "load": "open", "hold": {}}
    cases = [
        CaseData(case_of(ramp), [], Window(0, 40 * SECOND)),
        CaseData(case_of(submit), [], Window(190 * SECOND, 800 * SECOND)),
    ]
    times = [second * SECOND for second in LOOKS]
    series = [
        MetricSeries("submit", "held_value", "", "", "here", times, list(LOOKS.values())),
        MetricSeries("submit", "held_level", "", "/s", "here", times, [2.0, 8.0, 9.0, 8.5, 1.0]),
        MetricSeries("submit", "held", "", "%", "here", times, [0.0, 100.0, 100.0, 100.0, 0.0]),
    ]
    with duckdb.connect() as connection:
        criterion = {"id": "J", "says": "so", "coverage": "full", "at": None, "check": check}
        found = Criteria(cases, series, connection).judge(criterion_of(criterion))
    assert (found.verdict, found.figure.value, found.figure.n) == (verdict, pytest.approx(value), 3)


def test_t27_a_hold_that_was_never_measured_tells_nothing() -> None:
    info = {"id": 1, "name": "submit", "test": "submit", "load_kind": "open", "load": "open", "hold": {}}
    other = {"id": 2, "name": "ramp", "test": "ramp", "load_kind": "closed", "load": "closed"}
    cases = [CaseData(case_of(info), [], None), CaseData(case_of(other), [], Window(0, 10))]
    series = MetricSeries("submit", "held_value", "", "", "here", [5], [100.0])
    with duckdb.connect() as connection:
        criterion = {"id": "J", "says": "so", "coverage": "full", "at": None, "check": "min(submit.held_value) > 1"}
        assert Criteria(cases, [series], connection).judge(criterion_of(criterion)).verdict == "unknown"
