"""Charts by label: a histogram of response times for each value, all values of a label on the same axes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from pileup.builtin.reports.html.charts import latency, tables
from pileup.plugin.charts import Columns, Drawing, Group, Mark
from pileup.plugin.charts.columns import positive, short
from pileup.plugin.charts.drawing import BAD, GOOD, QUANTILES, color, finish, layer_of
from pileup.plugin.results import Breakdown, CaseResult, LabelFigure, OperationResult, RunResults, apart_words
from pileup.plugin.units import format_count

PANELS = 12
"""Values of a label that are drawn: those that stand apart, then those with the most operations."""
GROUPS = 6
"""Operations by a label that are drawn on a page: first those of which a value stands out."""
FEWEST = 10
"""Durations that a value needs to be drawn."""
NAMED = 20
"""Values and groups that are named where they are left out."""
HEIGHT = 90
By = tuple[CaseResult, OperationResult, Breakdown]


def groups(results: RunResults) -> Iterator[Group]:
    """Yield a group for each operation and label that has several values worth drawing."""
    found = [
        (case, each, by)
        for case in results.cases
        for each in case.operations
        for by in each.breakdowns
        if len(_worth(by)) > 1
    ]
    found.sort(key=lambda one: not any(value.apart for value in one[2].values))
    for number, one in enumerate(found[:GROUPS]):
        yield _group(number, one)
    if left := [title(*one) for one in found[GROUPS:]]:
        yield Group(notes=[f"By label, not drawn: {_some(left)}. Tables of these are with their cases."])


def title(case: CaseResult, operation: OperationResult, by: Breakdown) -> str:
    """Return what is broken down by what: `copy, read by drive`."""
    name = tables.label(case)
    return f"{name} by {by.label}" if operation.iteration else f"{name}, {operation.operation} by {by.label}"


def _some(names: list[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {format_count(more)} more" if more > 0 else "")


def _worth(by: Breakdown) -> list[LabelFigure]:
    return [value for value in by.values if sum(value.bins) >= FEWEST]


def _group(number: int, one: By) -> Group:
    by = one[2]
    known = _worth(by)
    first = sorted(known, key=lambda value: (value.apart is None, -sum(value.bins)))[:PANELS]
    chosen = [value for value in known if value in first]
    data = [_bins(by, value) for value in chosen]
    durations = [value for table in data for value in positive(table, "low", "high")]
    top = max(share for table in data for share in table["share"])
    names = [f"label{number}_{place}" for place, _ in enumerate(chosen)]
    drawn = [
        replace(_panel(name, value, durations, top), says=latency.most(table))
        for name, value, table in zip(names, chosen, data, strict=True)
    ]
    heading = f"Response times of {title(*one)}"
    return Group(drawn, dict(zip(names, data, strict=True)), heading, _left_out(by, chosen), paired=True, small=True)


def _left_out(by: Breakdown, chosen: list[LabelFigure]) -> list[str]:
    """Say which values are not drawn."""
    left = [value for value in by.values if value not in chosen]
    few = [value.value for value in left if sum(value.bins) < FEWEST]
    others = [value.value for value in left if value.value not in few]
    notes = []
    if others:
        notes.append(f"Not drawn, none of them stands out as much or has as many: {_some(others)}.")
    if few:
        notes.append(f"Not drawn, fewer than {FEWEST} passed: {_some(few)}.")
    if by.more:
        notes.append(f"{format_count(by.more)} more values are in the record: pileup export.")
    return notes


def _bins(by: Breakdown, value: LabelFigure) -> Columns:
    whole = sum(value.bins)
    rows = [(low, high, n) for (low, high), n in zip(pairwise(by.edges), value.bins, strict=True) if n]
    return {
        "low": [short(low / 1e6) for low, _, _ in rows],
        "high": [short(high / 1e6) for _, high, _ in rows],
        "count": [n for _, _, n in rows],
        "share": [short(100 * n / whole, 3) for _, _, n in rows],
    }


def _panel(name: str, value: LabelFigure, durations: list[float], top: float) -> Drawing:
    fill = color(0)
    told = f"% of {format_count(sum(value.bins))} that passed"
    if value.apart is not None:
        fill = BAD if (value.apart.value or 0.0) > 0 else GOOD
        told += f" · {apart_words(value.apart)} than the others"
    marks = {"p50": value.quantiles.get(0.5), "p99": value.quantiles.get(0.99)}
    values = {q: figure.value / 1e6 for q, figure in marks.items() if figure and figure.value is not None}
    layers = (latency.bars(name, fill, durations, "operations", top), *latency.rules(values, durations))
    legend = tuple(Mark(q, QUANTILES[q], "tick") for q in values)
    columns = {"low": "from, ms", "high": "to, ms", "count": "operations", "share": "%"}
    spec = finish([layer_of(each) for each in layers], HEIGHT)
    return Drawing(name, value.value, told, spec, name, legend, timed=False, columns=columns)
