"""Scans of two axes as heat maps: every cell, every cell against time, and what distance makes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from pileup.builtin.reports.html.charts import heat, says, tables
from pileup.plugin.charts import Clock, Columns, Drawing, Group, Mark
from pileup.plugin.charts.columns import buckets, combine, middle, short
from pileup.plugin.charts.drawing import (
    BAD,
    INK,
    STYLES,
    amount_axis,
    color,
    finish,
    in_window,
    layer_of,
    named,
    style,
    time_axis,
    timed,
)
from pileup.plugin.results import Comparison, Factor, Matrix, MatrixModel, Point, RunResults, factors_of, words
from pileup.plugin.units import counted

MS = 1e6
ROW = 34
"""Height of a row of cells; of a row against time half of it."""
MOST_ROWS, MOST_COLUMNS = 40, 30
"""Cells of a heat map, upwards and along."""
LABEL = 120
"""Width of the names of rows, at most."""
PARTS = 3000
"""Intervals that are drawn against time, all cells together."""
FLAG = "!"
TESTS = 8
"""Tests with a heat map, at most."""
EXPECTED = {
    MatrixModel.DISTANCE: "k x RTT + c, with one k for all cells and a c for each target",
    MatrixModel.PLACES: "a time for each place and a time for each target, added",
}


def axes(points: Sequence[Point]) -> tuple[Factor, Factor] | None:
    """Return what a scan of two axes varies, upwards and along; None for any other scan, or one too large."""
    factors = factors_of(points)
    if len(factors) != 2:
        return None
    sizes = [len({each.of(point) for point in points}) for each in factors]
    return factors if sizes[0] <= MOST_ROWS and sizes[1] <= MOST_COLUMNS else None


def matrix_of(results: RunResults, test: str) -> Matrix | None:
    """Return the matrix of places against targets of a test, if it is one."""
    return next((each for each in results.matrices if each.test == test), None)


def cells(
    name: str, points: Sequence[Point], comparison: Comparison, title: str, found: Matrix | None
) -> tuple[Drawing, Columns] | None:
    """Return the heat map of response times over two axes with its table; None where there is none."""
    both = axes(points)
    known = [each for each in comparison.points if each.figure.value is not None]
    if both is None or not known:
        return None
    up, along = both
    where = {point.number: point for point in points}
    flagged = {each.point: each.flags for each in found.cells} if found else {}
    values = [(each.figure.value or 0.0) / MS for each in known]
    edges = heat.classes([max(value, 1e-6) for value in values])
    table: Columns = {
        "row": [up.of(where[each.point]) for each in known],
        "column": [along.of(where[each.point]) for each in known],
        "ms": [short(value, 4) for value in values],
        "k": [sum(value >= edge for edge in edges[1:-1]) for value in values],
        "text": [f"{says.duration(value)}{f' {FLAG}' if _marked(flagged, each.point) else ''}"
                 for value, each in zip(values, known, strict=True)],
        "flags": [", ".join(flagged.get(each.point, ())) for each in known],
        "n": [each.figure.n for each in known],
    }  # fmt: skip
    columns = {"row": up.title, "column": along.title, "ms": "mean of the repeats, ms", "n": "repeats"}
    if found:
        table |= _more(found, [each.point for each in known])
        columns |= {"median": "median", "mean": "mean", "deviation": "deviation", "quartiles": "middle half"}
        columns |= {"largest": "largest", "outliers": "outliers", "expected": "expected", "flags": "flags"}
    rows, along_x = (list(dict.fromkeys(table[each])) for each in ("row", "column"))
    spec = finish([layer_of(each) for each in _layers(name, along.title, rows, along_x, edges)], ROW * len(rows))
    legend = [Mark(text, shade, "area") for text, shade in zip(*_classes(edges), strict=True)]
    if any(_marked(flagged, each.point) for each in known):
        legend.append(Mark(f"{FLAG} slow, or rare slow answers", BAD, "area"))
    return Drawing(
        name,
        title,
        "",
        spec,
        name,
        legend=tuple(legend),
        about=_about(found),
        timed=False,
        columns=columns,
        says=_says(table, found),
    ), table


def _marked(flagged: dict[int, tuple[str, ...]], point: int) -> bool:
    """Whether a cell is slow, or has outliers, beyond chance."""
    return any(flag in ("slow", "rare slow answers") for flag in flagged.get(point, ()))


def _more(found: Matrix, order: Sequence[int]) -> dict[str, list[Any]]:
    """Return the columns of the statistics of cells."""
    by_point = {each.point: each for each in found.cells}
    known = [by_point.get(number) for number in order]

    def time(value: float | None) -> str:
        return "" if value is None else says.duration(value / MS)

    return {
        "median": [words(each.median) if each else "" for each in known],
        "mean": [time(each.mean if each else None) for each in known],
        "deviation": [time(each.deviation if each else None) for each in known],
        "quartiles": [" to ".join(map(time, each.quartiles)) if each and each.quartiles else "" for each in known],
        "largest": [time(each.largest if each else None) for each in known],
        "outliers": [each.outliers if each else None for each in known],
        "expected": [time(each.expected if each else None) for each in known],
    }


def _classes(edges: list[float]) -> tuple[list[str], list[str]]:
    """Return what the classes of durations, ms, are called, and their colours."""
    return heat.texts(edges, says.duration), heat.shades(len(edges) - 1)


def _layers(table: str, title: str, rows: Sequence[str], columns: Sequence[str], edges: list[float]) -> Iterator[Any]:
    shades = heat.shades(len(edges) - 1)
    x = alt.X("column:N", sort=list(columns), title=title)
    x = x.axis(labelAngle=0, labelLimit=LABEL, labelOverlap="greedy", grid=False, domain=False, ticks=False)
    y = alt.Y("row:N", sort=list(rows), title=None, axis=alt.Axis(labelLimit=LABEL, grid=False))
    fill = alt.Fill("k:O", scale=alt.Scale(domain=list(range(len(shades))), range=shades), legend=None)
    tips = [alt.Tooltip("row:N", title="row"), alt.Tooltip("column:N", title="column")]
    tips += [alt.Tooltip("ms:Q", title="ms", format=",.4~r"), alt.Tooltip("flags:N", title="flags")]
    yield named(table).mark_rect(stroke="var(--card)", strokeWidth=2).encode(x=x, y=y, fill=fill, tooltip=tips)
    flagged = named(table).transform_filter(f"indexof(datum.text, '{FLAG}') >= 0")
    yield flagged.mark_rect(fill=None, stroke=BAD, strokeWidth=2.5).encode(x=x, y=y)
    for drawn in ({"fill": "var(--card)", "stroke": "var(--card)", "strokeWidth": 4}, {"fill": INK}):
        text = named(table).mark_text(fontSize=11, **drawn)
        yield text.encode(x=x, y=y, text=alt.Text("text:N"))


def _about(found: Matrix | None) -> str:
    told = "Each cell: the median response time, the mean of its repeats."
    if found is None:
        return told
    if found.remark:
        told += f" In its other figures and flags {found.remark}."
    if found.model is None:
        return f"{told} There are too few cells to say which is slow by itself."
    return " ".join((
        *_flagged(found), told, "A cell is slow where it is a fifth above what the others lead to expect "
        f"({EXPECTED[found.model]}), and has rare slow answers where it has more outliers than the others and a "
        "deviation above its mean; both beyond chance, 5 % for all cells together.",
    ))  # fmt: skip


def _flagged(found: Matrix) -> list[str]:
    """Return a sentence for each cell and each target that stands out."""
    cells = [f"{each.name}: {', '.join(each.flags)}." for each in found.cells if each.flags]
    return cells + [f"Target {each.target} is slower than its peers." for each in found.servers if each.slow]


def _says(table: Columns, found: Matrix | None) -> str:
    order = sorted(zip(table["ms"], table["row"], table["column"], strict=True))
    low, high = (f"{says.duration(ms)} ({row}, {column})" for ms, row, column in (order[0], order[-1]))
    told = [f"Medians from {low} to {high}."]
    if found:
        told += _flagged(found)
        if len(told) == 1:
            told.append("No cell and no target stands out.")
    return " ".join(told)


def by_distance(name: str, found: Matrix, title: str) -> tuple[Drawing, dict[str, Columns]] | None:
    """Return medians against the round trip, a line for each target, with the table of k and c."""
    seen = [each for each in found.cells if each.round_trip is not None and each.median.value is not None]
    if found.model is not MatrixModel.DISTANCE or not seen:
        return None
    farthest = max(each.round_trip or 0 for each in seen) / MS
    targets = list(found.targets)
    fitted = [each for each in found.servers if each.k.value is not None and each.c.value is not None]
    data: dict[str, Columns] = {
        f"{name}_cells": {
            "x": [short((each.round_trip or 0) / MS, 4) for each in seen],
            "y": [short((each.median.value or 0) / MS, 4) for each in seen],
            "target": [each.target for each in seen],
            "place": [each.place for each in seen],
        },
        f"{name}_lines": {
            "x": [0 if end == 0 else short(farthest, 4) for _ in fitted for end in (0, 1)],
            "y": [
                short(((each.c.value or 0) / MS) + (each.k.value or 0) * end * farthest, 4)
                for each in fitted
                for end in (0, 1)
            ],
            "target": [each.target for each in fitted for _ in (0, 1)],
        },
        name: {
            "target": [each.target for each in found.servers],
            "k": [words(each.k) for each in found.servers],
            "c": [words(each.c) for each in found.servers],
            "flags": ["slower than its peers" if each.slow else "" for each in found.servers],
        },
    }
    spec = finish([layer_of(each) for each in _distance_layers(name, targets)], 190)
    told = "; ".join(f"{each.target}: k = {words(each.k)}, c = {words(each.c)}" for each in found.servers)
    slow = [f"Target {each.target} is slower than its peers." for each in found.servers if each.slow]
    drawing = Drawing(
        name,
        title,
        "ms, against the round trip of the path, ms",
        spec,
        name,
        legend=tuple(Mark(target, color(at), style(at)) for at, target in enumerate(targets)),
        about="Lines: k x RTT + c by least squares for each target, without cells that are slow by themselves.",
        timed=False,
        columns={"target": "target", "k": "k, round trips", "c": "c, time at no distance", "flags": "flags"},
        says=" ".join([f"{told}.", *slow]),
    )
    return drawing, data


def _distance_layers(name: str, targets: Sequence[str]) -> Iterator[Any]:
    shades = [color(at) for at, _ in enumerate(targets)]
    dashes = alt.Scale(domain=list(targets), range=[STYLES[style(at)] for at, _ in enumerate(targets)])
    scale = alt.Scale(domain=list(targets), range=shades)
    x = alt.X("x:Q", axis=amount_axis(tickCount=6), scale=alt.Scale(zero=True, nice=True))
    y = alt.Y("y:Q", axis=amount_axis(tickCount=5), scale=alt.Scale(zero=True, nice=True), title=None)
    stroke = alt.Stroke("target:N", scale=scale, legend=None)
    line = named(f"{name}_lines").mark_line(strokeWidth=1.4)
    yield line.encode(x=x, y=y, stroke=stroke, strokeDash=alt.StrokeDash("target:N", scale=dashes, legend=None))
    tips = [alt.Tooltip("place:N"), alt.Tooltip("target:N"), alt.Tooltip("x:Q", title="round trip, ms")]
    tips.append(alt.Tooltip("y:Q", title="median, ms"))
    dot = named(f"{name}_cells").mark_point(size=40, filled=True)
    yield dot.encode(x=x, y=y, fill=alt.Fill("target:N", scale=scale, legend=None), tooltip=tips)


def against_time(results: RunResults, axis: Clock) -> Iterator[Group]:
    """Yield a heat map for each test of a scan of two axes: cells upwards, the run along, its median as colour."""
    both = axes(results.points)
    if both is None:
        return
    names = {tuple(point.values.items()): ", ".join(each.of(point) for each in both) for point in results.points}
    tests = list(dict.fromkeys(case.test for case in tables.drawn(results) if tuple(case.point.items()) in names))
    for number, test in enumerate(tests[:TESTS]):
        table = _in_time(results, axis, test, names)
        if table["a"] and len(set(table["row"])) <= MOST_ROWS:
            yield _timed(f"cells_in_time{number}", test, table, axis)


def _in_time(results: RunResults, axis: Clock, test: str, names: dict[tuple[tuple[str, str], ...], str]) -> Columns:
    """Return a row for each interval of each cell in which something passed."""
    found: dict[str, list[Any]] = {name: [] for name in ("row", "when", "a", "b", "ms")}
    cases = [case for case in tables.drawn(results) if case.test == test and tuple(case.point.items()) in names]
    for case in cases:
        line = case.timeline
        if line is None:
            continue
        for part in buckets(len(line.times), max(1, PARTS // len(cases))):
            (value,) = combine([None if each is None else each / MS for each in line.p50], [part], middle)
            if value is None:
                continue
            first, last = part[0], part[-1]
            a = axis.ms(line.times[first] - line.seconds[first] * 1e9)
            b = axis.ms(line.times[last])
            row = (names[tuple(case.point.items())], tables.when(a, b), a, b, short(value, 4))
            for column, each in zip(found.values(), row, strict=True):
                column.append(each)
    order = list(dict.fromkeys(name for name in names.values() if name in found["row"]))
    places = sorted(range(len(found["row"])), key=lambda at: (order.index(found["row"][at]), found["a"][at]))
    return {name: [values[at] for at in places] for name, values in found.items()}


def _names(table: str, y: alt.Y) -> Iterator[Any]:
    """Yield the layers of the names of rows, within the picture: what is beside it is as wide for every chart."""
    once = in_window(table).transform_aggregate(groupby=["row"], n="count()")
    for drawn in ({"fill": "var(--card)", "stroke": "var(--card)", "strokeWidth": 4}, {"fill": INK}):
        text = once.mark_text(align="left", fontSize=11, **drawn)
        yield text.encode(x=alt.XValue(4), y=y, text=alt.Text("row:N"))


def _timed(name: str, test: str, table: Columns, axis: Clock) -> Group:
    edges = heat.classes([max(value, 1e-6) for value in table["ms"]])
    names, shades = _classes(edges)
    rows = list(dict.fromkeys(table["row"]))
    data: Columns = {**table, "k": [sum(value >= edge for edge in edges[1:-1]) for value in table["ms"]]}
    y = alt.Y("row:N", sort=rows, title=None, axis=alt.Axis(labels=False, grid=False))
    fill = alt.Fill("k:O", scale=alt.Scale(domain=list(range(len(shades))), range=shades), legend=None)
    tips = [alt.Tooltip("row:N", title="cell"), alt.Tooltip("when:N", title="time")]
    tips.append(alt.Tooltip("ms:Q", title="median, ms", format=",.4~r"))
    drawn = in_window(name).mark_rect(clip=True).encode(
        x=time_axis("a"), x2=alt.X2("b:Q"), y=y, fill=fill, tooltip=tips
    )  # fmt: skip
    spec = timed([drawn, *_names(name, y)], axis.window, max(60, ROW // 2 * len(rows)))
    most = max(range(len(table["ms"])), key=lambda at: table["ms"][at])
    drawing = Drawing(
        name,
        f"{test}: each cell by time",
        "median response time",
        spec,
        name,
        legend=tuple(Mark(text, shade, "area") for text, shade in zip(names, shades, strict=True)),
        about="A row for each cell, coloured while it was measured: one that changes during the run changes colour.",
        columns={"row": "cell", "when": "time", "ms": "median, ms"},
        says=f"{counted(len(rows), 'cell')}; the slowest interval is {table['row'][most]} at {table['when'][most]}, "
        f"{says.duration(table['ms'][most])}.",
    )
    return Group([drawing], {name: data})
