"""The points of a scan beside each other: what was under way since each load began, and how long things took.

Charts against the time of the run show loads one after another. Here all begin at zero, with a line, a box or a
histogram for each point. One repeat is drawn, the first: the table of the points has how repeats vary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import altair as alt

from pileup.builtin.reports.html.charts import latency, says, tables
from pileup.plugin.charts import Columns, Drawing, Group, Mark
from pileup.plugin.charts.columns import positive, short
from pileup.plugin.charts.drawing import (
    INK,
    MUTED,
    STYLES,
    amount_axis,
    color,
    finish,
    layer_of,
    named,
    span_axis,
    style,
)
from pileup.plugin.results import Breakdown, CaseResult, OperationResult, RunResults

TESTS, MOST, ROWS = 4, 10, 400
"""Tests, points and rows of a line that are drawn."""
FEWEST = 10
"""Durations that a box or a histogram needs."""
VALUES = 16
"""Values of a label that have room beside each other."""
SHARES = {"low": 0.01, "q1": 0.25, "median": 0.5, "q3": 0.75, "high": 0.99}
WORDS = {"low": "p1", "q1": "p25", "median": "p50", "q3": "p75", "high": "p99"}
BOXES = tuple(SHARES)


class Beside(NamedTuple):
    """The cases of a test in its first repeat, with the names of their points, which have the same colours in all."""

    id: str
    names: list[str]
    cases: list[CaseResult]

    @property
    def legend(self) -> tuple[Mark, ...]:
        """Return the name of each point with its line."""
        return tuple(Mark(name, color(number), style(number)) for number, name in enumerate(self.names))

    @property
    def colors(self) -> alt.Scale:
        """Return the scale of their colours."""
        return alt.Scale(domain=self.names, range=[color(number) for number, _ in enumerate(self.names)])

    @property
    def dashes(self) -> alt.Scale:
        """Return the scale of their dashes."""
        return alt.Scale(domain=self.names, range=[STYLES[style(number)] for number, _ in enumerate(self.names)])


def groups(results: RunResults) -> Iterator[Group]:
    """Yield a group for each test of a scan whose points are few enough to be distinguished."""
    drawn = tables.drawn(results)
    tests = list(dict.fromkeys(case.test for case in drawn if case.point and not case.role))
    for number, test in enumerate(tests[:TESTS]):
        found = [case for case in drawn if case.test == test and case.repeat == case.loop == 1 and case.point]
        if 2 <= len(found) <= MOST:
            yield _group(Beside(f"beside{number}", _names(found), found), test, results)


def _names(cases: Sequence[CaseResult]) -> list[str]:
    """Return the points by what distinguishes them: `max_transfers=5`, without targets and redundant axes."""
    axes = list(cases[0].point)
    for axis in reversed(axes):
        fewer = [each for each in axes if each != axis]
        if fewer and len({tuple(case.point.get(each) for each in fewer) for case in cases}) == len(cases):
            axes = fewer
    return [", ".join(f"{axis.rpartition('.')[2]}={case.point.get(axis, '')}" for axis in axes) for case in cases]


def _group(of: Beside, test: str, results: RunResults) -> Group:
    found = [*_levels(of), *_distributions(of), *_by_label(of)]
    repeats = len({case.repeat for case in results.cases if case.test == test})
    heading = f"{test}: the points beside each other" + (f", repeat 1 of {repeats}" if repeats > 1 else "")
    drawings = [drawing for drawing, _ in found]
    return Group(drawings, {drawing.table: table for drawing, table in found}, heading, paired=True)


def _levels(of: Beside) -> Iterator[tuple[Drawing, Columns]]:
    """Yield what was under way since each load began: iterations, and each kind of asynchronous operation."""
    rows = [
        (name, time, level)
        for name, case in zip(of.names, of.cases, strict=True)
        if case.timeline
        for time, level in _since(case, case.timeline.times, case.timeline.in_flight)
    ]
    yield _level(of, f"{of.id}_flight", "Iterations in flight", rows)
    kinds = dict.fromkeys(line.operation for case in of.cases for line in case.detached if line.times)
    for number, kind in enumerate(kinds):
        rows = [
            (name, time, level)
            for name, case in zip(of.names, of.cases, strict=True)
            for line in case.detached
            if line.operation == kind
            for time, level in _since(case, line.times, line.open)
        ]
        yield _level(of, f"{of.id}_open{number}", f"Open {kind}" if kind else "Open operations", rows)


def _since(case: CaseResult, times: Sequence[int], levels: Sequence[float]) -> Iterator[tuple[float, float]]:
    """Yield times (ms since the load began) with the level then, at most ROWS of them."""
    begin, every = case.started or 0, max(1, -(-len(times) // ROWS))
    places = sorted({*range(0, len(times), every), len(times) - 1})
    for place in places:
        yield round((times[place] - begin) / 1e6, 1), levels[place]


def _level(of: Beside, name: str, title: str, rows: list[tuple[str, float, float]]) -> tuple[Drawing, Columns]:
    table: Columns = {
        "point": [row[0] for row in rows],
        "t": [row[1] for row in rows],
        "level": [row[2] for row in rows],
    }
    tips = [alt.Tooltip("point:N"), alt.Tooltip("level:Q", format=",")]
    mark = named(name).mark_line(interpolate="step-after", clip=True)
    drawn = mark.encode(
        x=alt.X(
            "t:Q",
            axis=span_axis(max((row[1] for row in rows), default=0.0), grid=False),
            scale=alt.Scale(zero=True, nice=False),
        ),
        y=alt.Y("level:Q", axis=amount_axis(tickCount=4), scale=alt.Scale(zero=True, nice=True)),
        stroke=alt.Stroke("point:N", scale=of.colors, legend=None),
        strokeDash=alt.StrokeDash("point:N", scale=of.dashes, legend=None),
        tooltip=tips,
    )
    words = {"point": "point", "t": "since the load began, ms", "level": "under way"}
    most = {point: max(row[2] for row in rows if row[0] == point) for point, *_ in rows}
    last = {point: max(row[1] for row in rows if row[0] == point) for point, *_ in rows}
    told = "; ".join(f"{point}: at most {most[point]:,.0f}, over after {says.duration(last[point])}" for point in most)
    spec = finish([layer_of(drawn)], 190)
    drawing = Drawing(
        name, title, "against the time since the load began", spec, name, of.legend, "", False, words, f"{told}."
    )
    return drawing, table


def _distributions(of: Beside) -> Iterator[tuple[Drawing, Columns]]:
    """Yield histograms of the iterations, and box plots of iterations and of each operation inside them."""
    yield from _histograms(of)
    order = dict.fromkeys(each.operation for case in of.cases for each in case.operations if not each.iteration)
    for number, operation in enumerate((None, *order)):
        rows = [
            (name, each.response.n, each.response.box, each.response.mean)
            for name, case in zip(of.names, of.cases, strict=True)
            for each in case.operations
            if _is(each, operation) and each.response and each.response.n >= FEWEST
        ]
        if len(rows) > 1 and any(box[0] < box[-1] for _, _, box, _ in rows):
            yield _boxes(of, f"{of.id}_box{number}", operation or "Iterations", rows)


def _is(each: OperationResult, operation: str | None) -> bool:
    return each.iteration if operation is None else not each.iteration and each.operation == operation


def _histograms(of: Beside) -> Iterator[tuple[Drawing, Columns]]:
    known = [(name, got) for name, case in zip(of.names, of.cases, strict=True) if (got := tables.response(case))]
    made = [(name, got, tables.histogram(got)) for name, got in known if got.n >= FEWEST]
    durations = [value for _, _, table in made for value in positive(table, "low", "high")]
    top = max((share for *_, table in made for share in table["share"]), default=0.0)
    for number, (point, got, table) in enumerate(made):
        name = f"{of.id}_hist{number}"
        bars = latency.bars(name, color(of.names.index(point)), durations, top=top)
        columns = {"low": "from, ms", "high": "to, ms", "count": "iterations", "share": "%"}
        title, unit = f"Iterations, {point}", f"% of {got.n:,} by how long they took, log scale"
        spec = finish([layer_of(bars)], 90)
        yield Drawing(name, title, unit, spec, name, timed=False, columns=columns, says=latency.most(table)), table


Row = tuple[str, int, Sequence[float], float]
"""Point, number of durations, box (ns), mean (ns)."""


def _boxes(of: Beside, name: str, title: str, rows: Sequence[Row]) -> tuple[Drawing, Columns]:
    table: Columns = {"point": [row[0] for row in rows], "n": [row[1] for row in rows]}
    table |= {column: [short(row[2][place] / 1e6) for row in rows] for place, column in enumerate(BOXES)}
    table["mean"] = [short(row[3] / 1e6) for row in rows]
    y = alt.Y("point:N", sort=None, title=None, scale=alt.Scale(domain=of.names), axis=_names_axis())
    axis = span_axis(max(positive(table, "high", "mean"), default=0.0))
    layers = [layer.encode(y=y) for layer in _box_layers(of, name, "x", axis)]
    mean = named(name).mark_point(stroke=INK, fill="var(--card)", size=20, strokeWidth=1)
    layers.append(mean.encode(x=alt.X("mean:Q", axis=axis), y=y, tooltip=_tips()))
    spec = finish([layer_of(each) for each in layers], max(60, 24 * len(of.names)))
    told = "; ".join(f"{row[0]}: {says.duration(row[3] / 1e6)}" for row in rows)
    boxes = (Mark("p1 to p99", MUTED), Mark("p25 to p75", MUTED, "area"))
    legend = (*boxes, Mark("p50", INK, "tick"), Mark("mean", INK, "dot"))
    words = {"point": "point", "n": "n", **{each: f"{WORDS[each]}, ms" for each in BOXES}, "mean": "mean, ms"}
    return Drawing(name, title, "time", spec, name, legend, "", False, words, f"Means: {told}."), table


def _box_layers(of: Beside, table: str, along: str, axis: alt.Axis) -> list[Any]:
    """Return whiskers, boxes and medians; `along` is the channel of the durations, x or y."""
    fill = alt.Fill("point:N", scale=of.colors, legend=None)
    channel = {"x": (alt.X, alt.X2), "y": (alt.Y, alt.Y2)}[along]

    def layer(drawn: Any, low: str, high: str = "") -> Any:
        scale = alt.Scale(zero=True, nice=False)
        found = drawn.encode(**{along: channel[0](f"{low}:Q", axis=axis, scale=scale)}, tooltip=_tips())
        return found.encode(**{f"{along}2": channel[1](f"{high}:Q")}) if high else found

    flat, size = ("vertical", 14) if along == "x" else ("horizontal", 6)
    return [
        layer(named(table).mark_rule(stroke=MUTED), "low", "high"),
        layer(named(table).mark_bar(opacity=0.6, **({"size": 12} if along == "x" else {})), "q1", "q3").encode(
            fill=fill
        ),
        layer(named(table).mark_tick(stroke=INK, thickness=2, orient=flat, size=size), "median"),
    ]


def _tips() -> list[alt.Tooltip]:
    tips = [alt.Tooltip("point:N"), alt.Tooltip("n:Q", format=",")]
    return tips + [alt.Tooltip(f"{each}:Q", title=f"{WORDS[each]}, ms", format=",.3~r") for each in BOXES]


def _names_axis() -> alt.Axis:
    return alt.Axis(labelLimit=170, maxExtent=180, grid=False, domain=False)


def _by_label(of: Beside) -> Iterator[tuple[Drawing, Columns]]:
    """Yield box plots of each operation by each label of few values, the points side by side at each value."""
    kinds = dict.fromkeys(
        (each.operation, by.label)
        for case in of.cases
        for each in case.operations
        for by in each.breakdowns
        if 1 < len(by.values) <= VALUES and not by.more
    )
    for number, (operation, label) in enumerate(kinds):
        rows = [
            (point, value.value, sum(value.bins), _quantiles(by, value.bins))
            for point, case in zip(of.names, of.cases, strict=True)
            for each in case.operations
            if each.operation == operation
            for by in each.breakdowns
            if by.label == label
            for value in by.values
            if sum(value.bins) >= FEWEST
        ]
        if any(box[0] < 0.99 * box[-1] for *_, box in rows):
            yield _labelled(of, f"{of.id}_label{number}", f"{operation} by {label}", rows)


def _quantiles(by: Breakdown, bins: Sequence[int]) -> list[float]:
    """Return the quantiles of SHARES, ns, each within its bin by proportion."""
    found = []
    upto = [0, *accumulate(bins)]
    for share in SHARES.values():
        wanted = share * upto[-1]
        place = next(place for place, last in enumerate(upto[1:]) if last >= wanted and bins[place])
        low, high = list(pairwise(by.edges))[place]
        found.append(low + (high - low) * (wanted - upto[place]) / bins[place])
    return found


def _labelled(
    of: Beside, name: str, title: str, rows: list[tuple[str, str, int, list[float]]]
) -> tuple[Drawing, Columns]:
    values = sorted({row[1] for row in rows}, key=lambda value: (len(value), value))
    table: Columns = {
        "point": [row[0] for row in rows],
        "value": [row[1] for row in rows],
        "n": [row[2] for row in rows],
    }
    table |= {column: [short(row[3][place] / 1e6) for row in rows] for place, column in enumerate(BOXES)}
    axis = alt.Axis(title=None, labelAngle=0, grid=False)
    x = alt.X("value:N", axis=axis, scale=alt.Scale(domain=values, paddingInner=0.25))
    offset = alt.XOffset("point:N", scale=alt.Scale(domain=of.names))
    durations = span_axis(max(positive(table, "high"), default=0.0))
    layers = [layer.encode(x=x, xOffset=offset) for layer in _box_layers(of, name, "y", durations)]
    legend = tuple(Mark(point, color(number), "area") for number, point in enumerate(of.names))
    words = {"value": title.rpartition(" ")[2], "point": "point", "n": "n"}
    words |= {each: f"{WORDS[each]}, ms" for each in BOXES}
    about = "Whiskers from p1 to p99, boxes from p25 to p75, the tick is p50; read from bins, so not exact."
    spec = finish([layer_of(each) for each in layers], 210)
    medians = {point: [row[3][2] / 1e6 for row in rows if row[0] == point] for point in of.names}
    told = "; ".join(
        f"{point}: medians from {says.duration(min(known))} to {says.duration(max(known))}"
        for point, known in medians.items()
        if known
    )
    drawing = Drawing(name, title, "time", spec, name, legend, about, False, words, f"{told}.")
    return drawing, table
