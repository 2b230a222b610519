"""Charts of queries that several workers run together: what each worker did."""

# ruff: noqa: PLC0415  altair takes a second, and `pileup list` loads every plug-in

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pileup.plugin.charts import Chart, Clock, Columns, Drawing, Group
from pileup.plugin.charts.columns import short

if TYPE_CHECKING:
    from pileup.plugin.results import CaseResult, RunResults, Series

CASES, VALUES = 4, 40
"""Cases with charts of their workers; workers whose names have room."""
HEIGHT = 130
By = Mapping[str, float]


def labels_of(series: Series) -> dict[str, str]:
    """Return the labels of a reported number."""
    return dict(part.split("=", 1) for part in series.labels.split(",") if "=" in part)


def reported(results: RunResults, case: CaseResult, metric: str) -> Iterator[tuple[dict[str, str], list[float]]]:
    """Yield labels and values of a number that the test reported during a case."""
    begin, end = case.started or 0, case.ended or 2**63
    for each in results.series:
        if (each.monitor, each.metric) == (case.test, metric):
            values = [value for time, value in zip(each.times, each.values, strict=True) if begin <= time <= end]
            if values:
                yield labels_of(each), values


@dataclass(frozen=True, slots=True)
class Bars:
    """One value for each worker, or for each of something else."""

    id: str
    title: str
    unit: str
    of: Callable[[RunResults, CaseResult], By]
    what: str = "worker"


def by_label(operation: str, label: str, value: Callable[[Any], float | None]) -> Callable[[Any, Any], By]:
    """Return what finds a figure of an operation for each value of a label."""

    def found(_: RunResults, case: CaseResult) -> By:
        values = (
            (each.value, value(each))
            for known in case.operations
            if known.operation == operation
            for by in known.breakdowns
            if by.label == label
            for each in by.values
        )
        return {name: number for name, number in values if number is not None}

    return found


def by_report(metric: str) -> Callable[[RunResults, CaseResult], By]:
    """Return what adds a reported number up for each worker."""

    def found(results: RunResults, case: CaseResult) -> By:
        total: dict[str, float] = {}
        for labels, values in reported(results, case, metric):
            worker = labels.get("worker", "")
            total[worker] = total.get(worker, 0.0) + sum(values)
        return total

    return found


def workers_by_node(results: RunResults, case: CaseResult) -> By:
    """Return how many workers have read files of each node."""
    found: dict[str, set[str]] = {}
    for labels, _ in reported(results, case, "packet_events"):
        found.setdefault(labels.get("node", ""), set()).add(labels.get("worker", ""))
    return {node: len(workers) for node, workers in found.items()}


def _seconds(figure: Any) -> float | None:
    return None if figure.mean.value is None else figure.mean.value / 1e9 * figure.counts.passed


def _milliseconds(figure: Any) -> float | None:
    return None if figure.mean.value is None else figure.mean.value / 1e6


HISTOGRAMS = (
    Bars("packets", "Packets", "packets", by_label("packet", "worker", lambda each: each.counts.passed)),
    Bars("events", "Events", "events", by_report("packet_events")),
    Bars("nodes", "Workers by the node of the file", "workers", workers_by_node, "node"),
    Bars("latency", "Latency of the hand-out", "ms, mean", by_label("ask", "worker", _milliseconds)),
    Bars("processing", "Processing time", "s", by_label("packet", "worker", _seconds)),
    Bars("cpu", "CPU time", "s", by_report("packet_cpu")),
)


class QueryWorkers(Chart):
    """What each worker of a query did: packets, events, latency of the hand-out, processing and CPU time; and nodes.

    Of several points of a scan, the one with the most workers in its first repeat. These are the histograms of the
    PROOF benchmark; a chart of another figure is a class with `bars` of its own.
    """

    name = "query-workers"
    section = "Queries"
    place = 10
    bars: ClassVar[tuple[Bars, ...]] = HISTOGRAMS

    def draw(self, results: RunResults, axis: Clock) -> Iterator[Group]:
        """Yield a group for each test."""
        del axis
        for number, case in enumerate(_largest(results)[:CASES]):
            drawings: list[Drawing] = []
            tables: dict[str, Columns] = {}
            for each in self.bars:
                if values := each.of(results, case):
                    drawing, table = _bars(f"{self.name}-{number}-{each.id}", each, values)
                    drawings.append(drawing)
                    tables[drawing.table] = table
            if drawings:
                yield Group(drawings, tables, heading=f"Workers of {case.name}", paired=True, small=True)


def _largest(results: RunResults) -> list[CaseResult]:
    """Return the case with the most workers of each test that runs queries together."""
    found: dict[str, tuple[int, CaseResult]] = {}
    workers = by_label("packet", "worker", lambda each: each.counts.passed)
    for case in results.cases:
        number = len(workers(results, case))
        if number and case.repeat == case.loop == 1 and number > found.get(case.test, (0, case))[0]:
            found[case.test] = number, case
    return [case for _, case in found.values()]


def _bars(name: str, about: Bars, values: By) -> tuple[Drawing, Columns]:
    import altair as alt

    from pileup.plugin.charts.drawing import amount_axis, color, finish, layer_of, named

    order = sorted(values, key=lambda each: (len(each), each))
    table: Columns = {about.what: order, "value": [short(values[each]) for each in order]}
    many = len(order) > VALUES
    x = alt.X(
        f"{about.what}:N", sort=order, title=about.what, axis=alt.Axis(labels=not many, ticks=False, labelAngle=0)
    )
    y = alt.Y("value:Q", title=None, axis=amount_axis(tickCount=4))
    tips = [alt.Tooltip(f"{about.what}:N"), alt.Tooltip("value:Q", title=about.unit or about.title)]
    layer = named(name).mark_bar(fill=color(0), opacity=0.8).encode(x=x, y=y, tooltip=tips)
    columns = {about.what: about.what, "value": about.unit or about.title}
    spec = finish([layer_of(layer)], HEIGHT)
    return Drawing(name, about.title, about.unit, spec, name, timed=False, columns=columns), table
