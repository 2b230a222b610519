"""Charts of operations that outlive their iterations: how many are open, and how many end, against time."""

from __future__ import annotations

from typing import Any

import altair as alt

from pileup.builtin.reports.html.series import Columns
from pileup.builtin.reports.html.shapes import Chart, Mark, color, hits, time_axis, timed, within

TABLE = "detached"


def charts(table: Columns, length: float) -> list[Chart]:
    """Return the charts of the table `detached`, a line for each case."""
    cases = list(dict.fromkeys(table["case"]))
    legend = tuple(Mark(case, color(number)) for number, case in enumerate(cases))
    tips = [alt.Tooltip("case:N"), alt.Tooltip("open:Q", format=","), alt.Tooltip("ended:Q", title="ended /s")]
    words = {"case": "case", "when": "time", "open": "open", "ended": "ended /s"}
    given: dict[str, Any] = {"table": TABLE, "legend": legend, "columns": words}
    level = timed([*_lines("open", cases, "step-after"), hits(TABLE, tips)], length)
    ended = timed(_lines("ended", cases, "linear"), length, 110)
    about = "Begun by an iteration and still under way after it: jobs, recalls. They hold no client."
    return [
        Chart("detached", "Open operations", "begun and not yet ended", level, about=about, **given),
        Chart("detached_ended", "Ends of such operations", "per second", ended, **given),
    ]


def _lines(column: str, cases: list[str], interpolate: Any) -> list[Any]:
    scale = alt.Scale(domain=cases, range=[color(number) for number, _ in enumerate(cases)])
    y = alt.Y(f"{column}:Q", axis=alt.Axis(title=None, format="~s", tickCount=4), scale=alt.Scale(zero=True, nice=True))
    stroke = alt.Stroke("case:N", scale=scale, legend=None)
    return [within(TABLE).mark_line(interpolate=interpolate).encode(x=time_axis(), y=y, stroke=stroke)]
