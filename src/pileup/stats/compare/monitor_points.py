"""What monitors saw at each point of a scan, compared like the figures of tests: the mean of a visit is one number.

Numbers that tests report are samples under the test's name, and the time to rest after a visit is one too: they are
compared in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pileup.model.results import Comparison, Point
from pileup.stats.cases import CaseData
from pileup.stats.compare import points
from pileup.stats.compare.points import Block
from pileup.stats.monitors import MetricSeries
from pileup.stats.verdicts.resolve import to_base

MOST = 200
"""Series that are compared, at most."""


@dataclass(slots=True)
class Visit:
    """One stay at a point: which, in which block, and when measuring went on, ns since the epoch."""

    point: int
    block: Block
    begin: int
    end: int


def visits(found: Sequence[Point], cases: Iterable[CaseData]) -> dict[int, Visit]:
    """Return the visits in which something was measured, by their numbers."""
    number = {tuple(sorted(point.values.items())): point.number for point in found}
    made: dict[int, Visit] = {}
    for data in cases:
        place = number.get(tuple(sorted(data.point.items())))
        if place is None or data.window is None or not data.point:
            continue
        block = data.entry.loop, data.entry.repeat
        visit = made.setdefault(data.visit, Visit(place, block, data.window.begin, data.window.end))
        visit.begin, visit.end = min(visit.begin, data.window.begin), max(visit.end, data.window.end)
    return made


def observed(
    found: Sequence[Point], cases: Sequence[CaseData], series: Sequence[MetricSeries]
) -> tuple[Comparison, ...]:
    """Return what monitors saw, compared over the points; nothing without a scan, or where all is zero."""
    stays = visits(found, cases) if len(found) > 1 else {}
    if not stays:
        return ()
    together: dict[tuple[str, str, tuple[str, str]], list[MetricSeries]] = {}
    for each in series:
        together.setdefault((each.monitor, each.metric, each.key), []).append(each)
    several = len({each.host for each in series if each.host}) > 1
    made = (_compared(found, stays, parts, several) for parts in together.values())
    return tuple(each for each in made if each is not None)[:MOST]


def _compared(
    found: Sequence[Point], stays: dict[int, Visit], parts: Sequence[MetricSeries], hosts: bool
) -> Comparison | None:
    """Compare one metric; None where it is seen at less than two points, or always zero. `hosts`: name the host."""
    first, cells = parts[0], {}
    for number, visit in stays.items():
        value = _value(parts, number, visit)
        if value is not None:
            cells[visit.point, visit.block] = value, abs(value) * points.DIGITS
    seen = {point for point, _ in cells}
    if len(seen) < 2 or not any(value for value, _ in cells.values()):
        return None
    blocks = sorted({visit.block for visit in stays.values()})
    rows = [points.row(cells, point.number, blocks) for point in found]
    _, dimension = to_base(np.empty(0), first.unit)
    labels = ", ".join(part for part in (first.key[0], f"host={first.host}" if hosts and first.host else "") if part)
    head = points.ComparedMetric(
        first.monitor, f"{first.metric}[{labels}]" if labels else first.metric, "mean", dimension
    )
    return points.compared(head, rows, found, blocks, unit="" if dimension else first.unit)


def _value(parts: Sequence[MetricSeries], number: int, visit: Visit) -> float | None:
    """Return the mean of what was sampled in a visit, in base units; None where nothing was."""
    means = []
    for each in parts:
        if each.visit is None:
            values = each.between(visit.begin, visit.end)
        else:
            values = each.between(None, None) if each.visit == number else np.empty(0)
        means += to_base(values, each.unit)[0].tolist()
    return math.fsum(means) / len(means) if means else None
