"""Curves of two runs for drawing one over the other: how long iterations took, and how many passed per second."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from pileup.model.contrast import Curve, Overlay
from pileup.model.record import Phase
from pileup.model.results import CaseResult, RunResults
from pileup.stats.compare.points import name_of

MOST = 12
"""Tests that are drawn."""
MOST_POINTS = 160
"""Points of a curve over time."""
FEWEST = 10
"""Values of which a curve is worth drawing."""


def overlays(baseline: Sequence[RunResults], candidate: Sequence[RunResults]) -> Iterator[Overlay]:
    """Yield the curves of the tests that both sides have, of the first case of each."""
    first, second = _cases(baseline), _cases(candidate)
    for name in [name for name in first if name in second][:MOST]:
        for what, curve in (("response times", _times), ("rate", _rate)):
            before, after = curve(first[name]), curve(second[name])
            if before and after:
                yield Overlay(name, what, before, after)


def _cases(runs: Iterable[RunResults]) -> dict[str, CaseResult]:
    """Return name -> the first case that measured enough, tests in their order."""
    found: dict[str, CaseResult] = {}
    for case in (case for run in runs for case in run.cases):
        point = name_of(case.point)
        if case.iterations is not None and case.iterations.counts.passed >= FEWEST:
            found.setdefault(f"{case.test or case.name}{f'[{point}]' if point else ''}", case)
    return found


def _times(case: CaseResult) -> Curve:
    found = case.iterations.response if case.iterations else None
    return found.ecdf if found is not None and len(found.ecdf) > 1 else ()


def _rate(case: CaseResult) -> Curve:
    """Return what passed per second over the seconds of the measured time, means where there are many."""
    line = case.timeline
    if line is None:
        return ()
    places = [place for place, phase in enumerate(line.phase) if phase == Phase.MEASURE]
    if len(places) < 2:
        return ()
    begin = line.times[places[0]] - round(line.seconds[places[0]] * 1e9)
    parts = np.array_split(np.array(places), min(len(places), MOST_POINTS))
    return tuple(
        ((line.times[int(part[-1])] - begin) / 1e9, float(np.mean([line.passed[place] for place in part])))
        for part in parts
    )
