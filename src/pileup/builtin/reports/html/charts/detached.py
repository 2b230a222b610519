"""Charts of asynchronous operations: how many are open, and how many end, against time."""

from __future__ import annotations

from typing import Any

import altair as alt

from pileup.plugin.charts import Columns, Drawing, Mark
from pileup.plugin.charts.drawing import amount_axis, color, hits, in_window, time_axis, timed, within

TABLE = "detached"
PAINT: dict[str, Any] = {"fill": alt.Fill, "stroke": alt.Stroke}


def charts(table: Columns, length: float) -> list[Drawing]:
    """Return the charts of the table `detached`, a line for each case."""
    cases = list(dict.fromkeys(table["case"]))
    legend = tuple(Mark(case, color(number)) for number, case in enumerate(cases))
    tips = [alt.Tooltip("case:N"), alt.Tooltip("open:Q", format=","), alt.Tooltip("ended:Q", title="ended /s")]
    words = {"case": "case", "when": "time", "open": "open", "ended": "ended /s"}
    given: dict[str, Any] = {"table": TABLE, "legend": legend, "columns": words}
    level = timed([_level(cases), hits(TABLE, tips)], length)
    ended = timed([_ends(cases)], length, 110)
    about = "Begun by an iteration and still under way after it: jobs, recalls. They hold no client."
    return [
        Drawing("detached", "Open operations", "begun and not yet ended", level, about=about, **given),
        Drawing("detached_ended", "Ends of such operations", "per second", ended, **given),
    ]


def _level(cases: list[str]) -> Any:
    """Return the lines of what was open: between two rows nothing began and nothing ended, so the level stood."""
    y, scale = _amount("open"), _colors(cases)
    mark = within(TABLE).mark_line(interpolate="step-after")
    return mark.encode(x=time_axis(), y=y, stroke=alt.Stroke("case:N", scale=scale, legend=None))


def _ends(cases: list[str]) -> Any:
    """Return a bar for each interval in which some ended; there is nothing to draw in between."""
    colors = {name: encode("case:N", scale=_colors(cases), legend=None) for name, encode in PAINT.items()}
    mark = in_window(TABLE).transform_filter("datum.ended > 0").mark_rect(clip=True, fillOpacity=0.55, strokeWidth=1)
    return mark.encode(x=time_axis("a"), x2=alt.X2("b:Q"), y=_amount("ended"), y2=alt.Y2Datum(0), **colors)


def _amount(column: str) -> alt.Y:
    axis = amount_axis(tickCount=4)
    return alt.Y(f"{column}:Q", axis=axis, scale=alt.Scale(zero=True, nice=True))


def _colors(cases: list[str]) -> alt.Scale:
    return alt.Scale(domain=cases, range=[color(number) for number, _ in enumerate(cases)])
