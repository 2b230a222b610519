"""What limited the loads of a run, as a table: repeats at a point that say the same are one row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from pileup.model.bottleneck import BottleneckRow
from pileup.model.results import RunResults
from pileup.model.units import counted


def bottlenecks_by_point(results: RunResults) -> list[BottleneckRow]:
    """Return the bottlenecks with the repeats of a test at a point together, where they were limited by the same.

    The evidence is that of the first of them.
    """
    points = {tuple(sorted(point.values.items())): point.name for point in results.points}
    places = {case.name: (case.test, points.get(tuple(sorted(case.point.items())), "")) for case in results.cases}
    repeats = Counter(places.get(row.case, (row.case, "")) for row in results.bottlenecks)
    groups: dict[tuple[tuple[str, str], str, str], list[BottleneckRow]] = {}
    for row in results.bottlenecks:
        groups.setdefault((places.get(row.case, (row.case, "")), row.by, row.advice), []).append(row)
    return [_together(*place, group, repeats[place]) for (place, _, _), group in groups.items()]


def _together(test: str, point: str, group: Sequence[BottleneckRow], repeats: int) -> BottleneckRow:
    first = group[0]
    if repeats == 1:
        return first
    name = f"{test}[{point}]" if point else test
    told = f"{len(group)} of {counted(repeats, 'repeat')}" if len(group) < repeats else counted(repeats, "repeat")
    alike = all(each.evidence == first.evidence for each in group)
    said = first.evidence if alike else f"In the first of them: {first.evidence}"
    return replace(first, case=f"{name}, {told}", evidence=said)
