"""Charts of a quantity that a load held: its values with set point and band, and the level that held it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from pileup.builtin.reports.html.charts import tables
from pileup.plugin.charts import Clock, Columns, Drawing, Mark
from pileup.plugin.charts.columns import Number, drawn_runs, looks
from pileup.plugin.charts.drawing import amount_axis, color, dots, hits, time_axis, timed, within
from pileup.plugin.results import CaseResult, HeldLevel, RunResults

MOST = 6
"""Cases that are drawn, at most: the first."""
SHOWN = {
    "time": ("ms", 1e6),
    "size": ("MB", 1e6),
    "bandwidth": ("MB/s", 1e6),
    "rate": ("/s", 1.0),
    "fraction": ("%", 0.01),
}
"""Dimension -> unit of the axis, and how many base units that is."""


def charts(results: RunResults, axis: Clock) -> list[tuple[list[Drawing], dict[str, Columns]]]:
    """Return for each case that held something its charts and their tables."""
    found = [(case, case.held) for case in results.cases if case.held is not None and case.held.times]
    return [_of_case(number, case, held, axis) for number, (case, held) in enumerate(found[:MOST])]


def _of_case(number: int, case: CaseResult, held: HeldLevel, axis: Clock) -> tuple[list[Drawing], dict[str, Columns]]:
    unit, factor = SHOWN.get(held.dimension, ("", 1.0))
    values, levels = f"held_{number}", f"held_level_{number}"
    made: dict[str, Columns] = {
        values: _table(held.times, [value / factor for value in held.values], axis, looks(held.times))
        | {name: [edge / factor] * len(held.times) for name, edge in _edges(held)},
        levels: _table(held.level_times, held.levels, axis, [range(len(held.levels))]),
    }
    label, by = tables.label(case), "iterations per second" if held.by == "rate" else "clients"
    words = {"when": "time", "value": held.metric, "low": "band from", "at": "set point", "high": "band to"}
    about = f"The band is shaded, the set point a line in it. {words_of(held)}"
    legend = (Mark(held.metric, color(0)),)
    length = axis.window
    lines = [_line(values, "at", "var(--c8)"), _line(values, "value", color(0)), dots(values, _y("value"), color(0))]
    drawn = timed([_band(values), *lines, _hits(values)], length)
    level = timed([_line(levels, "value", color(1), "step-after"), _hits(levels)], length, 110)
    given: dict[str, Any] = {"table": values, "legend": legend, "columns": words, "about": about}
    told = {"when": "time", "value": by}
    return [
        Drawing(values, f"{label}: {held.metric}", unit or "held", drawn, **given),
        Drawing(levels, f"{label}: the level that holds it", by, level, table=levels, columns=told),
    ], made


def words_of(held: HeldLevel) -> str:
    """Return how well it was held in one sentence."""
    if held.share is None:
        return "Nothing was measured after the time to settle."
    return f"Within the band in {round(held.share * held.looks)} of {held.looks} samples after the time to settle."


def _edges(held: HeldLevel) -> list[tuple[str, float]]:
    return [("low", held.low), ("at", held.set_point), ("high", held.high)]


def _table(times: Sequence[int], values: Sequence[float], axis: Clock, runs: Sequence[range]) -> Columns:
    ends: list[Number] = [axis.ms(time) for time in times]
    begins: list[Number] = [*ends[:1], *ends[:-1]]
    told: list[str] = [tables.when(a or 0, b or 0) for a, b in zip(begins, ends, strict=True)]
    rounded = [float(f"{value:.6g}") for value in values]
    return {"a": begins, "b": ends, "t": ends, "value": rounded, "when": told, **drawn_runs(runs)}


def _y(column: str) -> Any:
    axis = amount_axis(tickCount=4)
    return alt.Y(f"{column}:Q", axis=axis, scale=alt.Scale(zero=True, nice=True))


def _band(table: str) -> Any:
    return within(table).mark_area(opacity=0.18, color=color(0)).encode(x=time_axis(), y=_y("low"), y2=alt.Y2("high:Q"))


def _line(table: str, column: str, stroke: str, interpolate: Any = "linear") -> Any:
    return (
        within(table)
        .mark_line(interpolate=interpolate, color=stroke)
        .encode(x=time_axis(), y=_y(column), detail=alt.Detail("run:N"))
    )


def _hits(table: str) -> Any:
    return hits(table, [alt.Tooltip("when:N", title="time"), alt.Tooltip("value:Q", format=",.5~g")])
