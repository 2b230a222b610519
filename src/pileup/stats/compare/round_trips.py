"""What of the time of tests that must give equal answers is distance, where the suite varies it (`path`).

The round trips of an iteration are the slope of its time over what the path adds to a round trip, between the nearest
and the farthest point. Whether its requests explain the time far away is looked at the other way round: the time far
away over the time near by and a round trip for each request, and the ratio to the first test over the ratio that
follows so. With several repeats all of these are taken within each repeat (`stats/intervals/paired.py`): what a server
takes by itself then counts near and far as it was in that repeat, and a drift from repeat to repeat drops out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pileup.model.figures import Figure, Interval
from pileup.model.results import CaseResult, RoundTrips
from pileup.stats.compare.points import DIGITS, name_of
from pileup.stats.frames.distribution import TOO_FEW
from pileup.stats.intervals import paired
from pileup.stats.intervals.confidence import LEVEL

Repeat = tuple[int, int]
"""Loop and number of a repeat."""
Rest = tuple[tuple[str, str], ...]
"""What else the suite varies, at a point."""


@dataclass(frozen=True, slots=True)
class Way:
    """One test at its nearest and its farthest point."""

    near: Sequence[CaseResult]
    far: Sequence[CaseResult]
    apart: int
    """What the path adds to a round trip at the farthest, more than at the nearest (ns)."""

    def times(self) -> dict[Repeat, tuple[float, float]]:
        """Return the mean response time near and far of each repeat that has both."""
        near, far = means(self.near), means(self.far)
        return {repeat: (near[repeat], far[repeat]) for repeat in sorted(near.keys() & far.keys())}

    def explained(self) -> dict[Repeat, float]:
        """Return the time far away as a multiple of what the requests lead to expect, where there are any."""
        asked = of_each([*self.near, *self.far], "calls")
        return {key: far / (near + asked * self.apart) for key, (near, far) in self.times().items()} if asked else {}


def round_trips(names: tuple[str, ...], cases: Sequence[CaseResult]) -> Iterator[RoundTrips]:
    """Yield the round trips of an iteration of each test, at each value of what else the suite varies."""
    found = {name: _ways([case for case in cases if case.test == name and case.added is not None]) for name in names}
    for name, ways in found.items():
        for rest, way in ways.items():
            first = found[names[0]].get(rest) if name != names[0] else None
            own, base = way.explained(), first.explained() if first else {}
            yield RoundTrips(
                name,
                name_of(dict(rest)),
                _slope(way),
                of_each([*way.near, *way.far], "calls"),
                _share(own, dict.fromkeys(own, 1.0)),
                _share(own, base) if base else None,
            )


def _ways(cases: Sequence[CaseResult]) -> dict[Rest, Way]:
    far = _axes_of_distance(cases)
    by_rest: dict[Rest, dict[int, list[CaseResult]]] = {}
    for case in cases:
        rest = tuple((axis, value) for axis, value in case.point.items() if axis not in far)
        by_rest.setdefault(rest, {}).setdefault(case.added or 0, []).append(case)
    ends = {rest: (min(known), max(known), known) for rest, known in by_rest.items() if len(known) > 1}
    return {rest: Way(known[low], known[high], high - low) for rest, (low, high, known) in ends.items()}


def _axes_of_distance(cases: Sequence[CaseResult]) -> set[str]:
    """Return the axes whose values say what a path adds: each value always the same, and not all alike."""
    found = set()
    for axis in dict.fromkeys(axis for case in cases for axis in case.point):
        added: dict[str, set[int]] = {}
        for case in cases:
            added.setdefault(case.point.get(axis, ""), set()).add(case.added or 0)
        if all(len(values) == 1 for values in added.values()) and len(set.union(*added.values())) > 1:
            found.add(axis)
    return found


def _slope(way: Way) -> Figure:
    """Return by how much the mean response time grows with a round trip: the mean over repeats; of one, as it is."""
    times = list(way.times().values())
    if len(times) > 1:
        step = math.hypot(*(max(ends) for ends in zip(*times, strict=True))) * DIGITS / way.apart
        return paired.mean([(far - near) / way.apart for near, far in times], step=step)
    return _of_one(way)


def _of_one(way: Way) -> Figure:
    """Return the slope between two cases, whose interval is that of two independent means."""
    known = [case.iterations.response for case in (way.near[0], way.far[0]) if case.iterations]
    ends = [response for response in known if response is not None]
    if len(ends) < 2:
        return Figure(None, "", None, 0, "nothing measured")
    near, far = ends
    slope, n = (far.mean - near.mean) / way.apart, min(near.n, far.n)
    if near.mean_interval is None or far.mean_interval is None:
        return Figure(slope, "", None, n, f"{TOO_FEW}: one iteration carries no interval")
    half = math.hypot(*((end.high - end.low) / 2 for end in (near.mean_interval, far.mean_interval))) / way.apart
    return Figure(slope, "", Interval(slope - half, slope + half, LEVEL), n)


def _share(found: Mapping[Repeat, float], base: Mapping[Repeat, float]) -> Figure | None:
    """Return what was found as a multiple of `base`, repeat by repeat; None where nothing is known."""
    both = sorted(found.keys() & base.keys())
    if not both:
        return None
    ratio = paired.ratio([found[key] for key in both], [base[key] for key in both], (DIGITS, DIGITS))
    return times_of(ratio)


def times_of(ratio: Figure) -> Figure:
    """Return a ratio less one as a ratio."""
    if ratio.value is None:
        return replace(ratio, dimension="")
    known = ratio.interval
    return Figure(
        ratio.value + 1, "", known and Interval(known.low + 1, known.high + 1, known.level), ratio.n, ratio.note
    )


def of_each(cases: Sequence[CaseResult], word: str) -> float | None:
    """Return the mean of an amount over all iterations that have ended."""
    found = [case.iterations for case in cases if case.iterations is not None]
    ended = sum(one.counts.ended for one in found)
    return sum(getattr(one, word) for one in found) / ended if ended else None


def means(cases: Sequence[CaseResult]) -> dict[Repeat, float]:
    """Return the mean response time of each repeat."""
    found = {}
    for case in cases:
        response = case.iterations.response if case.iterations else None
        if response is not None and response.mean > 0:
            found[case.loop, case.repeat] = response.mean
    return found
