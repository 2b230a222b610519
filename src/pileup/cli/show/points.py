"""The points of a scan on the screen: means over repeats, and differences to the first point."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pileup.cli.show.layout import Column, Grid
from pileup.model.figure_words import amount, between
from pileup.model.figures import Figure
from pileup.model.results import SIDE_BY_SIDE, Comparison, Difference, Point, RunResults
from pileup.model.units import counted

SHOWN = ("rate", "throughput", "p50", "p99", "not passed")
"""Metrics on the screen; all of them are in the report."""
INSTEAD = {"rate": "mean"}
"""What is shown where a metric is missing: single checks have no rate."""
MOST = 60
"""Rows of one table."""
TITLES = {"not passed": "share not passed", "mean": "mean response", "p50": "p50", "p99": "p99"}
SHORT = 20
"""A column of points no wider than this is never broken."""
Row = tuple[str, str, str, str]


def tables(results: RunResults) -> Iterator[Grid]:
    """Yield a table for each test and metric; nothing for a run without a scan."""
    for comparison in chosen(results.comparisons):
        yield _table(results, comparison)


def chosen(comparisons: Iterable[Comparison]) -> list[Comparison]:
    """Return the comparisons worth the screen: of iterations, and of loads rather than of single checks beside them."""
    of_tests: dict[str, dict[str, Comparison]] = {}
    for each in comparisons:
        if not each.operation and _says_something(each):
            of_tests.setdefault(each.test, {})[each.metric] = each
    pressed = [metrics for metrics in of_tests.values() if "rate" in metrics] or list(of_tests.values())
    return [
        metrics[name]
        for metrics in pressed
        for name in (metric if metric in metrics else INSTEAD.get(metric, "") for metric in SHOWN)
        if name in metrics
    ]


def _says_something(comparison: Comparison) -> bool:
    return any(each.difference.value is not None for each in comparison.differences)


def _table(results: RunResults, comparison: Comparison) -> Grid:
    metric = TITLES.get(comparison.metric, comparison.metric)
    points, names = _named(results.points)
    rows = [*_points(names, comparison), *_effects(comparison)]
    first = Column(points, "left" if all(len(row[0]) <= SHORT for row in rows) else "fold")
    columns = (first, Column("Mean", "fold"), Column("Against the first", "fold"), Column("Shown", "fold"))
    grid = Grid(columns, f"{comparison.test}: {metric} at each point, {counted(len(comparison.repeats), 'repeat')}")
    for row in rows[:MOST]:
        grid.add(*row)
    if len(rows) > MOST:
        grid.notes.append(f"and {len(rows) - MOST} more: see the report")
    return grid


def _named(points: Iterable[Point]) -> tuple[str, dict[int, str]]:
    """Return a title and the name of each point by its number; where there is one axis, its values are enough.

    Axes that are varied together are one.
    """
    known = {point.number: point for point in points}
    axes = {axis for point in known.values() for axis in point.factors}
    if len(axes) != 1 or not all(point.factors for point in known.values()):
        return "Point", {number: point.name for number, point in known.items()}
    axis = axes.pop()
    parts = axis.split(SIDE_BY_SIDE)
    words = [part.rpartition(".")[2] for part in parts]
    title = SIDE_BY_SIDE.join(words) if len(set(words)) == len(parts) else axis
    return title, {number: point.factors[axis] for number, point in known.items()}


def _points(names: dict[int, str], comparison: Comparison) -> Iterator[Row]:
    gaps = {each.point: each for each in comparison.differences}
    for each in comparison.points:
        yield names.get(each.point, ""), _words(each.figure), *_gap(gaps.get(each.point))


def _effects(comparison: Comparison) -> Iterator[Row]:
    for each in comparison.effects:
        yield f"{each.axis}={each.value}, others averaged", _words(each.figure), *_gap(each.difference)


def _gap(found: Difference | None) -> tuple[str, str]:
    if found is None:
        return "", ""
    known = found.relative if found.relative.value is not None else found.difference
    return _words(known, signed=True), found.verdict


def _words(figure: Figure, signed: bool = False) -> str:
    """Return a figure with its interval; `signed`: with a plus where it is above zero."""
    if figure.value is None:
        return figure.note or "-"
    told = ("+" if signed and figure.value > 0 else "") + amount(figure.value, figure.dimension)
    return f"{told} ({between(figure.interval, figure.dimension, signed)})" if figure.interval else told
