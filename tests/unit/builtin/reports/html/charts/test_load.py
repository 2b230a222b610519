"""Charts of the load against time."""

from __future__ import annotations

from dataclasses import replace

from pileup.builtin.reports.html.charts import load, tables
from pileup.model.figures import SchedulingDelay
from tests.unit.builtin.reports import synthetic

MS = 10**6


def said(*delays: SchedulingDelay | None, missed: int = 0) -> str:
    """Return the sentence below the chart of scheduling delays, of cases `a`, `b`, … with these."""
    results = synthetic.rich()
    case = next(each for each in results.cases if each.timeline and each.iterations)
    first, *others = case.operations
    operations = (replace(first, counts=replace(first.counts, missed=missed)), *others)
    cases = tuple(
        replace(case, name=name, delay=delay, operations=operations)
        for name, delay in zip("abcdef", delays, strict=False)
    )
    axis = tables.clock(results)
    drawing = load.scheduling_delays(tables.timeline(results, axis), axis.window, cases)
    assert drawing is not None
    return drawing.says


def test_delays_over_the_measured_time_are_said_for_each_case_the_latest_first() -> None:
    told = said(SchedulingDelay(100, MS, 3 * MS, 4 * MS), None, SchedulingDelay(9, MS // 2, 5 * MS, 6 * MS))
    assert told.endswith(
        "Over the measured time, c: half within 500 µs, 99 % within 5 ms, all within 6 ms; "
        "a: half within 1 ms, 99 % within 3 ms, all within 4 ms."
    )


def test_of_many_cases_the_latest_are_said() -> None:
    told = said(*(SchedulingDelay(100, MS, number * MS, 9 * MS) for number in range(1, 7)))
    assert "f: half" in told
    assert "c: half" in told
    assert "b: half" not in told
    assert told.endswith("; 2 more cases less late.")


def test_nothing_is_said_of_delays_that_are_not_known() -> None:
    assert "measured time" not in said(None, None)


def test_starts_that_waited_for_a_client_are_not_blamed_on_pileup() -> None:
    told = said(SchedulingDelay(100, MS, 700 * MS, 800 * MS), missed=3)
    assert "a (its starts waited for a client): half within 1 ms" in told
