"""What a criterion selects in a run with a scan: the cases of a test, and the times of a monitor, at each point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pileup.model.check import Selected
from pileup.model.loads.levels import HELD, HELD_LEVEL, HELD_VALUE
from pileup.model.results import Point
from pileup.stats.cases import CaseData

Span = tuple[int, int]
"""Begin and end, ns since the epoch."""


@dataclass(frozen=True, slots=True)
class Group:
    """Cases that are judged together: all repeats and loops of one point. `name` is empty for the run as a whole."""

    name: str
    cases: tuple[CaseData, ...]


def chosen(points: Sequence[Point], at: Sequence[Mapping[str, str]]) -> list[Point]:
    """Return the points that `at` names by some of their values; all of them without `at`."""
    if not at:
        return list(points)
    return [point for point in points if any(_fits(point.values, wanted) for wanted in at)]


def _fits(values: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    return all(values.get(axis) == str(value) for axis, value in wanted.items())


def groups(cases: Sequence[CaseData], points: Sequence[Point]) -> list[Group]:
    """Return the cases point by point.

    Those done once for all points are a group of their own, and so are all cases of a run without a scan.
    """
    whole = tuple(data for data in cases if not data.point)
    found = [Group(point.name, tuple(data for data in cases if data.point == point.values)) for point in points]
    return ([Group("", whole)] if whole else []) + [group for group in found if group.cases]


def of_samples(group: Group, selected: Selected) -> list[Span] | None:
    """Return the times whose samples count at a point, or in the run as a whole; None: any time.

    For a monitor that is from the first measured time to the last. What a load that is held reports at its looks counts
    in its own measured time alone, after settling: other loads may have been measured long before.
    """
    if selected.metric in (HELD, HELD_VALUE, HELD_LEVEL):
        own = [data for data in group.cases if data.entry.test == selected.name]
        if own:
            return spans(own)
    return spans(group.cases) or ([] if group.name else None)


def spans(cases: Sequence[CaseData]) -> list[Span]:
    """Return when measuring went on: of each visit to a point from its first case to its last; else of the whole run.

    Nothing when it never did.
    """
    by_visit: dict[int, list[Span]] = {}
    for data in cases:
        if data.window is not None:
            by_visit.setdefault(data.visit if data.point else -1, []).append((data.window.begin, data.window.end))
    found = by_visit.values()
    return [(min(begin for begin, _ in each), max(end for _, end in each)) for each in found]
