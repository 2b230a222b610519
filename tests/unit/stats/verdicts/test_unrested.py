"""Criteria on the time to rest of systems that did not always come to rest in time."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from pileup.stats.cases import CaseData
from pileup.stats.frames.window import Window
from pileup.stats.monitors import MetricSeries
from pileup.stats.verdicts.criteria import Criteria
from tests.manifests import case_of, criterion_of

SECOND = 10**9
Told = dict[int, tuple[float, bool]]
"""Visit -> seconds, and whether the system was at rest by then."""
NEVER: Told = {0: (30.0, False)}
SOMETIMES: Told = {0: (4.0, True), 1: (30.0, False), 2: (6.0, True)}
ALWAYS: Told = {0: (4.0, True), 1: (8.0, True)}


def judge(check: str, told: Told, point: dict[str, str] | None = None) -> Any:
    info = {"id": 1, "name": "copy", "test": "copy", "load_kind": "open", "load": "open", "visit": 0}
    series = [
        MetricSeries(
            "cooldown", "time_to_idle" if rested else "still_busy_after", f"visit={visit}", "s", "here",
            [(100 + visit) * SECOND], [seconds],
        )
        for visit, (seconds, rested) in told.items()
    ]  # fmt: skip
    with duckdb.connect() as connection:
        monitors = frozenset({"cooldown"})
        criteria = Criteria(
            [CaseData(case_of(info), [], Window(0, 50 * SECOND))], series, connection, monitors=monitors
        )
        return criteria.judge(
            criterion_of({"id": "C", "says": "it rests", "coverage": "full", "at": None, "check": check})
        )


@pytest.mark.parametrize(
    ("check", "told", "verdict"),
    [
        ("max(cooldown.time_to_idle) < 20 s", NEVER, "not met"),
        ("max(cooldown.time_to_idle) <= 30 s", NEVER, "not met"),
        ("max(cooldown.time_to_idle) < 40 s", NEVER, "unknown"),
        ("max(cooldown.time_to_idle) > 20 s", NEVER, "met"),
        ("max(cooldown.time_to_idle) > 40 s", NEVER, "unknown"),
        ("mean(cooldown.time_to_idle) < 10 s", NEVER, "not met, not shown"),
        ("max(cooldown.time_to_idle) < 20 s", SOMETIMES, "not met"),
        ("min(cooldown.time_to_idle) < 5 s", SOMETIMES, "met"),
        ("mean(cooldown.time_to_idle) < 13 s", SOMETIMES, "not met, not shown"),
        ("mean(cooldown.time_to_idle) < 14 s", SOMETIMES, "unknown"),
        ("last(cooldown.time_to_idle) < 7 s", SOMETIMES, "met"),
        ("first(cooldown.time_to_idle) < 4 s", SOMETIMES, "not met"),
        ("p50(cooldown.time_to_idle) < 7 s", SOMETIMES, "unknown"),
        ("max(cooldown.time_to_idle) < 9 s", ALWAYS, "met"),
        ("max(cooldown.time_to_idle) < 7 s", ALWAYS, "not met"),
    ],
)
def test_t21_who_never_rests_has_not_rested_in_time(check: str, told: Told, verdict: str) -> None:
    found = judge(check, told)
    assert found.verdict == verdict, found


def test_t21_the_figure_says_what_it_is_larger_than() -> None:
    found = judge("max(cooldown.time_to_idle) < 20 s", NEVER)
    assert (found.figure.value, found.figure.note, found.figure.n) == (None, "it did not come to rest in time", 1)
    assert found.reason == "max(cooldown.time_to_idle) is > 30 s (it did not come to rest in time), not < 20 s"
    assert "did not come to rest" in judge("max(cooldown.time_to_idle) < 40 s", NEVER).reason


def test_quantiles_below_the_first_that_did_not_rest_are_known() -> None:
    told = {visit: (float(visit + 1), True) for visit in range(19)} | {19: (25.0, False)}
    found = judge("p50(cooldown.time_to_idle) < 12 s", told)
    assert (found.verdict, found.figure.value) == ("met, not shown", 10 * SECOND)
    assert found.figure.interval.high < 19 * SECOND


def test_values_without_the_unit_of_time_are_not_compared() -> None:
    assert judge("max(cooldown.time_to_idle) < 20", NEVER).verdict == "unknown"
