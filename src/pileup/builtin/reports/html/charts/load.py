"""Charts of the load against the time of the run: cases, starts and ends per second, bytes, clients, quantiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt

from pileup.builtin.reports.html.charts import says, wanted
from pileup.builtin.reports.html.charts.wanted import Bound, Lines
from pileup.plugin.charts import Columns, Drawing, Mark
from pileup.plugin.charts.columns import positive, scaled
from pileup.plugin.charts.drawing import (
    BAD,
    GOOD,
    INK,
    MUTED,
    QUANTILES,
    STYLES,
    WARN,
    amount_scale,
    end_label,
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
from pileup.plugin.results import CaseResult
from pileup.plugin.units import counted, format_count, format_time

OUTCOMES = {"passed": GOOD, "failed": BAD, "error": BAD, "unknown": WARN, "unavailable": WARN, "not run": MUTED}
LINES = [alt.Detail("case:N"), alt.Detail("run:N")]
"""What a line goes through: the rows of a case between which nothing is missing."""
SPARSE = 150
"""Rows of the timeline up to which each value gets a point."""
SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
STROKES = dict(zip(QUANTILES, STYLES, strict=False))
RATES = {"started": "dotted", "passed": "line", "not_passed": "dash", "missed": "dashdot"}
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
    """Return the chart of cases in time, coloured by outcome, what is left out of the figures shaded.

    A case has a row with its name above its bar: names beside the bars would move the time axis.
    """
    count = len(table["case"])
    room = alt.Axis(labels=False, ticks=False, domain=False, grid=False, title=None)
    rows = alt.Scale(domain=[0, count], reverse=True, nice=False, zero=False)
    colors = alt.Scale(domain=list(OUTCOMES), range=list(OUTCOMES.values()))
    fill = alt.Color("outcome:N", scale=colors, legend=None)
    tips = [alt.Tooltip(f"{name}:N") for name in ("case", "load", "outcome")] + [alt.Tooltip("when:N", title="time")]
    places = {"top": "datum.n + 0.52", "foot": "datum.n + 0.92", "name": "datum.n + 0.5"}

    def y(column: str) -> alt.Y:
        return alt.Y(f"{column}:Q", scale=rows, axis=room, title=None)

    placed = in_window("cases").transform_calculate(**places)
    bars = placed.mark_rect(clip=True, cornerRadius=2, strokeWidth=1).encode(
        x=time_axis("a"), x2=alt.X2("b:Q"), y=y("top"), y2=alt.Y2("foot:Q"), fill=fill, stroke=fill, tooltip=tips
    )
    pale = (
        in_window("phases")
        .transform_calculate(**places)
        .mark_rect(clip=True, fill="var(--card)", opacity=0.45)
        .encode(
            x=time_axis("a"),
            x2=alt.X2("b:Q"),
            y=y("top"),
            y2=alt.Y2("foot:Q"),
            tooltip=[*tips[:1], alt.Tooltip("phase:N")],
        )
    )
    spec = finish([layer_of(each) for each in (*_bar_names(placed, y("name")), bars, pale)], 24 * count, length)
    legend = tuple(Mark(word, color, "area") for word, color in OUTCOMES.items() if word in table["outcome"])
    about = "Pale: set-up, ramp and warm-up, which are left out of all figures."
    columns = {"case": "case", "when": "time", "outcome": "outcome"}
    said = _say_cases(table)
    return Drawing("cases", "Cases", "outcome", spec, "cases", legend, about, columns=columns, says=said)


def _say_cases(table: Columns) -> str:
    outcomes = Counter(table["outcome"])
    told = ", ".join(f"{format_count(number)} {word}" for word, number in outcomes.most_common())
    took = [(b - a, a, b, case) for a, b, case in zip(table["a"], table["b"], table["case"], strict=True)]
    _, a, b, case = max(took)
    return f"{counted(len(took), 'case')}: {told}. The longest, {case}, took from {says.moment(a)} to {says.moment(b)}."


def _bar_names(placed: Any, y: alt.Y) -> list[Any]:
    """Return the names above the bars: from where one begins, or up to the end of one that begins late."""
    late = "datum.a > first + (last - first) * 0.6"
    style = {"baseline": "bottom", "fill": INK, "fontSize": 11, "limit": {"expr": "width * 0.6"}}
    label = "datum.case + (datum.outcome === 'passed' ? '' : ': ' + datum.outcome)"
    begins = placed.transform_filter(f"!({late})").transform_calculate(at="max(datum.a, first)", label=label)
    ends = placed.transform_filter(late).transform_calculate(at="min(datum.b, last)", label=label)
    return [
        begins.mark_text(align="left", **style).encode(x=time_axis("at"), y=y, text=alt.Text("label:N")),
        ends.mark_text(align="right", **style).encode(x=time_axis("at"), y=y, text=alt.Text("label:N")),
    ]


def rates(table: Columns, length: float, bounds: Sequence[Bound] = ()) -> Drawing:
    """Return iterations per second: started, passed, not passed, and missed when any were."""
    asked = [each for each in bounds if each.of_iterations(("response", "passed"), ("rate",))]
    lines = wanted.lines("wanted_rates", asked, positive(table, "passed", "started"), lambda _: 1.0)
    missed = {"missed": WARN} if any(table["missed"]) else {}
    shown = {"started": MUTED, "passed": GOOD, "not_passed": BAD} | missed
    how = _how(table, "passed", "started", lines=lines)
    words = {name: name.replace("_", " ") for name in shown}
    area = _area("passed", GOOD, how)
    zeros, none = _zeros(table, "passed", GOOD, how)
    drawn = [_line(name, color, how, RATES[name]) for name, color in shown.items()]
    tips = _tips({name: f"{word} /s" for name, word in words.items()})
    legend = tuple(Mark(words[name], color, RATES[name]) for name, color in shown.items())
    layers = [*lines.shades(how.axis, how.scale), *area, *drawn, *zeros, *lines.rules(how.axis, how.scale)]
    spec = lines.within(timed([*layers, hits("timeline", tips)], length))
    about = f"Started above passed: the system does not keep up, or answers badly. {lines.about}".strip()
    told = [says.lines(table, words | {"started": "Started"}, "per second")]
    told.append(says.crossed(table, "passed", "Passed", lines))
    said = " ".join(filter(None, told))
    return Drawing(
        "rates",
        "Iterations",
        f"per second{how.said}",
        spec,
        "timeline",
        says=said,
        legend=(*legend, *none, *lines.legend),
        about=about,
        columns=_read(words),
    )


def bandwidth(table: Columns, length: float, bounds: Sequence[Bound] = ()) -> Drawing | None:
    """Return bytes per second, None when no bytes were moved. Brings its column into a unit that is easy to read."""
    tops = [top for top in _tops(table, "bandwidth") if top > 0]
    if not tops:
        return None
    divisor, unit = scaled("B/s", min(tops) if far_apart(tops) else max(tops))
    table["bandwidth"] = [None if value is None else value / divisor for value in table["bandwidth"]]
    asked = [each for each in bounds if each.of_iterations(("bytes",), ("rate",))]
    lines = wanted.lines("wanted_bandwidth", asked, positive(table, "bandwidth"), lambda _: divisor)
    how = _how(table, "bandwidth", lines=lines)
    zeros, none = _zeros(table, "bandwidth", "var(--c0)", how)
    drawn = [*_area("bandwidth", "var(--c0)", how), _line("bandwidth", "var(--c0)", how), *zeros]
    layers = [*lines.shades(how.axis, how.scale), *drawn, *lines.rules(how.axis, how.scale)]
    spec = lines.within(timed([*layers, hits("timeline", _tips({"bandwidth": unit}))], length))
    columns = _read({"bandwidth": unit})
    told = [says.lines(table, {"bandwidth": "Throughput"}, unit)]
    said = " ".join(filter(None, [*told, says.crossed(table, "bandwidth", "Throughput", lines)]))
    return Drawing(
        "bandwidth",
        "Throughput",
        unit + how.said,
        spec,
        "timeline",
        says=said,
        legend=(*none, *lines.legend),
        about=lines.about,
        columns=columns,
    )


def in_flight(table: Columns, length: float) -> Drawing:
    """Return iterations under way and the clients there are."""
    words = {"in_flight": "in flight", "clients": "clients"}
    how = _how(table, "clients")
    lines = [_line("clients", MUTED, how, "dash"), _line("in_flight", "var(--c4)", how)]
    zeros, none = _zeros(table, "in_flight", "var(--c4)", how)
    spec = timed([*_area("in_flight", "var(--c4)", how), *lines, *zeros, hits("timeline", _tips(words))], length)
    legend = (Mark("in flight", "var(--c4)"), Mark("clients", MUTED, "dash"), *none)
    columns = _read(words)
    about = "Where in flight reaches clients, all clients are waiting for an answer."
    return Drawing(
        "in_flight",
        "In flight",
        f"iterations, clients{how.said}",
        spec,
        "timeline",
        about=about,
        legend=legend,
        columns=columns,
        says=says.lines(table, {"in_flight": "In flight", "clients": "clients"}),
    )


def quantiles(table: Columns, length: float, bounds: Sequence[Bound] = ()) -> Drawing | None:
    """Return quantiles of the response time against time, None when nothing passed."""
    values = positive(table, *QUANTILES)
    if not values:
        return None
    asked = [each for each in bounds if each.of_iterations(("response",), ("quantile", "mean", "max"))]
    wants = wanted.lines("wanted_quantiles", asked, values, lambda _: 1e6)
    how = Scaled(*free_log_time([*values, *wants.values]), logarithmic=True, points=_sparse(table))
    known = {name: color for name, color in QUANTILES.items() if positive(table, name)}
    lines = [_line(name, color, how, STROKES[name]) for name, color in known.items()]
    names = [
        layer
        for place, (name, color) in enumerate(known.items())
        for layer in end_label("timeline", name, _y(name, how), color, place)
    ]
    tips = [alt.Tooltip(f"{name}:Q", title=f"{name}, ms", format=",.3~r") for name in known]
    legend = tuple(Mark(name, color, STROKES[name]) for name, color in known.items())
    layers = [*wants.shades(how.axis, how.scale), *lines, *wants.rules(how.axis, how.scale), *names]
    spec = wants.within(timed([*layers, hits("timeline", [alt.Tooltip("case:N"), *tips])], length, 170))
    columns = _read({name: f"{name}, ms" for name in known})
    about = "From the intended start of each iteration to its answer; what did not pass is slower than any. "
    about += f"A second has a quantile where its values are enough for one: p90 takes 36, p99 takes 368. {wants.about}"
    return Drawing(
        "quantiles",
        "Response time",
        "log scale",
        spec,
        "timeline",
        legend=(*legend, *wants.legend),
        about=about.strip(),
        columns=columns,
        says=_say_quantiles(table, list(known), wants),
    )


def _say_quantiles(table: Columns, known: list[str], wants: Lines) -> str:
    """Return the ranges of the quantiles, and when each was past a threshold that is of itself."""
    told = [says.lines(table, {name: name for name in known}, told=says.duration)]
    for name in known:
        mine = [one for one in wants.drawn if one[0].check.quantile == SHARES[name]]
        told.append(says.crossed(table, name, name, replace(wants, drawn=tuple(mine))))
    return " ".join(filter(None, told))


def scheduling_delays(table: Columns, length: float, cases: Sequence[CaseResult]) -> Drawing | None:
    """Return how late iterations began (the latest of each second), None where that is not known."""
    values = positive(table, "latest")
    if not values:
        return None
    how = Scaled(*free_log_time(values), logarithmic=True, points=_sparse(table))
    tips = [alt.Tooltip("case:N"), alt.Tooltip("latest:Q", title="latest, ms", format=",.3~r")]
    spec = timed([_line("latest", "var(--c5)", how), hits("timeline", tips)], length, 110)
    about = (
        "How late the latest iteration of each second began: what pileup adds to response times at most. "
        "Where all clients were busy it has the wait for one, too."
    )
    columns = _read({"latest": "latest, ms"})
    said = f"{says.lines(table, {'latest': 'Latest'}, told=says.duration)} {_say_delays(cases)}".strip()
    return Drawing(
        "late", "Scheduling delay", "largest, log scale", spec, "timeline", about=about, columns=columns, says=said
    )


def _say_delays(cases: Sequence[CaseResult]) -> str:
    """Return the delays over the measured time of each case, of those that were latest where there are many."""
    known = [(case.delay, case) for case in cases if case.delay]
    latest = sorted(known, key=lambda one: -one[0].p99)[: says.COLUMNS]
    told = "; ".join(
        f"{case.name}{_waited(case)}: half within {format_time(late.p50)}, 99 % within {format_time(late.p99)}, "
        f"all within {format_time(late.largest)}"
        for late, case in latest
    )
    more = f"; {counted(len(known) - len(latest), 'more case')} less late" if len(known) > len(latest) else ""
    return f"Over the measured time, {told}{more}." if told else ""


def _waited(case: CaseResult) -> str:
    """Return that starts waited for a client, where some were missed for lack of one: pileup is not to blame then."""
    return " (its starts waited for a client)" if case.iterations and case.iterations.counts.missed else ""


def _how(table: Columns, *columns: str, lines: Lines | None = None) -> Scaled:
    """Return how columns are drawn so that the small cases are seen beside the large, and `lines` beside both."""
    tops = [top for column in columns for top in _tops(table, column)]
    values = positive(table, *columns) + [value for value in (lines.values if lines else ()) if value > 0]
    return Scaled(*amount_scale(tops, values), points=_sparse(table))


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


def _line(column: str, color: str, how: Scaled, kind: str = "line") -> Any:
    """Return a line with gaps where nothing was measured, and on a logarithm where there was nothing."""
    points, dashes = how.points and POINT | {"fill": color}, STYLES[kind]
    mark = within("timeline").mark_line(stroke=color, strokeDash=dashes, point=points)
    drawn = mark.encode(x=time_axis(), y=_y(column, how), detail=LINES)
    above = f"datum.{column} > 0 ? datum.{column} : null"
    return drawn.transform_calculate(**{column: above}) if how.logarithmic else drawn


def _zeros(table: Columns, column: str, color: str, how: Scaled) -> tuple[list[Any], tuple[Mark, ...]]:
    """Return marks on the lower edge where a column is zero, with their entry in a legend: a logarithm has no zero."""
    if not how.logarithmic or all(value != 0 for value in table[column]):
        return [], ()
    mark = within("timeline").transform_filter(f"datum.{column} === 0")
    drawn = mark.mark_point(shape="triangle-down", size=22, fill=color, strokeWidth=0, yOffset=-3)
    return [drawn.encode(x=time_axis(), y=alt.YValue("height"))], (Mark("zero", color, "dot"),)


def _tips(columns: dict[str, str]) -> list[alt.Tooltip]:
    numbers = (alt.Tooltip(f"{name}:Q", title=title, format=",.4~r") for name, title in columns.items())
    return [alt.Tooltip("case:N"), *numbers]


def _read(columns: dict[str, str]) -> dict[str, str]:
    return {"case": "case", "when": "time", **columns}
