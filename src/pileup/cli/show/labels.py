"""Figures by label on the screen: a table for each label of an operation that has several values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from pileup.model.breakdown import Breakdown, LabelFigure
from pileup.model.figures import Figure
from pileup.model.results import CaseResult, OperationResult
from pileup.model.units import format_count, format_fraction

if TYPE_CHECKING:
    from rich.table import Table

MOST_TABLES = 10
"""All of them are in the report."""
MOST_ROWS = 20
SHARES = (0.5, 0.99)


def tables(cases: Iterable[CaseResult]) -> Iterator[Table]:
    """Yield a table for each operation and label; those where a value stands out come first."""
    found = [(case, each, by) for case in cases for each in case.operations for by in each.breakdowns]
    found.sort(key=lambda one: not any(value.apart for value in one[2].values))
    for case, operation, by in found[:MOST_TABLES]:
        yield _table(case, operation, by)


def _table(case: CaseResult, operation: OperationResult, by: Breakdown) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    name = case.name if operation.iteration else f"{case.name}, {operation.operation}"
    table = Table(
        box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold", show_edge=False,
        title=Text(f"{name} by {by.label}"), title_style="", title_justify="left",
    )  # fmt: skip
    longest = max(len(value.value) for value in by.values)
    table.add_column(by.label, min_width=min(longest, 20), overflow="fold")
    for heading in ("Passed", "Not passed", "Rate", "Mean", "Deviation", "p50", "p99"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("Apart", no_wrap=True)
    shown = sorted(by.values, key=lambda value: value.apart is None)[:MOST_ROWS]
    for value in (each for each in by.values if each in shown):
        table.add_row(*map(Text, _row(value)))
    more = by.more + len(by.values) - len(shown)
    if more:
        table.add_row(f"and {format_count(more)} more")
    return table


def _row(value: LabelFigure) -> tuple[str, ...]:
    from pileup.stats import amount

    counts = value.counts
    deviation = amount(value.deviation, "time") if value.deviation is not None else "-"
    told = (_figure(value.rate), _figure(value.mean), deviation, *(_figure(value.quantiles.get(q)) for q in SHARES))
    share = (value.apart.value or 0.0) if value.apart else 0.0
    away = f"{'+' if share > 0 else '-'}{format_fraction(abs(share))}" if share else ""
    return value.value, format_count(counts.passed), format_count(counts.ended - counts.passed), *told, away


def _figure(figure: Figure | None) -> str:
    from pileup.stats import amount, unanswered

    if figure is None:
        return "-"
    if figure.above is not None:
        return unanswered(replace(figure, note=""))
    return figure.note or "-" if figure.value is None else amount(figure.value, figure.dimension)
