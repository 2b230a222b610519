"""Panels against time: a small chart for each place, or each value of a label, all on the same axes."""

from __future__ import annotations

from collections.abc import Iterator

import altair as alt

from pileup.builtin.reports.html.charts import labelled, says, tables
from pileup.plugin.charts import Clock, Columns, Drawing, Group
from pileup.plugin.charts.columns import drawn_runs, largest, positive, short, stretches
from pileup.plugin.charts.drawing import (
    GOOD,
    QUANTILES,
    YAxis,
    amount_axis,
    dots,
    hits,
    log_time,
    time_axis,
    timed,
    within,
)
from pileup.plugin.results import Breakdown, LabelFigure, LabelLine, RunResults

GROUPS = 4
"""Operations by a label that are drawn, at most: the first."""
SHORTEST = 8
"""A case that took less than this part of the run has no room on its axis."""
LEAST = 3
"""Intervals that a value needs to be drawn."""
HEIGHT = 60


def groups(results: RunResults, axis: Clock) -> Iterator[Group]:
    """Yield two groups, rates and response times, for each operation and label of which several values have a line."""
    found = [
        (labelled.title(case, each, by), chosen)
        for case in tables.drawn(results)
        if axis.ms(case.ended or axis.begin) - axis.ms(case.started or axis.begin) >= axis.window / SHORTEST
        for each in case.operations
        for by in each.breakdowns
        if len(chosen := _worth(by)) > 1
    ]
    for number, (title, chosen) in enumerate(found[:GROUPS]):
        yield from _groups(f"panel{number}", title, chosen, axis)
    if left := [title for title, _ in found[GROUPS:]]:
        yield Group(notes=[f"Against time, not drawn: {', '.join(left[:GROUPS])}{' and more' * (len(left) > GROUPS)}."])


def _worth(by: Breakdown) -> list[tuple[LabelFigure, LabelLine]]:
    return [(value, value.line) for value in by.values if value.line and len(value.line.ends) >= LEAST]


def _groups(name: str, title: str, chosen: list[tuple[LabelFigure, LabelLine]], axis: Clock) -> Iterator[Group]:
    data = {f"{name}_{place}": _table(line, axis) for place, (_, line) in enumerate(chosen)}
    words = {table: value.value for table, (value, _) in zip(data, chosen, strict=True)}
    top = largest([value for table in data.values() for value in table["passed"]]) or 1.0
    amount = YAxis(alt.Scale(domain=[0, top], nice=True), amount_axis(tickCount=2))
    rates = [_panel(table, words[table], "passed", amount, length=axis.window, rows=data[table]) for table in data]
    yield Group(rates, data, f"{title}: passed per second", paired=True, small=True)
    if times := positive({"p50": [value for table in data.values() for value in table["p50"]]}, "p50"):
        scale, marks = log_time(times, 4)
        how = YAxis(scale, marks)
        known = [table for table in data if positive(data[table], "p50")]
        panels = [_panel(table, words[table], "p50", how, length=axis.window, rows=data[table]) for table in known]
        yield Group(panels, data, f"{title}: median response time", paired=True, small=True)


def _table(line: LabelLine, axis: Clock) -> Columns:
    starts, ends = [axis.ms(time) for time in line.begins], [axis.ms(time) for time in line.ends]
    longest = max(b - a for a, b in zip(starts, ends, strict=True))
    return {
        "a": starts,
        "b": ends,
        "t": [(a + b) / 2 for a, b in zip(starts, ends, strict=True)],
        "when": [tables.when(a, b) for a, b in zip(starts, ends, strict=True)],
        "passed": [short(value) for value in line.passed],
        "p50": [None if value is None else short(value / 1e6) for value in line.p50],
        **drawn_runs(stretches(starts, ends, longest)),
    }


def _panel(table: str, title: str, column: str, how: YAxis, *, length: float, rows: Columns) -> Drawing:
    y = how.of(column)
    shade = GOOD if column == "passed" else QUANTILES["p50"]
    line = within(table).mark_line(stroke=shade).encode(x=time_axis(), y=y, detail=alt.Detail("run:N"))
    unit = "/s" if column == "passed" else "log scale"
    tips = [
        alt.Tooltip("passed:Q", title="passed /s", format=",.4~r"),
        alt.Tooltip("p50:Q", title="p50, ms", format=",.3~r"),
    ]
    layers = [line, *([dots(table, y, shade)] if any(rows["alone"]) else []), hits(table, tips)]
    if column == "passed":
        layers.insert(
            0, within(table).mark_area(fill=shade, opacity=0.13).encode(x=time_axis(), y=y, detail=alt.Detail("run:N"))
        )
        said = says.lines(rows, {"passed": f"{title}: passed"}, "per second")
    else:
        said = says.lines(rows, {"p50": f"{title}: p50"}, told=says.duration)
    words = {"when": "time", "passed": "passed per second", "p50": "p50, ms"}
    return Drawing(
        f"{table}_{column}", title, unit, timed(layers, length, HEIGHT), table=table, columns=words, says=said
    )
