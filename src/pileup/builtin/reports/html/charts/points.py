"""Charts of the points of a scan: the value of a metric with its interval, a line for each value of the other axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import altair as alt

from pileup.builtin.reports.html import points
from pileup.builtin.reports.html.charts import grid, says, wanted
from pileup.builtin.reports.html.charts.wanted import Bound
from pileup.plugin.charts import Clock, Columns, Drawing, Group, Mark
from pileup.plugin.charts.columns import Number, largest, positive, scaled, short
from pileup.plugin.charts.drawing import (
    MUTED,
    STYLES,
    amount_axis,
    amount_scale,
    color,
    far_apart,
    finish,
    layer_of,
    named,
    style,
)
from pileup.plugin.results import SIDE_BY_SIDE, Comparison, Point, RunResults

DRAWN = ("rate", "throughput", "p50", "p99", "not passed")
SHARES = {"p50": 0.5, "p99": 0.99}
INSTEAD = {"p50": "mean"}
"""What is drawn where a metric is missing."""
TESTS = 8
"""Tests with charts, at most."""
HEIGHT = 190
TIME_UNITS = ((3.6e12, "h"), (1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
LINES = 12
"""Lines in one chart, at most: those of the first values."""


def groups(results: RunResults, axis: Clock) -> Iterator[Group]:
    """Yield the charts of each test of a scan."""
    bounds = wanted.bounds(results, axis)
    for number, (test, operations) in enumerate(points.tests_of(results)[:TESTS]):
        whole = operations.get("", {})
        made: list[Drawing] = []
        data: dict[str, Columns] = {}
        for metric in _drawn(whole):
            name = f"points{number}_{metric.replace(' ', '_')}"
            heading = f"{test}: {points.title(metric)}"
            asked = [each for each in bounds if each.selected.name == test and _is_of(each, metric)]
            drawing, data[name] = chart(name, results.points, whole[metric], heading, asked)
            made.append(drawing)
        for drawing, drawn_tables in _of_two_axes(results, number, test, whole):
            made.append(drawing)
            data |= drawn_tables
        yield Group(made, data, heading=test, paired=True, small=True)


def _of_two_axes(
    results: RunResults, number: int, test: str, whole: dict[str, Comparison]
) -> Iterator[tuple[Drawing, dict[str, Columns]]]:
    """Yield the heat map of a scan of two axes, and what distance makes of it, with their tables."""
    comparison = whole.get("p50") or whole.get("mean")
    matrix = grid.matrix_of(results, test)
    if comparison is None:
        return
    name = f"cells{number}"
    if found := grid.cells(name, results.points, comparison, f"{test}: median of each cell", matrix):
        yield found[0], {name: found[1]}
    name = f"distance{number}"
    if matrix and (lines := grid.by_distance(name, matrix, f"{test}: median by distance")):
        yield lines


def _drawn(metrics: dict[str, Comparison]) -> Iterator[str]:
    for name in DRAWN:
        chosen = name if name in metrics else INSTEAD.get(name, "")
        if chosen in metrics:
            yield chosen


@dataclass(frozen=True, slots=True)
class Axes:
    """Where points stand: the axis along x, and the values of the others as the name of a line."""

    along: str
    places: dict[int, tuple[str, str]]
    """Point -> value along x, name of its line."""

    @property
    def values(self) -> list[str]:
        """Values along x in the order of the scan."""
        return list(dict.fromkeys(x for x, _ in self.places.values()))

    @property
    def lines(self) -> list[str]:
        """Names of the lines in the order of the scan."""
        return list(dict.fromkeys(line for _, line in self.places.values()))


def axes(found: Sequence[Point]) -> Axes:
    """Return the first axis with several values as x, all others with several values as lines.

    Axes that are varied together are one: `2 / 1 GiB`.
    """
    factors = {point.number: point.factors for point in found}
    names = list(found[0].factors) if found else []
    several = [name for name in names if len({each.get(name) for each in factors.values()}) > 1] or names[:1]
    along, others = several[0], several[1:]
    places = {
        number: (each.get(along, ""), ", ".join(f"{name}={each.get(name, '')}" for name in others))
        for number, each in factors.items()
    }
    return Axes(along, places)


def _is_of(bound: Bound, metric: str) -> bool:
    """Whether a criterion asks for something of a metric."""
    match metric:
        case "rate":
            return bound.of_iterations(("response", "passed"), ("rate",))
        case "throughput":
            return bound.of_iterations(("bytes",), ("rate",))
        case "p50" | "p99":
            return bound.of_iterations(("response",), ("quantile",)) and bound.check.quantile == SHARES[metric]
    return False


def chart(
    name: str, found: Sequence[Point], comparison: Comparison, title: str, asked: Sequence[Bound] = ()
) -> tuple[Drawing, Columns]:
    """Return the chart of one metric over all points, with the thresholds of `asked`, and its table."""
    where = axes(found)
    divisor, unit = _unit(comparison)
    lines = where.lines[:LINES]
    table = _columns(where, lines, comparison, divisor)
    legend = tuple(Mark(line, color(number), style(number)) for number, line in enumerate(lines) if line)
    wants = wanted.lines(name, asked, positive(table, "mean", "high"), lambda _: divisor)
    y = _upwards(table, wants.values)
    across = wants.across(y.axis, y.scale)
    spec = finish([layer_of(each) for each in (*across, *_layers(name, where, lines, y))], HEIGHT)
    columns = {"x": where.along, **({"line": "line"} if len(lines) > 1 else {})}
    columns |= {"mean": f"mean, {unit}" if unit else "mean", "low": "from", "high": "to", "n": "repeats"}
    left = len(where.lines) - len(lines)
    about = f"{f'{left} more lines are in the table.' if left else ''} {wants.about}".strip()
    how = ", ".join(filter(None, (unit, "log scale" if y.floor else "")))
    return Drawing(
        name, title, how, spec, name, legend, about, timed=False, columns=columns, says=_says(table, unit)
    ), table


class _Upwards(NamedTuple):
    """How the metric is drawn upwards."""

    scale: alt.Scale
    axis: alt.Axis
    floor: float
    """What an interval is drawn down to where it reaches zero or less, on a logarithm; 0: it is not one."""


def _upwards(table: Columns, more: Sequence[float]) -> _Upwards:
    """Return a logarithm where points are so far apart that the small ones would not be seen; `more` is drawn too."""
    means = [float(each) for each in table["mean"] if isinstance(each, (int, float))]
    known = [*positive(table, "mean", "low", "high"), *(each for each in more if each > 0)]
    if not means or min(means) <= 0 or not far_apart(means):  # zero has no place on a logarithm
        return _Upwards(alt.Scale(zero=True, nice=True), amount_axis(tickCount=5), 0.0)
    scale, axis, _ = amount_scale(means, known)
    return _Upwards(scale, axis, min(known))


def _says(table: Columns, unit: str) -> str:
    """Return where the metric is lowest and highest."""
    rows = [row for row in zip(table["mean"], table["x"], table["line"], strict=True) if row[0] is not None]
    if not rows:
        return ""
    ends = (min(rows, key=lambda row: row[0]), max(rows, key=lambda row: row[0]))
    low, high = (f"{says.number(mean)} {unit} at {', '.join(filter(None, (x, line)))}" for mean, x, line in ends)
    return f"From {low} to {high}."


def _unit(comparison: Comparison) -> tuple[float, str]:
    top = float(largest([each.figure.value for each in comparison.points]) or 0)
    match comparison.dimension:
        case "time":
            return next(((size, word) for size, word in TIME_UNITS if top >= size), TIME_UNITS[-1])
        case "bandwidth":
            return scaled("B/s", top)
        case "fraction":
            return 0.01, "%"
        case "rate":
            return 1.0, "per second"
    return 1.0, ""


def _columns(where: Axes, lines: Sequence[str], comparison: Comparison, divisor: float) -> Columns:
    known = [
        each for each in comparison.points if each.figure.value is not None and where.places[each.point][1] in lines
    ]
    spans = [each.figure.interval for each in known]

    def scale(values: Sequence[float | None]) -> list[Number]:
        return [None if value is None else short(value / divisor) for value in values]

    return {
        "x": [where.places[each.point][0] for each in known],
        "line": [where.places[each.point][1] for each in known],
        "mean": scale([each.figure.value for each in known]),
        "low": scale([span.low if span else None for span in spans]),
        "high": scale([span.high if span else None for span in spans]),
        "n": [each.figure.n for each in known],
    }


def _layers(table: str, where: Axes, lines: Sequence[str], upwards: _Upwards) -> list[Any]:
    values = where.values
    x = alt.X("x:N", sort=values, scale=alt.Scale(type="point", domain=values, padding=0.4), title=where.along)
    below = f"split(datum.label, '{SIDE_BY_SIDE}')"  # of axes that are varied together
    x = x.axis(labelAngle=0, labelLimit=120, labelOverlap="greedy", labelSeparation=4, labelExpr=below, grid=False)
    shades = [color(number) for number, _ in enumerate(lines)]
    stroke = alt.Stroke("line:N", scale=alt.Scale(domain=list(lines), range=shades), legend=None)
    kinds = [STYLES[style(number)] for number, _ in enumerate(lines)]
    dash = alt.StrokeDash("line:N", scale=alt.Scale(domain=list(lines), range=kinds), legend=None)
    fill = alt.Fill("line:N", scale=alt.Scale(domain=list(lines), range=shades), legend=None)

    def y(column: str) -> alt.Y:
        return alt.Y(f"{column}:Q", axis=upwards.axis, scale=upwards.scale, title=None)

    def spans() -> Any:
        least = f"max(datum.low, {upwards.floor})" if upwards.floor else "datum.low"
        return named(table).transform_filter("datum.low !== null").transform_calculate(least=least)

    tips = [alt.Tooltip("x:N", title=where.along)] + ([alt.Tooltip("line:N", title="at")] if len(lines) > 1 else [])
    tips += [
        alt.Tooltip(f"{name}:Q", title=title, format=",.4~r") for name, title in (("mean", "mean"), ("low", "from"))
    ]
    tips += [alt.Tooltip("high:Q", title="to", format=",.4~r"), alt.Tooltip("n:Q", title="repeats")]
    whiskers = spans().mark_rule(strokeWidth=1.4)
    caps = [spans().mark_tick(thickness=1.4, size=9, orient="horizontal") for _ in range(2)]
    return [
        named(table).mark_line(strokeWidth=1.4, opacity=0.8).encode(x=x, y=y("mean"), stroke=stroke, strokeDash=dash),
        whiskers.encode(x=x, y=y("least"), y2=alt.Y2("high:Q"), stroke=stroke, tooltip=tips),
        caps[0].encode(x=x, y=y("least"), stroke=stroke),
        caps[1].encode(x=x, y=y("high"), stroke=stroke),
        named(table)
        .mark_point(size=34, filled=True, stroke=MUTED, strokeWidth=0)
        .encode(x=x, y=y("mean"), fill=fill, tooltip=tips),
    ]
