"""All charts of a page with the tables they draw."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from altair.utils.schemapi import debug_mode

from pileup.builtin.reports.html import points
from pileup.builtin.reports.html.charts import detached, find, hold, marks, monitors, tables
from pileup.builtin.reports.html.charts import latency as latency_charts
from pileup.builtin.reports.html.charts import load as load_charts
from pileup.builtin.reports.html.charts.monitors import Panel
from pileup.builtin.reports.html.charts.series import Columns
from pileup.builtin.reports.html.charts.style import Chart, Mark, with_marks
from pileup.model.results import RunResults

LEAST, CURVES, HISTOGRAMS, BOXES, BARS = 10, 10, 8, 40, 40
"""Durations that a distribution needs to be drawn; the most curves, histograms, box plots and cases in one chart."""
BEHIND = 200
"""Cases behind the lines of a chart, at most."""


@dataclass(slots=True)
class Charts:
    """What the page shows, in its order."""

    axis: tables.Clock
    points: list[points.Group] = field(default_factory=list)
    load: list[Chart] = field(default_factory=list)
    latency: list[Chart] = field(default_factory=list)
    histograms: list[Chart] = field(default_factory=list)
    boxes: list[Chart] = field(default_factory=list)
    panels: list[Panel] = field(default_factory=list)
    data: dict[str, Columns] = field(default_factory=dict)
    left_out: str = ""
    """Which cases have no curve, in words."""
    short: tuple[str, ...] = ()
    """Cases that were over too soon to be drawn against time."""
    marks: tuple[Mark, ...] = ()
    """What the marks on the charts with a time axis mean; none when nothing happened to the run."""

    def all(self) -> list[Chart]:
        """Return every chart in the order of the page."""
        panels = [chart for panel in self.panels for chart in panel.charts]
        return [*points.charts_of(self.points), *self.load, *self.latency, *self.histograms, *self.boxes, *panels]


def charts(results: RunResults) -> Charts:
    """Draw everything that the results have figures for."""
    with debug_mode(False):  # tests check every chart against the schema; it takes most of the time
        return _drawn(results)


def _drawn(results: RunResults) -> Charts:
    made = Charts(tables.clock(results))
    made.points, made.data = points.groups(results)
    made.data["phases"] = tables.phases(results, made.axis)
    everything = tables.cases(results, made.axis)
    made.data["cases"] = tables.backdrop(everything, BEHIND)
    _load(made, results, len(everything["a"]))
    _latency(made, results)
    made.panels, found = monitors.panels(results.series, made.axis)
    made.data |= found
    if marks.drawn(results):
        _mark(made, results)
    return made


def _mark(made: Charts, results: RunResults) -> None:
    """Draw what happened to the run on every chart with a time axis."""
    made.marks = marks.legend(results)
    made.data["events"] = marks.table(results, made.axis)
    layers = marks.layers(results)

    def marked(chart: Chart) -> Chart:
        return replace(chart, spec=with_marks(chart.spec, *layers)) if chart.timed else chart

    made.load = [marked(chart) for chart in made.load]
    made.panels = [replace(panel, charts=tuple(map(marked, panel.charts))) for panel in made.panels]


def _load(made: Charts, results: RunResults, count: int) -> None:
    window = made.axis.window
    if 0 < count <= BARS:
        made.load.append(load_charts.gantt(made.data["cases"], window))
    waiting = tables.detached(results, made.axis)
    drawn = tables.drawn(results)
    made.short = tuple(tables.label(case) for case in results.cases if case.timeline and case not in drawn)
    if drawn:
        _timelines(made, results, window)
    if waiting["t"]:
        made.data["detached"] = waiting
        made.load += detached.charts(waiting, window)
    for drawings, data in hold.charts(results, made.axis):
        made.load += drawings
        made.data |= data
    trials, data = find.charts(results)
    made.load += trials
    made.data |= data


def _timelines(made: Charts, results: RunResults, window: float) -> None:
    table = made.data["timeline"] = tables.timeline(results, made.axis)
    found = [
        load_charts.rates(table, window),
        load_charts.bandwidth(table, window),
        load_charts.in_flight(table, window),
        load_charts.quantiles(table, window),
        load_charts.start_errors(table, window),
    ]
    made.load += [chart for chart in found if chart]


def _latency(made: Charts, results: RunResults) -> None:
    chosen = tables.measured(results, LEAST, CURVES)
    everybody = tables.measured(results, LEAST, len(results.cases))
    if len(everybody) > len(chosen):
        made.left_out = f"The {len(chosen)} cases with the most iterations of {len(everybody)}."
    if chosen:
        made.data["ecdf"] = tables.ecdf(chosen)
        made.latency = latency_charts.functions(made.data["ecdf"], [tables.label(case) for case in chosen])
    for chart, table in latency_charts.histograms(tables.measured(results, LEAST, HISTOGRAMS)):
        made.histograms.append(chart)
        made.data[chart.id] = table
    boxes = tables.boxes(results, BOXES)
    if found := latency_charts.box_plots(boxes):
        made.boxes.append(found)
        made.data["boxes"] = boxes
