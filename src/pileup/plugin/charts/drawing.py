"""What charts draw with: the page's colours, the time axis with its cases, axes for durations."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import altair as alt

from pileup.plugin.charts.columns import linear_ticks, log_ticks

INK, MUTED, LINE = "var(--ink)", "var(--muted)", "var(--line)"
GOOD, BAD, WARN = "var(--good)", "var(--bad)", "var(--warn)"
QUANTILES = {"p50": "var(--q50)", "p90": "var(--q90)", "p99": "var(--q99)"}
STYLES = {"line": [1, 0], "dash": [6, 3], "dotted": [2, 2], "dashdot": [8, 2, 2, 2]}
"""Kind of a line, as in a legend -> its dashes: they distinguish the lines of one chart without their colours."""
DASHES = dict(zip(QUANTILES, STYLES.values(), strict=False))
AMOUNT = (
    "abs(datum.value) >= 1e9 ? format(datum.value / 1e9, ',.6~r') + ' G' : "
    "abs(datum.value) >= 1e6 ? format(datum.value / 1e6, ',.6~r') + ' M' : format(datum.value, ',.6~r')"
)
"""Labels of plain numbers on axes: 0.8, 3,160 and 2.5 M."""
HEIGHT = 150
Y_WIDTH = 46
"""Room for the labels of a y axis: the same for every chart with a time axis, so that a moment is below itself."""

CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": "var(--sans)",
    "padding": {"left": 0, "right": 6, "top": 4, "bottom": 2},
    "view": {"stroke": None},
    "axis": {
        "labelColor": MUTED,
        "titleColor": MUTED,
        "gridColor": LINE,
        "domainColor": LINE,
        "tickColor": LINE,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "tickSize": 3,
        "labelPadding": 4,
        "gridDash": [1, 2],
    },
    "axisY": {"domain": False, "ticks": False, "minExtent": Y_WIDTH, "maxExtent": 180},
    "line": {"strokeWidth": 1.6, "strokeJoin": "round"},
    "text": {"fill": MUTED, "fontSize": 10},
}
"""Vega-Lite configuration of all charts. Colours are variables of the page: a change of theme draws nothing again."""


def color(number: int) -> str:
    """Return the colour of the case (or series) with that number; they come again after ten."""
    return f"var(--c{number % 10})"


def style(number: int) -> str:
    """Return the kind of the line of the case (or series) with that number, a key of STYLES; they come again."""
    return list(STYLES)[number % len(STYLES)]


def named(table: str) -> Any:
    """Begin a layer on a table of the page."""
    return alt.Chart(alt.NamedData(name=table))


def in_window(table: str) -> Any:
    """Begin a layer on the rows of a table that overlap the part of the run on show."""
    return named(table).transform_filter("datum.b >= first && datum.a <= last")


STEPS = (
    *(n * 10**p for p in range(4) for n in (1, 2, 5)),
    *(1000 * s for s in (10, 15, 30, 60, 120, 300, 600, 900, 1800)),
)
HOURS = (1, 2, 6, 12, 24)
"""Distances between ticks of the time axis: ms up to half an hour, then hours."""


def within(table: str) -> Any:
    """Begin a layer of points on the rows of a table whose time is shown: lines need no clipping then."""
    return named(table).transform_filter("datum.t >= first && datum.t <= last")


def _steps() -> str:
    """Return the expression for the smallest step that leaves room between the ticks."""
    steps = (*STEPS, *(hours * 3_600_000 for hours in HOURS))
    least = "(last - first) * 70 / max(width, 1)"
    return "".join(f"{least} <= {step} ? {step} : " for step in steps) + "ceil((last - first) / 8)"


def window(length: float) -> list[dict[str, Any]]:
    """Return the parameters of a time chart; the page sets `first` and `last` (ms) to show a part of the run."""
    return [{"name": "first", "value": 0}, {"name": "last", "value": length}, {"name": "step", "expr": _steps()}]


def time_axis(column: str = "t") -> alt.X:
    """Return the x axis of all time charts: milliseconds since the run's start, window `first` to `last`."""
    text = (
        "last - first < 2000 ? datum.value + ' ms' : "
        "last - first <= 180000 ? format(datum.value / 1000, '~r') + ' s' : "
        "last - first <= 10800000 ? floor(datum.value / 60000) + utcFormat(datum.value, ':%S') : "
        "floor(datum.value / 3600000) + utcFormat(datum.value, ':%M') + ' h'"
    )
    ticks = {"expr": "sequence(ceil(first / step) * step, last + 1, step)"}
    domain = [{"expr": "first"}, {"expr": "last"}]
    axis = alt.Axis(title=None, grid=False, labelExpr=text, values=ticks, labelFlush=True)
    return alt.X(f"{column}:Q", scale=alt.Scale(domain=domain, nice=False, zero=False), axis=axis)


@cache
def backdrop() -> tuple[dict[str, Any], ...]:
    """Return the layers behind every time chart: a band and a name per case, darker where it is not yet measured."""
    bands = (
        in_window("cases")
        .mark_rect(clip=True)
        .encode(
            x=time_axis("a"),
            x2=alt.X2("b:Q"),
            fill=alt.condition("datum.n % 2", alt.value("var(--band)"), alt.value("var(--band2)")),
            tooltip=[alt.Tooltip("case:N", title="case")],
        )
    )
    phases = (
        in_window("phases")
        .mark_rect(clip=True, fill="var(--phase)")
        .encode(
            x=time_axis("a"),
            x2=alt.X2("b:Q"),
            tooltip=[alt.Tooltip("case:N", title="case"), alt.Tooltip("phase:N", title="phase")],
        )
    )
    room = "floor((min(datum.b, last) - max(datum.a, first)) / (last - first) * width / 6)"
    label = "length(datum.case) <= datum.room ? datum.case : substring(datum.case, 0, datum.room - 1) + '…'"
    names = (
        in_window("cases")
        .transform_calculate(mid="(min(datum.b, last) + max(datum.a, first)) / 2", room=room)
        .transform_filter("(datum.room >= 8 || length(datum.case) <= datum.room) && datum.lane === 0")
        .transform_calculate(label=label)
        .mark_text(baseline="bottom", dy=-3)
        .encode(x=time_axis("mid"), y=alt.YValue(0), text=alt.Text("label:N"))
    )
    return tuple(layer_of(each) for each in (bands, phases, names))


def hits(table: str, tooltip: list[alt.Tooltip]) -> Any:
    """Return the layer that answers the pointer: one invisible stripe per interval, with all its numbers."""
    hover = alt.selection_point(name=f"over_{table}", on="pointerover", clear="pointerout", empty=False)
    return (
        in_window(table)
        .mark_rect(clip=True, fill=INK)
        .encode(
            x=time_axis("a"),
            x2=alt.X2("b:Q"),
            fillOpacity=alt.FillOpacityValue(**alt.condition(hover, alt.value(0.07), alt.value(0))),
            tooltip=[alt.Tooltip("when:N", title="time"), *tooltip],
        )
        .add_params(hover)
    )


def timed(layers: list[Any], length: float, height: int = HEIGHT) -> dict[str, Any]:
    """Put layers on the shared time axis and return the specification; `length` is that of the run in ms."""
    return finish([*backdrop(), *map(layer_of, layers)], height, length)


def with_marks(spec: dict[str, Any], bands: list[dict[str, Any]], rules: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a time chart with what happened to the run: bands upon those of cases, rules and numbers before all."""
    layers = spec["layer"]
    ground = next((place for place, layer in enumerate(layers) if layer["mark"]["type"] != "rect"), 0)
    return {**spec, "layer": [*layers[:ground], *bands, *layers[ground:], *rules]}


def free_log_time(values: list[float]) -> tuple[alt.Scale, alt.Axis]:
    """Return scale and axis (log, ms) that follow what is on show of `values`, all above zero."""
    low, high = min(values), max(values)
    ticks = log_ticks(low / 2, high * 2, 40) if high > 4 * low else linear_ticks(low * 0.9, high * 1.1)
    axis = alt.Axis(values=ticks, labelExpr=TIME_LABEL, title=None, labelOverlap="greedy", labelSeparation=4)
    return alt.Scale(type="log", nice=False, padding=5), axis


def far_apart(tops: list[float]) -> bool:
    """Whether the smallest of some amounts, all above zero, would not be seen beside the largest."""
    return bool(tops) and max(tops) > 30 * min(tops)


def amount_axis(**more: Any) -> alt.Axis:
    """Return the axis of plain numbers; `more` are options of altair's Axis."""
    return alt.Axis(title=None, labelExpr=AMOUNT, **more)


class YAxis(NamedTuple):
    """How amounts are drawn upwards: what layers of one chart share."""

    scale: alt.Scale
    axis: alt.Axis

    def of(self, column: str) -> alt.Y:
        """Return the channel of a column."""
        return alt.Y(f"{column}:Q", scale=self.scale, axis=self.axis, title=None)


def amount_scale(tops: list[float], values: list[float]) -> tuple[alt.Scale, alt.Axis, bool]:
    """Return scale and axis for amounts whose largest values per case are `tops`, and whether it is logarithmic.

    `values` are all amounts above zero. Amounts far apart are drawn on a logarithm, on which zero has no place.
    """
    seen = [top for top in tops if top > 0]
    if not far_apart(seen):
        return alt.Scale(zero=True, nice=True), amount_axis(tickCount=4), False
    low, high = min(values), max(values)
    ticks = log_ticks(low / 2, high * 2, 6)
    scale = alt.Scale(type="log", nice=False, padding=5)
    return scale, amount_axis(values=ticks), True


def dots(table: str, y: alt.Y, fill: str | alt.Fill) -> Any:
    """Return the layer of rows that are alone between gaps: a line has no length there."""
    mark = within(table).transform_filter("datum.alone").mark_circle(size=9, opacity=1)
    return mark.encode(x=time_axis(), y=y, fill=fill if isinstance(fill, alt.Fill) else alt.FillValue(fill))


def end_label(table: str, column: str, y: alt.Y, color: str, place: int = 0) -> list[Any]:
    """Return the layers of the name of a line, that of its column: on the line, near the end of what is on show.

    Lines of one chart are named at different places (0, 1, …): names of lines that are close do not overlap.
    """
    known = within(table).transform_filter(
        f"datum.{column} > 0 && datum.t <= last - {4 + 32 * place} / max(width, 1) * (last - first)"
    )
    last = known.transform_joinaggregate(newest="max(t)").transform_filter("datum.t === datum.newest")
    style = {"align": "right", "baseline": "bottom", "dy": -4, "fontSize": 10, "fontWeight": "bold"}
    halo = last.mark_text(fill="var(--card)", stroke="var(--card)", strokeWidth=3, opacity=0.85, **style)
    drawn = last.mark_text(fill=color, **style)
    return [each.encode(x=time_axis(), y=y, text=alt.TextValue(column)) for each in (halo, drawn)]


def layer_of(chart: Any) -> dict[str, Any]:
    """Return one layer as plain data, not validated: tests do that, and it takes most of the time."""
    plain: dict[str, Any] = chart.to_dict(validate=False)
    return {name: value for name, value in plain.items() if name not in {"$schema", "config"}}


def finish(layers: list[dict[str, Any]], height: int, length: float | None = None) -> dict[str, Any]:
    """Return the specification of layers, as wide as their place; with `length` (ms) on the time axis of the run."""
    for axis in (layer.get("encoding", {}).get("y", {}).get("axis") for layer in layers if length):
        if isinstance(axis, dict) and axis.get("orient") != "right":
            axis["minExtent"] = axis["maxExtent"] = Y_WIDTH  # time axes below each other begin and end together
    return {
        "$schema": alt.SCHEMA_URL,
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "datasets": {name: rows for layer in layers for name, rows in layer.pop("datasets", {}).items()},
        "params": window(length) if length else [],
        "layer": layers,
    }


TIME_LABEL = (
    "datum.value >= 3600000 ? format(datum.value / 3600000, '~g') + ' h' : "
    "datum.value >= 60000 ? format(datum.value / 60000, '~g') + ' min' : "
    "datum.value >= 1000 ? format(datum.value / 1000, '~g') + ' s' : "
    "datum.value >= 1 ? format(datum.value, '~g') + ' ms' : "
    "datum.value >= 0.001 ? format(datum.value * 1000, '~g') + ' µs' : format(datum.value * 1e6, '~g') + ' ns'"
)


def span_axis(longest: float, **more: Any) -> alt.Axis:
    """Return the linear axis of durations from zero to the longest, ms: whole seconds, minutes or hours."""
    steps = (*STEPS, *(hours * 3_600_000 for hours in HOURS))
    step = next((each for each in steps if longest <= 7 * each), steps[-1] * max(1, round(longest / steps[-1] / 7)))
    ticks: Any = [number * step for number in range(int(longest // step) + 1)] if longest >= 1 else alt.Undefined
    return alt.Axis(title=None, labelExpr=f"datum.value === 0 ? '0' : {TIME_LABEL}", values=ticks, **more)


MINUTES = 5 * 60_000
LONG = (
    *(n * 10.0**p for p in range(-3, 4) for n in (1, 3)),
    *(1000.0 * s for s in (10, 30, 60, 180, 600, 1800, 3600, 7200, 18_000, 36_000, 72_000, 180_000, 360_000)),
)
"""Ticks of logarithmic axes that go beyond MINUTES, ms."""


def log_time(values: list[float], most: int = 7) -> tuple[alt.Scale, alt.Axis]:
    """Return scale and axis (log, ms) for durations from the least to the largest of `values`, all above zero."""
    low, high = min(values) / 1.15, max(values) * 1.15
    ticks = log_ticks(low, high, most) if high < MINUTES else [each for each in LONG if low <= each <= high]
    ticks = ticks[:: max(1, -(-len(ticks) // most))]
    if len(ticks) < 2:
        ticks = linear_ticks(low, high, 4) or [low]
    axis = alt.Axis(values=ticks, labelExpr=TIME_LABEL, title=None, labelOverlap="greedy", labelSeparation=6)
    return alt.Scale(type="log", domain=[low, high], nice=False, clamp=True), axis
