"""The heat map of response times: how many iterations took how long, against the time of the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import altair as alt

from pileup.builtin.reports.html.charts import says, tables, wanted
from pileup.builtin.reports.html.charts.wanted import Bound
from pileup.plugin.charts import Clock, Columns, Drawing, Mark
from pileup.plugin.charts.columns import log_ticks, positive, short
from pileup.plugin.charts.drawing import BAD, free_log_time, in_window, time_axis, timed
from pileup.plugin.results import CaseResult, ResponseMap, RunResults
from pileup.plugin.units import counted, format_count

TABLE, LOST = "heat", "heat_not_passed"
COLUMNS = 240
"""Intervals of all cases together: more are put together."""
CELLS = 6000
"""Cells that are drawn, at most: with more the intervals are longer."""
CLASSES = 7
"""Colours, at most."""
NEAR = 1.3
"""A class is at least so many times wide."""
HEIGHT = 190
STRIP = 6
"""Height of what did not pass, at the upper edge."""
Table = dict[str, list[Any]]
CELL = ("case", "when", "a", "b", "low", "high", "count", "rate")
NOT_PASSED = ("case", "when", "a", "b", "count", "share")
"""Columns of the tables."""


def heat_map(
    results: RunResults, axis: Clock, bounds: Sequence[Bound] = ()
) -> tuple[Drawing, dict[str, Columns]] | None:
    """Return the heat map of all cases that are drawn against time, with its tables; None where nothing passed."""
    found = [
        (case, case.timeline.responses) for case in tables.drawn(results) if case.timeline and case.timeline.responses
    ]
    if not found:
        return None
    most = COLUMNS
    rows, lost = _rows(found, axis, most)
    while len(rows["a"]) > CELLS and most > len(found):
        most //= 2
        rows, lost = _rows(found, axis, most)
    edges = classes(rows["rate"])
    rows["k"] = [sum(rate >= edge for edge in edges[1:-1]) for rate in rows["rate"]]
    data: dict[str, Columns] = {TABLE: {**rows}, LOST: {**lost}}
    return _drawing(data, edges, axis.window, bounds), data


def _rows(found: list[tuple[CaseResult, ResponseMap]], axis: Clock, most: int) -> tuple[Table, Table]:
    """Return the cells in which something is, and what did not pass, with at most about `most` intervals."""
    total = sum(len(each.begins) for _, each in found)
    size = max(1, -(-total // most))
    cells: Table = {name: [] for name in CELL}
    lost: Table = {name: [] for name in NOT_PASSED}
    for case, each in found:
        edges = [float(f"{edge / 1e6:.4g}") for edge in each.edges]
        for start in range(0, len(each.begins), size):
            part = range(start, min(start + size, len(each.begins)))
            a, b = axis.ms(each.begins[part[0]]), axis.ms(each.ends[part[-1]])
            seconds = max((b - a) / 1000, 1e-3)
            place = (tables.label(case), tables.when(a, b), a, b)
            counts = [sum(column) for column in zip(*(each.counts[number] for number in part), strict=True)]
            for (low, high), n in zip(pairwise(edges), counts, strict=True):
                if n:
                    _append(cells, (*place, low, high, n, short(n / seconds, 4)))
            if failed := sum(each.not_passed[number] for number in part):
                share = failed / (failed + sum(counts))
                _append(lost, (*place, failed, short(100 * share, 3)))
    return cells, lost


def _append(table: Table, row: Sequence[object]) -> None:
    for column, value in zip(table.values(), row, strict=True):
        column.append(value)


def classes(rates: Sequence[float]) -> list[float]:
    """Return the edges of the classes of colour: round rates (1, 2, 5 or 10 times) from the least to the largest."""
    low, high = min(rates), max(rates)
    return [low, *(edge for edge in log_ticks(low * NEAR, high / NEAR, CLASSES - 1) if low < edge < high), high]


def shades(number: int) -> list[str]:
    """Return the colours of so many classes, as far apart as can be."""
    step = (CLASSES - 1) / max(1, number - 1)
    return [f"var(--h{round(place * step)})" for place in range(number)]


def _drawing(data: dict[str, Columns], edges: list[float], length: float, bounds: Sequence[Bound]) -> Drawing:
    values = positive(data[TABLE], "low", "high")
    asked = [each for each in bounds if each.of_iterations(("response",), ("quantile", "mean", "max"))]
    lines = wanted.lines("wanted_heat", asked, values, lambda _: 1e6)
    scale, axis = free_log_time([*values, *lines.values])
    scale = alt.Scale(type="log", nice=False, padding=STRIP + 3)
    colours = shades(len(edges) - 1)
    tips = [alt.Tooltip("case:N"), alt.Tooltip("when:N", title="time"), alt.Tooltip("low:Q", title="from, ms")]
    tips += [alt.Tooltip("high:Q", title="to, ms"), alt.Tooltip("count:Q", title="iterations", format=",")]
    tips += [alt.Tooltip("rate:Q", title="per second", format=",.3~r")]
    fill = alt.Fill("k:O", scale=alt.Scale(domain=list(range(len(colours))), range=colours), legend=None)
    y = alt.Y("low:Q", scale=scale, axis=axis, title=None)
    cells = (
        in_window(TABLE)
        .mark_rect(clip=True)
        .encode(x=time_axis("a"), x2=alt.X2("b:Q"), y=y, y2=alt.Y2("high:Q"), fill=fill, tooltip=tips)
    )
    layers = [cells, *lines.rules(axis, scale)]
    legend = [Mark(text, shade, "area") for text, shade in zip(texts(edges), colours, strict=True)]
    if data[LOST]["a"]:
        layers.append(_lost())
        legend.append(Mark("did not pass", BAD, "area"))
    about = "Each cell: how many iterations that ended in that time took so long, per second. "
    about += "What did not pass has no response time: a strip at the upper edge, darker for a larger share. "
    columns = {"case": "case", "when": "time", "low": "from, ms", "high": "to, ms", "count": "iterations"}
    spec = lines.within(timed(layers, length, HEIGHT))
    return Drawing(
        "heat",
        "Response times by time",
        "iterations per second",
        spec,
        TABLE,
        columns=columns,
        legend=(*legend, *lines.legend),
        about=(about + lines.about).strip(),
        says=_says(data),
    )


def _says(data: dict[str, Columns]) -> str:
    """Return where most iterations lie, the slowest, and what did not pass."""
    cells = data[TABLE]
    most = max(range(len(cells["a"])), key=lambda place: cells["rate"][place])
    low, high, when = (cells[name][most] for name in ("low", "high", "when"))
    told = [f"Response times from {says.duration(min(cells['low']))} to {says.duration(max(cells['high']))}."]
    told.append(f"Most in one cell: {says.duration(low)} to {says.duration(high)}, at {when}.")
    slow = max(range(len(cells["a"])), key=lambda place: cells["high"][place])
    told.append(f"The slowest came at {cells['when'][slow]}.")
    if (lost := data[LOST])["a"]:
        told.append(f"{counted(sum(lost['count']), 'iteration')} did not pass, the first at {lost['when'][0]}.")
    return " ".join(told)


def _lost() -> Any:
    tips = [alt.Tooltip("case:N"), alt.Tooltip("when:N", title="time")]
    tips += [alt.Tooltip("count:Q", title="did not pass", format=","), alt.Tooltip("share:Q", title="% of all")]
    strip = in_window(LOST).transform_calculate(strength="0.35 + 0.65 * datum.share / 100")
    opacity = alt.FillOpacity("strength:Q", scale=None)
    mark = strip.mark_rect(clip=True, fill=BAD)
    return mark.encode(
        x=time_axis("a"), x2=alt.X2("b:Q"), y=alt.YValue(0), y2=alt.Y2Value(STRIP), fillOpacity=opacity, tooltip=tips
    )


def number(value: float) -> str:
    """Return an amount of a class."""
    return format_count(value) if value >= 1000 else f"{value:.2g}" if value < 10 else f"{value:.0f}"


def texts(edges: list[float], said: Callable[[float], str] = number) -> list[str]:
    """Return what classes are called: `under 2`, `2-5`, `5 or more`."""
    inner = [said(edge) for edge in edges[1:-1]]
    if not inner:
        return [said(edges[0])]
    between = (f"{low}-{high}" for low, high in pairwise(inner))
    return [f"under {inner[0]}", *between, f"{inner[-1]} or more"]
