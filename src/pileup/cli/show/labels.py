"""Figures by label on the screen: a table for each label of an operation that has several values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pileup.cli.show.figures import cell, values
from pileup.cli.show.layout import Column, Grid
from pileup.model.breakdown import Breakdown, LabelFigure
from pileup.model.figures import Figure
from pileup.model.results import CaseResult, OperationResult
from pileup.model.units import common_unit, format_count, format_fraction

MOST_TABLES = 10
"""All of them are in the report."""
MOST_ROWS = 20
SHARES = (0.5, 0.99)


def tables(cases: Iterable[CaseResult]) -> Iterator[Grid]:
    """Yield a table for each operation and label; those where a value stands out come first."""
    found = [(case, each, by) for case in cases for each in case.operations for by in each.breakdowns]
    found.sort(key=lambda one: not any(value.apart for value in one[2].values))
    for case, operation, by in found[:MOST_TABLES]:
        yield _table(case, operation, by)


def _table(case: CaseResult, operation: OperationResult, by: Breakdown) -> Grid:
    name = case.name if operation.iteration else f"{case.name}, {operation.operation}"
    shown = sorted(by.values, key=lambda value: value.apart is None)[:MOST_ROWS]
    rows = [value for value in by.values if value in shown]
    rate = common_unit(values(value.rate for value in rows), "rate")
    time = common_unit(values(each for value in rows for each in _times(value)), "time")
    counts, times = [Column(title, "right") for title in COUNTS], [Column(title, "right", time) for title in TIMES]
    columns = (Column(by.label, "fold"), *counts, Column("Rate", "right", rate), *times, Column("Apart"))
    grid = Grid(columns, f"{name} by {by.label}")
    for value in rows:
        passed = value.counts.passed
        told = (cell(value.rate, rate), *(cell(each, time) for each in _times(value)))
        grid.add(value.value, format_count(passed), format_count(value.counts.ended - passed), *told, _apart(value))
    more = by.more + len(by.values) - len(shown)
    if more:
        grid.notes.append(f"and {format_count(more)} more")
    return grid


COUNTS, TIMES = ("Passed", "Not passed"), ("Mean", "Deviation", "p50", "p99")


def _times(value: LabelFigure) -> list[Figure | None]:
    deviation = Figure(value.deviation, "time") if value.deviation is not None else None
    return [value.mean, deviation, *(value.quantiles.get(share) for share in SHARES)]


def _apart(value: LabelFigure) -> str:
    share = (value.apart.value or 0.0) if value.apart else 0.0
    return f"{'+' if share > 0 else '-'}{format_fraction(abs(share))}" if share else ""
