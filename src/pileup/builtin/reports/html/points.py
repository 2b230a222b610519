"""The points of a scan on the page: for each test a table of means and differences, and charts of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pileup.builtin.reports.html.text import ABSENT, ShownFigure
from pileup.plugin.charts import Drawing
from pileup.plugin.charts import Group as Drawings
from pileup.plugin.results import Comparison, Difference, Figure, RunResults, amount
from pileup.plugin.units import format_range

METRICS = ("rate", "throughput", "mean", "p50", "p90", "p99", "not passed")
HEADINGS = {"rate": "Rate", "throughput": "Throughput", "mean": "Mean response", "not passed": "Not passed"}
MORE_IS_BETTER = ("rate", "throughput")
COLUMNS = 24
"""Points in the table of a monitor, at most."""
ROWS = 400
"""Points in one table, at most."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One metric at one point, and how it differs from the first."""

    value: ShownFigure
    gap: ShownFigure
    tone: str
    """"good", "bad", "some" (it differs), or "none" where no difference is shown."""
    said: str
    """The verdict with its probability, for the pointer."""


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a table: a point, or a value of an axis with the others averaged."""

    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """All points of a scan in all metrics of one operation."""

    name: str
    headings: tuple[str, ...]
    points: tuple[Line, ...]
    effects: tuple[Line, ...]
    more: int


@dataclass(slots=True)
class Group:
    """One test: its iterations with charts, and the operations inside them."""

    test: str
    repeats: int
    table: Table
    operations: tuple[Table, ...]
    charts: tuple[Drawing, ...] = ()
    notes: tuple[str, ...] = ()
    folded: bool = False
    """A check beside loads: of less interest."""


@dataclass(frozen=True, slots=True)
class MetricTable:
    """What one monitor saw, or a test reported: a row for each metric, a column for each point."""

    name: str
    headings: tuple[str, ...]
    lines: tuple[Line, ...]
    opened: bool
    """Whether it is of more interest than the usual monitors."""


def watched(results: RunResults) -> list[MetricTable]:
    """Return what was observed beside the tests at each point, monitor by monitor."""
    usual = {monitor.name for monitor in results.run.monitors}
    found: dict[str, list[Comparison]] = {}
    for each in results.comparisons:
        if each.monitor:
            found.setdefault(each.test, []).append(each)
    shown = results.points[:COLUMNS]
    headings = tuple(", ".join(point.values.values()) for point in shown)

    def line(each: Comparison) -> Line:
        cells = tuple(_point(each, point.number) for point in shown)
        return Line(f"{each.operation}, {each.unit}" if each.unit else each.operation, cells)

    made = [MetricTable(name, headings, tuple(map(line, all_of)), name not in usual) for name, all_of in found.items()]
    return sorted(made, key=lambda each: not each.opened)


def groups(results: RunResults, drawn: Iterable[Drawings]) -> list[Group]:
    """Return what is said of each test of a scan, with the drawings that have its heading; nothing without a scan."""
    made = []
    charts = {each.heading: tuple(each.drawings) for each in drawn}
    tests = tests_of(results)
    loads = {test for test, operations in tests if "rate" in operations.get("", {})}
    for test, operations in tests:
        whole = operations.get("", {})
        first = next(iter(whole.values()), None)
        if first is None:
            continue
        inner = tuple(_table(results, name, metrics) for name, metrics in operations.items() if name)
        folded = bool(loads) and test not in loads
        table = _table(results, test, whole)
        made.append(Group(test, len(first.repeats), table, inner, charts.get(test, ()), first.notes, folded))
    return made


def tests_of(results: RunResults) -> list[tuple[str, dict[str, dict[str, Comparison]]]]:
    """Return test -> operation -> metric -> comparison; loads first, then checks beside them."""
    found: dict[str, dict[str, dict[str, Comparison]]] = {}
    for each in (each for each in results.comparisons if not each.monitor):
        found.setdefault(each.test, {}).setdefault(each.operation, {})[each.metric] = each
    return sorted(found.items(), key=lambda item: "rate" not in item[1].get("", {}))


def title(metric: str) -> str:
    """Return what a metric is called."""
    return HEADINGS.get(metric, metric)


def _table(results: RunResults, name: str, metrics: dict[str, Comparison]) -> Table:
    shown = [metrics[metric] for metric in METRICS if metric in metrics]
    names = {point.number: point.name for point in results.points}
    points = (Line(names.get(place, ""), tuple(_point(each, place) for each in shown)) for place in names)
    effects = zip(*(each.effects for each in shown), strict=True)
    averaged = (
        Line(
            f"{row[0].axis}={row[0].value}",
            tuple(_cell(one.figure, one.difference, each.metric) for one, each in zip(row, shown, strict=True)),
        )
        for row in effects
    )
    headings = tuple(title(each.metric) for each in shown)
    return Table(name, headings, tuple(points)[:ROWS], tuple(averaged), max(0, len(names) - ROWS))


def _point(comparison: Comparison, place: int) -> Cell:
    figure = next((each.figure for each in comparison.points if each.point == place), None)
    gap = next((each for each in comparison.differences if each.point == place), None)
    return _cell(figure, gap, "" if comparison.monitor else comparison.metric)


def _cell(figure: Figure | None, gap: Difference | None, metric: str) -> Cell:
    if gap is None:
        return Cell(show(figure), ShownFigure(""), "none", "")
    known = gap.relative if gap.relative.value is not None else gap.difference
    better = (gap.verdict == "larger") == (metric in MORE_IS_BETTER)
    tone = ("good" if better else "bad") if gap.verdict in ("larger", "smaller") else "none"
    if not metric and tone != "none":
        tone = "some"  # whether more of it is better is not known
    chance = "" if gap.adjusted is None else f", p = {gap.adjusted:.2g} among all points"
    return Cell(show(figure), show(known, signed=True), tone, gap.verdict + chance)


def show(figure: Figure | None, signed: bool = False) -> ShownFigure:
    """Return a figure that may be below zero in words; `signed`: with a plus where it is above."""
    if figure is None or figure.value is None:
        return ShownFigure(ABSENT, note=figure.note if figure else "")
    ends = (figure.interval.low, figure.interval.high) if figure.interval else ()
    texts = [_signed(value, figure.dimension, signed) for value in (figure.value, *ends)]
    if ends and not signed and ends[0] >= 0 and ends[1] < math.inf:
        return ShownFigure(texts[0], format_range(*ends, figure.dimension, f" {ABSENT} "), figure.note)
    return ShownFigure(texts[0], _span(texts[1:]), figure.note)


def _signed(value: float, dimension: str, signed: bool) -> str:
    text = amount(abs(value), dimension)
    return ("\N{MINUS SIGN}" if value < 0 else "+" if signed and value > 0 else "") + text


def _span(ends: Sequence[str]) -> str:
    """Return `19.8 to 20.4 ms` with a dash: the unit once where both ends have the same."""
    if not ends:
        return ""
    low, high = ends
    number, space, unit = low.rpartition(" ")
    if space and unit == high.rpartition(" ")[2] and not unit[-1:].isdigit():
        low = number
    return f"{low} {ABSENT} {high}"
