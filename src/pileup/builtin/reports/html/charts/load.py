"""Charts of the load against the time of the run: cases, starts and ends per second, bytes, clients, quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt

from pileup.plugin.charts import Columns, Drawing, Mark
from pileup.plugin.charts.columns import positive, scaled
from pileup.plugin.charts.drawing import (
    BAD,
    GOOD,
    MUTED,
    QUANTILES,
    WARN,
    amount_scale,
    far_apart,
    finish,
    free_log_time,
    hits,
    in_window,
    layer_of,
    time_axis,
    timed,
    within,
)

OUTCOMES = {"passed": GOOD, "failed": BAD, "error": BAD, "unknown": WARN, "unavailable": WARN, "not run": MUTED}
LINES = ["case:N", "run:N"]
"""What a line goes through: the rows of a case between which nothing is missing."""
SPARSE = 150
"""Rows of the timeline up to which each value gets a point."""
POINT = {"size": 9, "strokeWidth": 0}


@dataclass(frozen=True, slots=True)
class Scaled:
    """How an amount is drawn: its scale and axis."""

    scale: alt.Scale
    axis: alt.Axis
    logarithmic: bool = False
    points: bool = False
    """Whether each value is marked: a single one between gaps is no line."""

    @property
    def said(self) -> str:
        """What is said of it behind the unit."""
        return ", log scale" if self.logarithmic else ""


def gantt(table: Columns, length: float) -> Drawing:
    """Return the chart of cases in time, coloured by outcome, what is left out of the figures shaded."""
    count = len(table["case"])
    names = alt.Axis(title=None, labelLimit=150, domain=False, grid=True)
    y = alt.Y("case:N", sort=None, axis=names, scale=alt.Scale(paddingInner=0.3))
    colors = alt.Scale(domain=list(OUTCOMES), range=list(OUTCOMES.values()))
    fill = alt.Color("outcome:N", scale=colors, legend=None)
    tips = [alt.Tooltip(f"{name}:N") for name in ("case", "load", "outcome")] + [alt.Tooltip("when:N", title="time")]
    bars = (
        in_window("cases")
        .mark_bar(clip=True, cornerRadius=2, minBandSize=3)
        .encode(x=time_axis("a"), x2="b:Q", y=y, fill=fill, stroke=fill, strokeWidth=alt.value(1), tooltip=tips)
    )
    shade = (
        in_window("phases")
        .mark_bar(clip=True, fill="var(--card)", opacity=0.45)
        .encode(x=time_axis("a"), x2="b:Q", y=y, tooltip=[alt.Tooltip("case:N"), alt.Tooltip("phase:N")])
    )
    spec = finish([layer_of(bars), layer_of(shade)], max(44, 19 * count), length)
    legend = tuple(Mark(word, color, "area") for word, color in OUTCOMES.items() if word in table["outcome"])
    about = "Pale: set-up, ramp and warm-up, which are left out of all figures."
    columns = {"case": "case", "when": "time", "outcome": "outcome"}
    return Drawing("cases", "Cases", "outcome", spec, "cases", legend, about, columns=columns)


def rates(table: Columns, length: float) -> Drawing:
    """Return iterations per second: started, passed, not passed, and missed when any were."""
    missed = {"missed": WARN} if any(table["missed"]) else {}
    shown = {"started": MUTED, "passed": GOOD, "not_passed": BAD} | missed
    how = _how(table, "passed", "started")
    words = {name: name.replace("_", " ") for name in shown}
    area = _area("passed", GOOD, how)
    zeros, none = _zeros(table, "passed", GOOD, how)
    lines = [_line(name, color, how, dash=name == "started") for name, color in shown.items()]
    tips = _tips({name: f"{word} /s" for name, word in words.items()})
    legend = tuple(Mark(words[name], color, "dash" if name == "started" else "line") for name, color in shown.items())
    spec = timed([*area, *lines, *zeros, hits("timeline", tips)], length)
    about = "Started above passed: the system does not keep up, or answers badly."
    unit = f"per second{how.said}"
    return Drawing("rates", "Iterations", unit, spec, "timeline", (*legend, *none), about, columns=_read(words))


def bandwidth(table: Columns, length: float) -> Drawing | None:
    """Return bytes per second, None when no bytes were moved. Brings its column into a unit that is easy to read."""
    tops = [top for top in _tops(table, "bandwidth") if top > 0]
    if not tops:
        return None
    divisor, unit = scaled("B/s", min(tops) if far_apart(tops) else max(tops))
    table["bandwidth"] = [None if value is None else value / divisor for value in table["bandwidth"]]
    how = _how(table, "bandwidth")
    zeros, none = _zeros(table, "bandwidth", "var(--c0)", how)
    drawn = [*_area("bandwidth", "var(--c0)", how), _line("bandwidth", "var(--c0)", how), *zeros]
    spec = timed([*drawn, hits("timeline", _tips({"bandwidth": unit}))], length)
    columns = _read({"bandwidth": unit})
    return Drawing("bandwidth", "Throughput", unit + how.said, spec, "timeline", none, columns=columns)


def in_flight(table: Columns, length: float) -> Drawing:
    """Return iterations under way and the clients there are."""
    words = {"in_flight": "in flight", "clients": "clients"}
    how = _how(table, "clients")
    lines = [_line("clients", MUTED, how, dash=True), _line("in_flight", "var(--c4)", how)]
    zeros, none = _zeros(table, "in_flight", "var(--c4)", how)
    spec = timed([*_area("in_flight", "var(--c4)", how), *lines, *zeros, hits("timeline", _tips(words))], length)
    legend = (Mark("in flight", "var(--c4)"), Mark("clients", MUTED, "dash"), *none)
    columns = _read(words)
    about = "When in flight reaches the number of clients, all clients are waiting."
    return Drawing(
        "in_flight", "In flight", f"iterations, clients{how.said}", spec, "timeline", legend, about, columns=columns
    )


def quantiles(table: Columns, length: float) -> Drawing | None:
    """Return quantiles of the response time against time, None when nothing passed."""
    values = positive(table, *QUANTILES)
    if not values:
        return None
    how = Scaled(*free_log_time(values), logarithmic=True, points=_sparse(table))
    known = {name: color for name, color in QUANTILES.items() if positive(table, name)}
    lines = [_line(name, color, how) for name, color in known.items()]
    tips = [alt.Tooltip(f"{name}:Q", title=f"{name}, ms", format=",.3~r") for name in known]
    legend = tuple(Mark(name, color) for name, color in known.items())
    spec = timed([*lines, hits("timeline", [alt.Tooltip("case:N"), *tips])], length, 170)
    columns = _read({name: f"{name}, ms" for name in known})
    about = "From the intended start of each iteration to its answer; what did not pass is slower than any. "
    about += "A second has a quantile where its values are enough for one: p90 takes 36, p99 takes 368."
    return Drawing("quantiles", "Response time", "log scale", spec, "timeline", legend, about, columns=columns)


def start_errors(table: Columns, length: float) -> Drawing | None:
    """Return how late pileup itself began iterations (the latest of each second), None where that is not known."""
    values = positive(table, "latest")
    if not values:
        return None
    how = Scaled(*free_log_time(values), logarithmic=True, points=_sparse(table))
    tips = [alt.Tooltip("case:N"), alt.Tooltip("latest:Q", title="latest, ms", format=",.3~r")]
    spec = timed([_line("latest", "var(--c5)", how), hits("timeline", tips)], length, 110)
    about = "How late pileup itself began the latest iteration of each second: what it adds to response times at most."
    columns = _read({"latest": "latest, ms"})
    return Drawing(
        "late", "Scheduling delay of pileup", "largest, log scale", spec, "timeline", (), about, columns=columns
    )


def _how(table: Columns, *columns: str) -> Scaled:
    """Return how columns are drawn so that the small cases are seen beside the large."""
    tops = [top for column in columns for top in _tops(table, column)]
    return Scaled(*amount_scale(tops, positive(table, *columns)), points=_sparse(table))


def _sparse(table: Columns) -> bool:
    return len(table["a"]) <= SPARSE


def _tops(table: Columns, column: str) -> list[float]:
    """Return the largest value of each case."""
    tops: dict[str, float] = {}
    for case, value in zip(table["case"], table[column], strict=True):
        tops[case] = max(tops.get(case, 0.0), value or 0.0)
    return list(tops.values())


def _y(column: str, how: Scaled) -> alt.Y:
    return alt.Y(f"{column}:Q", scale=how.scale, axis=how.axis, title=None, stack=None)


def _area(column: str, fill: str, how: Scaled) -> list[Any]:
    """Return the area under a line; none on a logarithm, which has no ground."""
    mark = within("timeline").mark_area(fill=fill, opacity=0.13)
    return [] if how.logarithmic else [mark.encode(x=time_axis(), y=_y(column, how), detail=LINES)]


def _line(column: str, color: str, how: Scaled, *, dash: bool = False) -> Any:
    """Return a line with gaps where nothing was measured, and on a logarithm where there was nothing."""
    style: dict[str, Any] = {"strokeDash": [3, 2], "strokeWidth": 1.3} if dash else {}
    mark = within("timeline").mark_line(stroke=color, point=how.points and POINT | {"fill": color}, **style)
    drawn = mark.encode(x=time_axis(), y=_y(column, how), detail=LINES)
    above = f"datum.{column} > 0 ? datum.{column} : null"
    return drawn.transform_calculate(**{column: above}) if how.logarithmic else drawn


def _zeros(table: Columns, column: str, color: str, how: Scaled) -> tuple[list[Any], tuple[Mark, ...]]:
    """Return marks on the lower edge where a column is zero, with their entry in a legend: a logarithm has no zero."""
    if not how.logarithmic or all(value != 0 for value in table[column]):
        return [], ()
    mark = within("timeline").transform_filter(f"datum.{column} === 0")
    drawn = mark.mark_point(shape="triangle-down", size=22, fill=color, strokeWidth=0, yOffset=-3)
    return [drawn.encode(x=time_axis(), y=alt.value("height"))], (Mark("zero", color, "dot"),)


def _tips(columns: dict[str, str]) -> list[alt.Tooltip]:
    numbers = (alt.Tooltip(f"{name}:Q", title=title, format=",.4~r") for name, title in columns.items())
    return [alt.Tooltip("case:N"), *numbers]


def _read(columns: dict[str, str]) -> dict[str, str]:
    return {"case": "case", "when": "time", **columns}
