"""Charts of the monitors: one per group of metrics, on the time axis of the load."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from pileup.builtin.reports.html.charts import says, stacks, tables, wanted
from pileup.builtin.reports.html.charts.stacks import Queue
from pileup.builtin.reports.html.charts.wanted import Bound, Lines
from pileup.plugin.charts import Clock, Columns, Drawing, Mark
from pileup.plugin.charts import Group as Drawings
from pileup.plugin.charts.columns import Number, largest, mean, scaled
from pileup.plugin.charts.drawing import STYLES, amount_axis, color, dots, hits, style, time_axis, timed, within
from pileup.plugin.results import OWN_MONITOR, RunResults, Series

POINTS = 360
"""Points of one series, at most; beyond, means are drawn."""
SERIES = 8
"""Series in one chart, at most: those with the largest means."""
CHARTS = 48
HEIGHT = 84
TITLES = {
    "cpu": "CPU",
    "rss": "Memory held (RSS)",
    "rss_anon": "Memory held that belongs to no file (anonymous RSS)",
    "load": "Load average",
    "loopback": "Network within the machine",
    "number": "Number",
    "disk_busy": "Busiest disk",
    "children_cpu": "CPU of commands that pileup started",
    "total_cpu": "CPU of pileup, commands included",
    "busiest_thread": "CPU of the busiest thread",
    "run_queue": "Time ready to run without a CPU",
    "lag": "Wake-up delay",
    "loop_lag": "Wake-up delay of event loops",
    "steal": "CPU time taken by the hypervisor",
    "pressure": "Time in which something waited for a CPU",
}
ORDER = [
    "jobs",
    "cpu",
    "load",
    "memory",
    "rss",
    "rss_anon",
    "network",
    "loopback",
    "disk",
    "disk_operations",
    "disk_busy",
    "processes",
    "number",
    "threads",
    "open_files",
]
NAMES = ("all", "mean", "largest", "used", "available", "total", "in", "out", "read", "write")


@dataclass(frozen=True, slots=True)
class Group:
    """Series that belong into one chart. `scope` is who measured where."""

    scope: str
    metric: str
    unit: str
    series: tuple[Series, ...]
    kind: str = ""
    """What distinguishes it from other groups of the metric: modes of CPU, states of jobs."""


@dataclass(frozen=True, slots=True)
class Panel:
    """All charts of one monitor on one host, and what needed none."""

    scope: str
    charts: tuple[Drawing, ...]
    quiet: tuple[str, ...]
    """Metrics that were zero all the time."""
    left_out: int
    """Charts that found no room."""
    own: bool = False
    """Whether it is what pileup samples of itself."""
    once: tuple[str, ...] = ()
    """What has one moment alone, in words: a point is no chart."""


def groups(series: tuple[Series, ...]) -> list[Group]:
    """Put series of one monitor, host, metric and unit together; load1, load5 and load15 are one metric.

    What is stacked is apart: CPU by mode, and jobs by state but those that have ended.
    """
    found: dict[tuple[str, str, str, str], list[Series]] = {}
    for each in series:
        key = _scope(each), re.sub(r"^load\d+$", "load", each.metric), each.unit, stacks.kind_of(each)
        found.setdefault(key, []).append(each)
    made = [Group(*key[:3], tuple(members), key[3]) for key, members in found.items()]
    both = {(each.scope, each.metric) for each in made if each.kind == "modes"}
    return [each for each in made if each.kind or (each.scope, each.metric) not in both or _several(each)]


def _scope(series: Series) -> str:
    return f"{series.monitor} on {series.host}" if series.host else series.monitor


def _several(group: Group) -> bool:
    """Whether CPU is that of several processes: of one alone its modes have shown all."""
    return len({(each.times, each.values) for each in group.series}) > 1


def panels(
    series: tuple[Series, ...], axis: Clock, bounds: Sequence[Bound] = ()
) -> tuple[list[Panel], dict[str, Columns]]:
    """Return a panel per monitor and host, and the tables its charts draw."""
    data: dict[str, Columns] = {}
    queue = stacks.queue_of(series, axis, POINTS)
    made: dict[str, list[Drawing]] = {}
    quiet: dict[str, list[str]] = {}
    left: dict[str, int] = {}
    once: dict[str, list[str]] = {}
    for group in sorted(groups(series), key=_place):
        made.setdefault(group.scope, [])
        if _silent(group):
            quiet.setdefault(group.scope, []).append(_title(group))
        elif len({time for each in group.series for time in each.times}) == 1:
            once.setdefault(group.scope, []).extend(map(_in_words, group.series))
        elif len(data) >= CHARTS:
            left[group.scope] = left.get(group.scope, 0) + 1
        else:
            name = f"monitor{len(data)}"
            chart, data[name] = _chart(name, group, axis, queue, bounds)
            made[group.scope].append(chart)
    if queue is not None and any(group.kind == "modes" for group in groups(series)):
        data[stacks.TABLE] = queue.table
    own = {_scope(each) for each in series if each.monitor == OWN_MONITOR}
    found = [
        Panel(
            scope,
            tuple(each),
            tuple(quiet.get(scope, ())),
            left.get(scope, 0),
            scope in own,
            tuple(once.get(scope, ())),
        )
        for scope, each in made.items()
    ]
    return found, data


def drawings(results: RunResults, axis: Clock) -> Iterator[Drawings]:
    """Yield the charts of each monitor and host, with what needed none below them."""
    found, data = panels(results.series, axis, wanted.bounds(results, axis))
    for panel in found:
        names = {chart.table for chart in panel.charts}
        mine = {name: table for name, table in data.items() if name in names or name == stacks.TABLE}
        section = "self" if panel.own else ""
        yield Drawings(panel.charts, mine, panel.scope, tuple(_below(panel)), paired=True, small=True, section=section)


def _below(panel: Panel) -> Iterator[str]:
    if panel.once:
        yield f"Measured once: {', '.join(panel.once)}."
    if panel.quiet:
        yield f"Zero all the time: {', '.join(panel.quiet)}."
    if panel.left_out:
        yield f"{panel.left_out} more metrics are in the record: pileup export."


def _in_words(series: Series) -> str:
    (value,) = series.values
    divisor, unit = scaled(series.unit, abs(value))
    name = series.metric.replace("_", " ") + (f" ({series.labels})" if series.labels else "")
    return f"{name} {value / divisor:.4g} {unit}".strip()


def _place(group: Group) -> tuple[str, int, str, bool]:
    rank = ORDER.index(group.metric) if group.metric in ORDER else len(ORDER)
    return group.scope, rank, group.metric, group.kind in {"", "ended"}


def _silent(group: Group) -> bool:
    """Whether there is nothing to see: all zero, or only a total that never changed beside zeros."""
    values = [each for each in group.series if "kind=total" not in each.labels]
    return not any(value for each in values or group.series for value in each.values)


def _title(group: Group) -> str:
    if group.kind == "ended":
        return "Jobs that have ended"
    if group.metric == "cpu" and not group.kind and any(each.labels.startswith("of=") for each in group.series):
        return "CPU by process"
    return TITLES.get(group.metric, group.metric.replace("_", " ").capitalize())


def _name(series: Series, group: Group) -> str:
    """Return what distinguishes a series from the others of its chart: the values of its labels, else the metric."""
    values = ", ".join(map(_value, series.labels.split(","))) if series.labels else ""
    if group.metric == "load" and series.metric != "load":
        return f"{series.metric[4:]} min"
    return values or series.metric.replace("_", " ")


def _value(label: str) -> str:
    """Return what a label says: its value, with its name where that is only a number."""
    name, _, value = label.partition("=")
    return f"{name} {value}" if value.isdigit() else value or label


def _chosen(group: Group) -> list[tuple[str, str, Series]]:
    """Return name, colour and series of what is drawn as lines."""
    named = [(_name(each, group), each) for each in group.series]
    named = _apart(sorted(named, key=lambda pair: _rank(pair[0])))
    if len(named) > SERIES:
        named = sorted(named, key=lambda pair: -(mean(pair[1].values) or 0))[:SERIES]
    return [(name, color(number), each) for number, (name, each) in enumerate(named)]


def _rank(name: str) -> tuple[int, float, str]:
    """Return where a series is in a legend: well known names in their order, then numbers by size, then others."""
    number = re.match(r"\d+", name)
    known = NAMES.index(name) if name in NAMES else len(NAMES)
    return known, float(number.group()) if number else math.inf, name


def _apart(named: list[tuple[str, Series]]) -> list[tuple[str, Series]]:
    """Make one of series that lie upon each other: of a single process all, mean and largest are one line."""
    found: dict[tuple[tuple[int, ...], tuple[float, ...]], tuple[str, Series]] = {}
    for name, each in named:
        key = each.times, each.values
        found[key] = (f"{found[key][0]} = {name}", found[key][1]) if key in found else (name, each)
    return list(found.values())


def _chart(
    name: str, group: Group, axis: Clock, queue: Queue | None, bounds: Sequence[Bound] = ()
) -> tuple[Drawing, Columns]:
    stack = stacks.stacked(group.series) if group.kind else []
    chosen = stack or _chosen(group)
    moments = sorted({time for _, _, each in chosen for time in each.times})
    top = largest([value for _, _, each in chosen for value in each.values]) or 0
    divisor, unit = scaled(group.unit, abs(float(top)))
    columns = [_aligned(each, moments, divisor) for _, _, each in chosen]
    table = tables.sampled(moments, columns, axis, POINTS)
    keys = [f"s{number}" for number in range(len(chosen))]
    colors = [shade for _, shade, _ in chosen]
    tips = [alt.Tooltip(f"{key}:Q", title=text, format=",.4~r") for key, (text, _, _) in zip(keys, chosen, strict=True)]
    lines = _wanted(name, group, [] if stack else [each for _, _, each in chosen], divisor, bounds)
    dotted = any(table["alone"])
    marks = _stack(name, keys, colors, _whole(group)) if stack else _lines(name, keys, colors, lines, dotted=dotted)
    several = len(chosen) > 1 or chosen[0][0] != group.metric.replace("_", " ")
    marked = ((text, shade, "area" if stack else style(place)) for place, (text, shade, _) in enumerate(chosen))
    legend = tuple(Mark(*each) for each in marked) if several else ()
    readable = {"when": "time"} | {key: text for key, (text, _, _) in zip(keys, chosen, strict=True)}
    over = queue if stack and group.kind == "modes" else None
    spec = lines.within(timed([*marks, *([over.layer()] if over else []), hits(name, tips)], axis.window, HEIGHT))
    if over:
        spec["resolve"], legend = {"scale": {"y": "independent"}}, (*legend, over.mark)
    told = f"{_left_out(group, len(chosen)) if not stack else ''} {lines.about}".strip()
    names = {key: text for key, (text, _, _) in zip(keys, chosen, strict=True)}
    said = [says.lines(table, names, unit)]
    said += [says.crossed(table, key, names[key], lines) for key in keys if len(keys) == 1]
    return Drawing(
        name,
        _title(group),
        unit,
        spec,
        name,
        (*legend, *lines.legend),
        told,
        columns=readable,
        says=" ".join(filter(None, said)),
    ), table


def _wanted(name: str, group: Group, drawn: list[Series], divisor: float, bounds: Sequence[Bound]) -> Lines:
    """Return the thresholds of criteria on what is drawn, by whatever function of the samples."""
    asked = [each for each in bounds if any(each.of_series(series) for series in drawn)]
    values = [value / divisor for series in drawn for value in series.values]
    return wanted.lines(f"wanted_{name}", asked, values, wanted.in_unit(group.unit, divisor))


def _left_out(group: Group, drawn: int) -> str:
    return f"The {SERIES} largest of {len(group.series)}." if len(group.series) > drawn == SERIES else ""


def _whole(group: Group) -> bool:
    """Whether a stack is of shares of one whole: CPU of a machine, not of processes, which may take several cores."""
    return any(stacks.mode_of(each) == "idle" for each in group.series)


def _aligned(series: Series, moments: list[int], divisor: float) -> list[Number]:
    known = dict(zip(series.times, series.values, strict=True))
    return [None if (value := known.get(time)) is None else value / divisor for time in moments]


def _lines(name: str, keys: list[str], colors: list[str], wants: Lines, *, dotted: bool) -> list[Any]:
    y = amount_axis(tickCount=3)
    scale = alt.Scale(zero=True, nice=True)
    amounts = [alt.Y(f"{key}:Q", axis=y, scale=scale, title=None) for key in keys]
    dashes = [STYLES[style(place)] for place, _ in enumerate(colors)]
    lines = [within(name).mark_line(stroke=shade, strokeDash=dash) for shade, dash in zip(colors, dashes, strict=True)]
    drawn = [
        line.encode(x=time_axis(), y=y, detail=alt.Detail("run:N")) for line, y in zip(lines, amounts, strict=True)
    ]
    drawn += [dots(name, y, shade) for y, shade in zip(amounts, colors, strict=True) if dotted]
    return [*wants.shades(y, scale), *drawn, *wants.rules(y, scale)]


def _stack(name: str, keys: list[str], colors: list[str], whole: bool) -> list[Any]:
    axis = alt.Axis(title=None, values=[0, 50, 100]) if whole else amount_axis(tickCount=3)
    scale = alt.Scale(domain=[0, 100]) if whole else alt.Scale(zero=True, nice=True)
    y = alt.Y("low:Q", stack=None, scale=scale, axis=axis)
    fill = alt.Fill("key:N", scale=alt.Scale(domain=keys, range=colors), legend=None)
    folded = within(name).transform_fold(keys, as_=["key", "value"])
    # By a transform of its own: a stack of the encoding would bring each run up to the times of all others.
    piled = folded.transform_stack(stack="value", groupby=["t"], sort=[alt.SortField("key")], as_=["low", "high"])
    return [
        piled.mark_area(opacity=0.7).encode(
            x=time_axis(), y=y, y2=alt.Y2("high:Q"), fill=fill, detail=alt.Detail("run:N")
        )
    ]
