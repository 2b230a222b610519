"""Charts of the end of queries: how many workers are active, and how long the tail is."""

# ruff: noqa: PLC0415  altair takes a second, and `pileup list` loads every plug-in

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pileup.builtin.analysis.query_charts import reported
from pileup.plugin.charts import Chart, Clock, Columns, Drawing, Group, Mark
from pileup.plugin.charts.columns import short

if TYPE_CHECKING:
    from pileup.plugin.results import CaseResult, RunResults

POINTS, ROWS = 6, 500
"""Points of a scan whose active workers are drawn, those with the most workers; points of a line, at most."""
HEIGHT, TALL = 130, 200
SECOND = 1e9


class ActiveWorkers(Chart):
    """How many workers had a packet, against the time since a query's case began: its tail is where they become few.

    A drawing for each point of a scan, in its first repeat, with a line for each test.
    """

    name = "active-workers"
    section = "Queries"
    place = 20

    def draw(self, results: RunResults, axis: Clock) -> Iterator[Group]:
        """Yield a group with a drawing for each point."""
        del axis
        drawings: list[Drawing] = []
        tables: dict[str, Columns] = {}
        for number, (title, cases) in enumerate(_points(results)):
            name, table = f"{self.name}-{number}", _active(results, cases)
            if len(table["t"]) > 1:
                drawings.append(_steps(name, title, table))
                tables[name] = table
        if drawings:
            yield Group(drawings, tables, heading="Active workers", paired=True, small=True)


class QueryTail(Chart):
    """The tail of queries as a share of their time, and that time, by the number of workers; a line for each test.

    A dot is a query; lines go through the means.
    """

    name = "query-tail"
    section = "Queries"
    place = 15

    def draw(self, results: RunResults, axis: Clock) -> Iterator[Group]:
        """Yield a group where queries have run with several numbers of workers."""
        del axis
        shares, times = _by_workers(results, "tail_share"), _by_workers(results, "query_seconds")
        if len({workers for _, workers, _ in shares}) < 2:
            return
        drawings: list[Drawing] = []
        tables: dict[str, Columns] = {}
        for name, title, unit, found in (
            ("tail-share", "Tail by the number of workers", "% of the query", shares),
            ("tail-time", "Time of a query by the number of workers", "s", times),
        ):
            drawing, mine = _lines(name, (title, unit), found)
            drawings.append(drawing)
            tables |= mine
        yield Group(drawings, tables, heading="Tail of queries", paired=True, small=True)


def workers_of(results: RunResults, case: CaseResult) -> int:
    """Return how many workers ran the queries of a case together; 0 where none did."""
    found = (labels.get("workers", "0") for labels, _ in reported(results, case, "query_seconds"))
    return max(map(int, found), default=0)


def _points(results: RunResults) -> list[tuple[str, list[CaseResult]]]:
    """Return the points with the most workers, fewest first: title, and a case of each test."""
    found: dict[str, tuple[int, list[CaseResult]]] = {}
    for case in results.cases:
        workers = workers_of(results, case) if case.repeat == case.loop == 1 else 0
        if workers:
            point = ", ".join(f"{axis.rpartition('.')[2]} {value}" for axis, value in case.point.items())
            found.setdefault(point or f"{workers} workers", (workers, []))[1].append(case)
    chosen = sorted(found.items(), key=lambda each: each[1][0])[-POINTS:]
    return [(title, cases) for title, (_, cases) in chosen]


def _active(results: RunResults, cases: list[CaseResult]) -> Columns:
    rows = []
    for case in cases:
        begin, end = case.started or 0, case.ended or 2**63
        points = sorted(
            (time, value)
            for each in results.series
            if (each.monitor, each.metric) == (case.test, "active")
            for time, value in zip(each.times, each.values, strict=True)
            if begin <= time <= end
        )
        step = max(1, len(points) // ROWS)
        chosen = points[::step] + (points[-1:] if (len(points) - 1) % step else [])
        rows += [(case.test, short((time - begin) / 1e6), value) for time, value in chosen]
    return {
        "test": [test for test, _, _ in rows],
        "t": [time for _, time, _ in rows],
        "active": [value for _, _, value in rows],
    }


def _by_workers(results: RunResults, metric: str) -> list[tuple[str, int, float]]:
    """Return test, workers and value of every query that several workers ran together."""
    found = []
    for case in results.cases:
        if workers := workers_of(results, case):
            values = (value for _, each in reported(results, case, metric) for value in each)
            found += [(case.test, workers, value) for value in values]
    return found


def _steps(name: str, title: str, table: Columns) -> Drawing:
    import altair as alt

    from pileup.plugin.charts.drawing import amount_axis, color, finish, layer_of, named, span_axis

    tests = list(dict.fromkeys(table["test"]))
    x = alt.X("t:Q", title=None, axis=span_axis(max(table["t"])))
    y = alt.Y("active:Q", title=None, axis=amount_axis(tickMinStep=1))
    shades = alt.Scale(domain=tests, range=[color(number) for number, _ in enumerate(tests)])
    stroke = alt.Color("test:N", scale=shades, legend=None)
    line = named(name).mark_line(interpolate="step-after").encode(x=x, y=y, color=stroke)
    columns = {"test": "test", "t": "since the begin, ms", "active": "workers with a packet"}
    legend = tuple(Mark(test, color(number), "line") for number, test in enumerate(tests))
    spec = finish([layer_of(line)], HEIGHT)
    return Drawing(name, title, "workers with a packet", spec, name, legend, timed=False, columns=columns)


def _lines(
    name: str, title: tuple[str, str], found: list[tuple[str, int, float]]
) -> tuple[Drawing, dict[str, Columns]]:
    import altair as alt

    from pileup.plugin.charts.drawing import amount_axis, color, finish, layer_of, named

    tests = list(dict.fromkeys(test for test, _, _ in found))
    sizes = sorted({workers for _, workers, _ in found})
    table: Columns = {
        "test": [test for test, _, _ in found],
        "workers": [workers for _, workers, _ in found],
        "value": [short(value) for _, _, value in found],
    }
    axis = alt.Axis(values=sizes, format=",d", labelOverlap=True, grid=False)
    x = alt.X("workers:Q", title="workers", scale=alt.Scale(type="log", nice=False), axis=axis)
    shades = alt.Scale(domain=tests, range=[color(number) for number, _ in enumerate(tests)])
    fill = alt.Color("test:N", scale=shades, legend=None)
    tips = [alt.Tooltip("test:N"), alt.Tooltip("workers:Q"), alt.Tooltip("value:Q", title=title[1])]
    y = alt.Y("value:Q", title=None, axis=amount_axis(tickCount=5), scale=alt.Scale(zero=True))
    mean = alt.Y("mean(value):Q", title=None)
    layers = [
        named(name).mark_line(strokeWidth=1.4).encode(x=x, y=mean, color=fill),
        named(name).mark_circle(size=40, opacity=0.8).encode(x=x, y=y, color=fill, tooltip=tips),
    ]
    columns = {"test": "test", "workers": "workers", "value": title[1]}
    legend = tuple(Mark(test, color(number), "line") for number, test in enumerate(tests))
    spec = finish([layer_of(each) for each in layers], TALL)
    return Drawing(name, *title, spec, name, legend, timed=False, columns=columns), {name: table}
