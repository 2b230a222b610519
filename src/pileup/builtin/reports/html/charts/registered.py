"""The charts of the page, registered as anybody's. What draws them is imported when it draws: altair takes a second."""

# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pileup.plugin.charts import Chart, Clock, Group

if TYPE_CHECKING:
    from pileup.plugin.results import RunResults

LEAST, CURVES, HISTOGRAMS, BOXES, BARS = 10, 10, 8, 40, 40
"""Durations that a distribution needs to be drawn; the most curves, histograms, box plots and cases in one chart."""


class Points(Chart):
    """Metrics over the points of a scan, with a line for each value of the other axes; two axes as a heat map, too.

    Of few points also what was under way since each load began, and how long things took, beside each other.
    """

    name = "points"
    section = "points"
    place = 10

    def draw(self, results: RunResults, axis: Clock) -> Iterator[Group]:
        """Yield a group for each test."""
        from pileup.builtin.reports.html.charts import beside, points

        yield from points.groups(results, axis)
        yield from beside.groups(results)


class Cases(Chart):
    """When each case began and ended, by outcome."""

    name = "cases"
    section = "load"
    place = 10

    def draw(self, results: RunResults, axis: Clock) -> Iterator[Group]:
        """Yield one drawing, of cases that are not too many."""
        from pileup.builtin.reports.html.charts import load, tables

        table = tables.cases(results, axis)
        if 0 < len(table["a"]) <= BARS:
            yield Group([load.gantt(table, axis.window)])


class Timeline(Chart):
    """Iterations, throughput, iterations in flight, response times and the scheduling delay, second by second."""

    name = "timeline"
    section = "load"
    place = 20

    def draw(self, results: RunResults, axis: Clock) -> Iterator[Group]:
        """Yield the drawings of one table."""
        from pileup.builtin.reports.html.charts import load, tables, wanted

        if tables.drawn(results):
            table, bounds = tables.timeline(results, axis), wanted.bounds(results, axis)
            made = [
                load.rates(table, axis.window, bounds),
                load.quantiles(table, axis.window, bounds),
                load.in_flight(table, axis.window),
                load.bandwidth(table, axis.window, bounds),
            ]
            yield Group([each for each in made if each], {"timeline": table})
            if delays := load.scheduling_delays(table, axis.window, results.cases):
                yield Group([delays], {"timeline": table}, section="self")


class HeatMap(Chart):
    """Response times by time, as colour: how many iterations took how long, and each cell of a scan of two axes."""

    name = "heat-map"
    section = "load"
    place = 25

    def draw(self, results: RunResults, axis: Clock) -> Iterator[Group]:
        """Yield one drawing of all cases, and one for each test of a scan of two axes with a row for each cell."""
        from pileup.builtin.reports.html.charts import grid, heat, wanted

        if found := heat.heat_map(results, axis, wanted.bounds(results, axis)):
            drawing, data = found
            yield Group([drawing], data)
        yield from grid.against_time(results, axis)


class OpenOperations(Chart):
    """Asynchronous operations: how many are open, and how many end."""

    name = "open-operations"
    section = "load"
    place = 30

    def draw(self, results: RunResults, axis: Clock) -> Iterator[Group]:
        """Yield two drawings where there are such operations."""
        from pileup.builtin.reports.html.charts import detached, tables

        table = tables.detached(results, axis)
        if table["t"]:
            yield Group(detached.charts(table, axis.window), {detached.TABLE: table})


class Hold(Chart):
    """A quantity that a load held, and the level that held it."""

    name = "hold"
    section = "load"
    place = 40

    def draw(self, results: RunResults, axis: Clock) -> Iterator[Group]:
        """Yield a group for each case."""
        from pileup.builtin.reports.html.charts import hold

        for drawings, data in hold.charts(results, axis):
            yield Group(drawings, data)


class Find(Chart):
    """The trials of a level that was looked for, and what was found."""

    name = "find"
    section = "load"
    place = 50

    def draw(self, results: RunResults, axis: Clock) -> Iterator[Group]:
        """Yield a drawing for each condition."""
        from pileup.builtin.reports.html.charts import find

        del axis
        drawings, data = find.charts(results)
        if drawings:
            yield Group(drawings, data)


class Knee(Chart):
    """Throughput and response time against the offered load, with the knee: scans, loads with levels, searches."""

    name = "knee"
    section = "load"
    place = 60

    def draw(self, results: RunResults, axis: Clock) -> Iterator[Group]:
        """Yield one group with two drawings for each test whose load has several levels."""
        from pileup.builtin.reports.html.charts import knee

        yield from knee.groups(results, axis)


class Panels(Chart):
    """Iterations by place, and by each other label, against time: a small chart for each value, on the same axes."""

    name = "panels"
    section = "load"
    place = 70

    def draw(self, results: RunResults, axis: Clock) -> Iterator[Group]:
        """Yield two groups, rates and response times, for each case and label with several values."""
        from pileup.builtin.reports.html.charts import panels

        yield from panels.groups(results, axis)


class Distribution(Chart):
    """Distribution functions of response and service times, and their tails."""

    name = "distribution"
    section = "times"
    place = 10

    def draw(self, results: RunResults, axis: Clock) -> Iterator[Group]:
        """Yield two drawings of the cases with the most iterations."""
        from pileup.builtin.reports.html.charts import latency, tables

        del axis
        chosen = tables.measured(results, LEAST, CURVES)
        everybody = tables.measured(results, LEAST, len(results.cases))
        if len(everybody) > len(chosen):
            yield Group(notes=[f"The {len(chosen)} cases with the most iterations of {len(everybody)}."])
        table = tables.ecdf(chosen)
        if drawn := latency.functions(table, [tables.label(case) for case in chosen]):
            yield Group(drawn, {"ecdf": table}, paired=True)


class Histograms(Chart):
    """Histograms of response times: a case each, and a value of a label each."""

    name = "histograms"
    section = "times"
    place = 20

    def draw(self, results: RunResults, axis: Clock) -> Iterator[Group]:
        """Yield a drawing for each case, of few, and groups with one for each value of a label."""
        from pileup.builtin.reports.html.charts import labelled, latency, tables

        del axis
        made = latency.histograms(tables.measured(results, LEAST, HISTOGRAMS))
        if made:
            data = {drawing.id: table for drawing, table in made}
            heading = "Histograms of response times"
            yield Group([drawing for drawing, _ in made], data, heading, paired=True, small=True)
        yield from labelled.groups(results)


class BoxPlots(Chart):
    """Box plots of the response times of iterations and of the operations inside them."""

    name = "boxes"
    section = "times"
    place = 30

    def draw(self, results: RunResults, axis: Clock) -> Iterator[Group]:
        """Yield one drawing."""
        from pileup.builtin.reports.html.charts import latency, tables

        del axis
        table = tables.boxes(results, BOXES)
        if found := latency.box_plots(table):
            yield Group([found], {"boxes": table})


class Monitors(Chart):
    """Metrics of monitors, a group for each monitor and host."""

    name = "monitors"
    section = "monitors"
    place = 10

    def draw(self, results: RunResults, axis: Clock) -> Iterator[Group]:
        """Yield a group for each monitor and host."""
        from pileup.builtin.reports.html.charts import monitors

        yield from monitors.drawings(results, axis)
