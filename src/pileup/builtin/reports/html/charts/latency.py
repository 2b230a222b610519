"""Charts of distributions: how many of how long. No time axis; all on logarithmic durations."""

from __future__ import annotations

from typing import Any

import altair as alt

from pileup.builtin.reports.html.charts import says, tables
from pileup.plugin.charts import Columns, Drawing, Mark
from pileup.plugin.charts.columns import positive
from pileup.plugin.charts.drawing import (
    DASHES,
    INK,
    MUTED,
    QUANTILES,
    amount_axis,
    color,
    finish,
    layer_of,
    log_time,
    named,
)
from pileup.plugin.results import CaseResult
from pileup.plugin.units import format_count

KINDS = {"response": [1, 0], "service": [3, 3]}


def functions(table: Columns, names: list[str]) -> list[Drawing]:
    """Return the distribution functions of response and service time, and their tails on a logarithmic axis."""
    durations = positive(table, "ms")
    if not durations:
        return []
    lines = (Mark(name, color(number)) for number, name in enumerate(names))
    legend = (*lines, Mark("response", INK), Mark("service", INK, "dash"))
    columns = {"case": "case", "kind": "time", "ms": "ms", "share": "share at or below"}
    share = alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="~%", tickCount=5), title=None)
    lowest = min(positive(table, "above"), default=0.1)
    ticks = [value for value in (1, 0.5, 0.1, 0.01, 0.001, 0.0001, 0.00001) if value >= lowest * 0.9]
    scale = alt.Scale(type="log", domain=[min(lowest, 0.5), 1], nice=False, clamp=True)
    labels = "datum.value >= 0.1 ? format(datum.value, '~%') : '1 in ' + format(1 / datum.value, ',.0f')"
    above = alt.Y("above:Q", scale=scale, axis=alt.Axis(values=ticks, labelExpr=labels), title=None)
    body = finish([layer_of(_steps(durations, names, share))], 240)
    tail = finish([layer_of(_steps(durations, names, above).transform_filter("datum.above > 0"))], 240)
    about = "Share of iterations that took at most so long. Response from the intended start, service from the start."
    slow = "The slow ones: share of iterations that took longer."
    given: dict[str, Any] = {"table": "ecdf", "legend": legend, "timed": False, "columns": columns}
    return [
        Drawing("ecdf", "Distribution", "share at or below", body, about=about, says=_within(table, 0.5, 0.9), **given),
        Drawing("tail", "Tail", "share above, log scale", tail, about=slow, says=_within(table, 0.99, 1.0), **given),
    ]


def _within(table: Columns, *shares: float) -> str:
    """Return within which response time so large a share of each case's iterations was: `copy: 50 % within 20 ms`."""
    points: dict[str, list[tuple[float, float]]] = {}
    for case, kind, ms, share in zip(*(table[name] for name in ("case", "kind", "ms", "share")), strict=True):
        if kind == "response" and ms is not None and share is not None:
            points.setdefault(case, []).append((share, ms))
    told = []
    for case, found in points.items():
        least = [min((ms for at, ms in found if at >= share), default=found[-1][1]) for share in shares]
        ends = zip(shares, least, strict=True)
        told.append(f"{case}: {', '.join(f'{share * 100:g} % within {says.duration(ms)}' for share, ms in ends)}.")
    return " ".join(told)


def _steps(durations: list[float], names: list[str], y: alt.Y) -> Any:
    scale, axis = log_time(durations)
    colors = alt.Scale(domain=names, range=[color(number) for number, _ in enumerate(names)])
    dashes = alt.Scale(domain=list(KINDS), range=list(KINDS.values()))
    tips = [alt.Tooltip("case:N"), alt.Tooltip("kind:N", title="time"), alt.Tooltip("ms:Q", format=",.3~r")]
    tips += [alt.Tooltip("share:Q", title="at or below", format=".4~%")]
    return (
        named("ecdf")
        .mark_line(interpolate="step-after", clip=True)
        .encode(
            x=alt.X("ms:Q", scale=scale, axis=axis, title=None),
            y=y,
            stroke=alt.Stroke("case:N", scale=colors, legend=None),
            strokeDash=alt.StrokeDash("kind:N", scale=dashes, legend=None),
            detail=[alt.Detail("case:N"), alt.Detail("kind:N")],
            tooltip=tips,
        )
    )


def histograms(chosen: list[CaseResult]) -> list[tuple[Drawing, Columns]]:
    """Return a histogram of response times per case, all on one axis, each with its table."""
    found = [(case, got) for case in chosen if (got := tables.response(case))]
    data = [tables.histogram(got) for _, got in found]
    durations = [value for table in data for value in positive(table, "low", "high")]
    drawn = []
    for number, ((case, got), table) in enumerate(zip(found, data, strict=True)):
        name = f"hist{number}"
        marks = {q: got.quantiles.get(share) for q, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99))}
        values = {q: figure.value / 1e6 for q, figure in marks.items() if figure and figure.value is not None}
        spec = finish(
            [layer_of(each) for each in (bars(name, color(number), durations), *rules(values, durations))], 110
        )
        legend = tuple(Mark(q, QUANTILES[q], "tick") for q in values)
        columns = {"low": "from, ms", "high": "to, ms", "count": "iterations", "share": "%"}
        unit = f"{format_count(got.n)} iterations"
        drawn.append(
            (
                Drawing(
                    name,
                    tables.label(case),
                    unit,
                    spec,
                    name,
                    legend=legend,
                    timed=False,
                    columns=columns,
                    says=most(table),
                ),
                table,
            )
        )
    return drawn


def most(table: Columns) -> str:
    """Return the range of a histogram, and its highest bin."""
    low, high, share = (table[name] for name in ("low", "high", "share"))
    if not low:
        return ""
    place = max(range(len(share)), key=share.__getitem__)
    peak = f"{share[place]:.3g} % take {says.duration(low[place])} to {says.duration(high[place])}, the most of any bin"
    return f"From {says.duration(low[0])} to {says.duration(high[-1])}; {peak}."


def bars(table: str, fill: str, durations: list[float], what: str = "iterations", top: float | None = None) -> Any:
    """Return the layer of the bins of a histogram; with `top` (%) as shares on an axis that ends there."""
    scale, axis = log_time(durations)
    tips = [
        alt.Tooltip("low:Q", title="from, ms", format=",.3~r"),
        alt.Tooltip("high:Q", title="to, ms", format=",.3~r"),
    ]
    tips += [alt.Tooltip("count:Q", title=what, format=","), alt.Tooltip("share:Q", title="%")]
    amount = alt.Scale(zero=True, nice=True) if top is None else alt.Scale(domain=[0, top], nice=True)
    axis_y = amount_axis(tickCount=3)
    y = alt.Y("count:Q" if top is None else "share:Q", axis=axis_y, scale=amount)
    x = alt.X("low:Q", scale=scale, axis=axis, title=None)
    drawn = named(table).mark_rect(fill=fill, opacity=0.75, clip=True)
    return drawn.encode(x=x, x2=alt.X2("high:Q"), y=y, y2=alt.Y2Datum(0), tooltip=tips)


def rules(values: dict[str, float], durations: list[float]) -> list[Any]:
    """Return the layer of quantiles (ms) by their names; none where there are none."""
    scale, axis = log_time(durations)
    rows = [{"q": q, "ms": float(f"{value:.5g}")} for q, value in values.items()]
    if not rows:
        return []
    colors = alt.Scale(domain=list(QUANTILES), range=list(QUANTILES.values()))
    dashes = alt.StrokeDash("q:N", scale=alt.Scale(domain=list(DASHES), range=list(DASHES.values())), legend=None)
    drawn = alt.Chart(alt.InlineData(values=rows)).mark_rule(strokeWidth=1.5, clip=True)
    x = alt.X("ms:Q", scale=scale, axis=axis, title=None)
    tips = [alt.Tooltip("q:N", title="percentile"), alt.Tooltip("ms:Q", format=",.3~r")]
    rule = drawn.encode(x=x, stroke=alt.Stroke("q:N", scale=colors, legend=None), strokeDash=dashes, tooltip=tips)
    return [rule, *(_named_rule(q, ms, number, x) for number, (q, ms) in enumerate(values.items()))]


def _named_rule(q: str, ms: float, number: int, x: alt.X) -> Any:
    """Return the name of a rule at its top, each on a row of its own: rules may be close."""
    style = {"align": "left", "baseline": "top", "dx": 3, "dy": 10 * number, "fontSize": 9}
    point: Any = alt.Chart(alt.InlineData(values=[{"q": q, "ms": float(f"{ms:.5g}")}]))
    drawn = point.mark_text(fill=QUANTILES[q], fontWeight="bold", **style)
    return drawn.encode(x=x, y=alt.YValue(0), text=alt.Text("q:N"))


def box_plots(table: Columns) -> Drawing | None:
    """Return box plots of response times, one row per case and operation; None when there are none."""
    durations = positive(table, "low", "high")
    if not durations:
        return None
    scale, axis = log_time(durations)
    y = alt.Y("row:N", sort=None, title=None, axis=alt.Axis(labelLimit=170, maxExtent=180, grid=False, domain=False))
    titles = {"low": "p1", "q1": "p25", "median": "p50", "q3": "p75", "high": "p99", "mean": "mean"}
    tips = [alt.Tooltip("row:N", title="of"), alt.Tooltip("n:Q", format=",")]
    tips += [alt.Tooltip(f"{name}:Q", title=f"{title}, ms", format=",.3~r") for name, title in titles.items()]

    def layer(mark: str, low: str, high: str | None, **style: object) -> Any:
        x = alt.X(f"{low}:Q", scale=scale, axis=axis, title=None)
        drawn = getattr(named("boxes"), f"mark_{mark}")(clip=True, **style).encode(x=x, y=y, tooltip=tips)
        return drawn.encode(x2=alt.X2(f"{high}:Q")) if high else drawn

    layers = [
        layer("rule", "low", "high", stroke=MUTED),
        layer("bar", "q1", "q3", fill="var(--c0)", opacity=0.55, size=11),
        layer("tick", "median", None, stroke="var(--ink)", thickness=2, size=13),
        layer("point", "mean", None, stroke="var(--ink)", fill="var(--card)", size=18, strokeWidth=1),
    ]
    spec = finish([layer_of(each) for each in layers], max(60, 22 * len(table["row"])))
    legend = (
        Mark("p1 to p99", MUTED),
        Mark("p25 to p75", "var(--c0)", "area"),
        Mark("p50", INK, "tick"),
        Mark("mean", INK, "dot"),
    )
    columns = {"row": "case", "n": "n"} | {name: f"{title}, ms" for name, title in titles.items()}
    known = [(value, name) for value, name in zip(table["median"], table["row"], strict=True) if value is not None]
    ends = [f"{says.duration(value)} ({name})" for value, name in (min(known), max(known))]
    said = f"The medians are from {ends[0]} to {ends[1]}." if len(known) > 1 else f"The median is {ends[0]}."
    return Drawing(
        "boxes",
        "Cases and operations side by side",
        "response time, log scale",
        spec,
        "boxes",
        legend=legend,
        timed=False,
        columns=columns,
        says=said,
    )
