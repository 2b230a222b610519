"""Criteria on what was held or found: of which time, and where the generator was the limit."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from pileup.stats.cases import CaseData
from pileup.stats.criteria import Criteria
from pileup.stats.monitors import Whole
from pileup.stats.window import Window

AGAIN = {"passed": None, "limited": True}
FIND = {"trials": [{"passed": False, "limited": True}], "measuring": 1}


@pytest.mark.parametrize(
    ("metric", "more", "limited", "verdict"),
    [
        ("found_low", {"find": FIND}, False, "unknown"),
        ("found_low", {"find": {"trials": [{"passed": False}], "measuring": 1}}, True, "failed"),
        ("found_low", {"find": {"trials": [{"passed": None, "limited": True}], "measuring": 1}}, True, "unknown"),
        ("found_low", {"find": {"trials": [AGAIN, {"passed": False}], "measuring": 1}}, True, "failed"),
        ("held_value", {"hold": {}}, True, "unknown"),
        ("held_value", {"hold": {}}, False, "failed"),
    ],
)
def test_what_the_generator_limited_does_not_fail(
    metric: str, more: dict[str, Any], limited: bool, verdict: str
) -> None:
    info = {"id": 1, "name": "read", "test": "read", "load_kind": "open", "load": "open", **more}
    series = Whole("read", metric, "", "/s", "here", [1], [100.0])
    with duckdb.connect() as connection:
        limits = {"read": False} if limited else {}
        judge = Criteria([CaseData(info, [], Window(0, 10))], [series], connection, limits)
        asked = {"id": "C1", "says": "so", "coverage": "full", "at": None}
        found = judge.judge(asked | {"check": f"last(read.{metric}) >= 150 /s"})
        assert found.verdict == verdict, found
        if verdict == "unknown":
            assert found.reason == "the generator was the limit of read: the figure is not the system's"
        assert judge.judge(asked | {"check": f"last(read.{metric}) >= 50 /s"}).verdict == "passed"


SECOND = 10**9
LOOKS = {16: 4539.0, 200: 5031.0, 202: 5049.0, 204: 5062.0, 900: 0.0}
"""Second -> jobs: one while it settled (T27), three in the measured time, one after it."""


@pytest.mark.parametrize(
    ("check", "value"),
    [
        ("min(submit.held_value) >= 5000", 5031.0),
        ("max(submit.held_value) < 5100", 5062.0),
        ("mean(submit.held) >= 100 %", 1.0),
        ("min(submit.held_level) > 0", 8.0),
    ],
)
def test_t27_all_that_is_told_of_a_hold_counts_the_same_time(check: str, value: float) -> None:
    """A ramp was measured from the first second on: that is no time in which the hold was."""
    ramp = {"id": 1, "name": "ramp", "test": "ramp", "load_kind": "closed", "load": "closed"}
    submit = {"id": 2, "name": "submit", "test": "submit", "load_kind": "open", "load": "open", "hold": {}}
    cases = [
        CaseData(ramp, [], Window(0, 40 * SECOND)),
        CaseData(submit, [], Window(190 * SECOND, 800 * SECOND)),
    ]
    times = [second * SECOND for second in LOOKS]
    series = [
        Whole("submit", "held_value", "", "", "here", times, list(LOOKS.values())),
        Whole("submit", "held_level", "", "/s", "here", times, [2.0, 8.0, 9.0, 8.5, 1.0]),
        Whole("submit", "held", "", "%", "here", times, [0.0, 100.0, 100.0, 100.0, 0.0]),
    ]
    with duckdb.connect() as connection:
        criterion = {"id": "J", "says": "so", "coverage": "full", "at": None, "check": check}
        found = Criteria(cases, series, connection).judge(criterion)
    assert (found.verdict, found.figure.value, found.figure.n) == ("passed", pytest.approx(value), 3)


def test_t27_a_hold_that_was_never_measured_tells_nothing() -> None:
    info = {"id": 1, "name": "submit", "test": "submit", "load_kind": "open", "load": "open", "hold": {}}
    other = {"id": 2, "name": "ramp", "test": "ramp", "load_kind": "closed", "load": "closed"}
    cases = [CaseData(info, [], None), CaseData(other, [], Window(0, 10))]
    series = Whole("submit", "held_value", "", "", "here", [5], [100.0])
    with duckdb.connect() as connection:
        criterion = {"id": "J", "says": "so", "coverage": "full", "at": None, "check": "min(submit.held_value) > 1"}
        assert Criteria(cases, [series], connection).judge(criterion).verdict == "unknown"
