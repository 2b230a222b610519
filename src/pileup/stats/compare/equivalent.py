"""Tests that must give equal answers: whether they did at every point and repeat, and how long each takes.

A test reports digests of its answers as samples (`model/answers.py`). The times of the tests of a group are compared
with those of its first: with several repeats as a ratio of means over them, paired, with Fieller's interval
(`stats/intervals/paired.py`); with one as the ratio of two independent means, whose interval is that of a difference of
logarithms (the delta method). Calls and bytes of an iteration are given as multiples, too: what a way asks for does not
vary as its time does. What follows where the suite varies the distance: `round_trips.py`.

Where answers differ, the first row that does is named, from the answers that the tests left as artefacts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from pileup.model.answers import ANSWER, file_of, first_difference, shown
from pileup.model.figures import Distribution, Figure, Interval
from pileup.model.results import CaseResult, Equivalence, TimeRatio
from pileup.model.verdict import RunVerdict
from pileup.stats.compare.points import DIGITS, name_of
from pileup.stats.compare.round_trips import means, of_each, round_trips, times_of
from pileup.stats.frames.distribution import TOO_FEW
from pileup.stats.intervals import paired
from pileup.stats.intervals.confidence import LEVEL
from pileup.stats.monitors import MetricSeries

WIDEST = 0.5
"""Relative error beyond which the logarithm of a mean is no more normal than the mean."""
MOST_TOLD = 3
"""Visits, and answers of one case, that a reason names."""
LONGEST_ROW = 200
"""Characters of a row in a reason."""
Read = Callable[[str], str]


def split(series: Sequence[MetricSeries]) -> tuple[list[MetricSeries], list[MetricSeries]]:
    """Return what tests reported of their answers, and all other samples."""
    answers = [each for each in series if each.metric == ANSWER]
    return answers, [each for each in series if each.metric != ANSWER]


def equivalences(
    groups: Sequence[Sequence[str]], cases: Sequence[CaseResult], answers: Sequence[MetricSeries], read: Read
) -> tuple[Equivalence, ...]:
    """Return each group of tests (of run.json) with its verdict.

    `answers` are series of digests; `read` returns the text of a file of the run folder, "" if it cannot be read.
    """
    return tuple(_judged(tuple(names), cases, answers, read) for names in groups)


def _judged(
    names: tuple[str, ...], cases: Sequence[CaseResult], answers: Sequence[MetricSeries], read: Read
) -> Equivalence:
    mine = [case for case in cases if case.test in names]
    told = {case.id: _answers(case, answers) for case in mine}
    wrong: list[str] = []
    missing: list[str] = []
    for stay in _stays(names, mine):
        absent = [case.name for case in stay if not told[case.id]] + [
            f"{name} (not run)" for name in names if name not in {case.test for case in stay}
        ]
        if len(set().union(*(told[case.id] for case in stay))) > 1:
            row = "" if wrong else _first_row(stay, told, read)
            wrong.append("; ".join(f"{case.name}: {_digests(told[case.id])}" for case in stay) + row)
        elif absent:
            missing.append(", ".join(absent))
    ratios, trips = tuple(_ratios(names, mine)), tuple(round_trips(names, mine))
    if wrong:
        return Equivalence(names, RunVerdict.FAILED, f"answers differ: {_few(wrong)}", ratios, trips)
    if missing:
        return Equivalence(names, RunVerdict.UNKNOWN, f"no answer: {_few(missing)}", ratios, trips)
    return Equivalence(names, RunVerdict.PASSED, "", ratios, trips)


def _first_row(stay: Sequence[CaseResult], told: Mapping[int, set[int]], read: Read) -> str:
    """Return `; row 3 is in copy alone: …` for the first two different answers; empty if they are not kept."""
    digests = dict.fromkeys(digest for case in stay for digest in sorted(told[case.id]))
    (left, one), (right, other) = [(digest, _first(stay, told, digest)) for digest in list(digests)[:2]]
    found = first_difference(_kept(one, left, read), _kept(other, right, read))
    if found is None:
        return ""
    names = (one.name, other.name) if one is not other else (shown(left), shown(right))
    place, mine, others = found
    if mine and others:
        return f"; row {place} is {_cut(mine)} in {names[0]}, {_cut(others)} in {names[1]}"
    return f"; row {place} is in {names[0] if mine else names[1]} alone: {_cut(mine or others)}"


def _first(stay: Sequence[CaseResult], told: Mapping[int, set[int]], digest: int) -> CaseResult:
    return next(case for case in stay if digest in told[case.id])


def _kept(case: CaseResult, digest: int, read: Read) -> str:
    name = file_of(digest)
    return next((read(path) for path in case.artefacts if path.rpartition("/")[2] == name), "")


def _cut(row: str) -> str:
    return row if len(row) <= LONGEST_ROW else f"{row[: LONGEST_ROW - 1]}…"


def _stays(names: tuple[str, ...], cases: Sequence[CaseResult]) -> Iterator[list[CaseResult]]:
    """Yield the cases of each visit to a point, with those that are done once for several visits."""
    visits = sorted({case.visit for case in cases if case.visit >= 0}) or [-1]
    for visit in visits:
        here = [case for case in cases if case.visit == visit]
        point = next((case.point for case in here), {})
        found = [case for case in cases if case.visit == visit or (case.visit < 0 and case.point in ({}, point))]
        yield sorted(found, key=lambda case: names.index(case.test))


def _answers(case: CaseResult, answers: Sequence[MetricSeries]) -> set[int]:
    if case.started is None:
        return set()
    mine = [each for each in answers if each.monitor == case.test]
    end = case.ended if case.ended is not None else 2**63 - 1
    return {int(value) for each in mine for value in each.between(case.started, end)}


def _digests(found: set[int]) -> str:
    first = [shown(each) for each in sorted(found)[:MOST_TOLD]]
    more = f" and {len(found) - MOST_TOLD} more" if len(found) > MOST_TOLD else ""
    return " and ".join(first) + more if first else "none"


def _few(told: Sequence[str]) -> str:
    more = f"; and {len(told) - MOST_TOLD} more" if len(told) > MOST_TOLD else ""
    return "; ".join(told[:MOST_TOLD]) + more


def _ratios(names: tuple[str, ...], cases: Sequence[CaseResult]) -> Iterator[TimeRatio]:
    """Yield the times of every test but the first as multiples of those of the first, point by point."""
    points = [dict(each) for each in dict.fromkeys(tuple(sorted(case.point.items())) for case in cases)]
    for point in sorted(points, key=len):
        at = [case for case in cases if case.point == point]
        base = [case for case in at if case.test == names[0]]
        base = base or [case for case in cases if case.test == names[0] and not case.point]
        for name in names[1:]:
            others = [case for case in at if case.test == name]
            if base and others:
                where = next((name_of(case.point) for case in others), "")
                calls, size = (_multiple(others, base, word) for word in ("calls", "bytes"))
                yield TimeRatio(name, where, _ratio(others, base), calls, size)


def _multiple(left: Sequence[CaseResult], right: Sequence[CaseResult], word: str) -> float | None:
    """Return what an iteration has on average, as a multiple; None where one side has none."""
    above, below = (of_each(cases, word) for cases in (left, right))
    return above / below if above and below else None


def _ratio(left: Sequence[CaseResult], right: Sequence[CaseResult]) -> Figure:
    above, below = means(left), means(right)
    both = sorted(above.keys() & below.keys())
    if len(both) < 2:
        return _of_two(left, right)
    steps = tuple(max(side[key] for key in both) * DIGITS for side in (above, below))
    return times_of(paired.ratio([above[key] for key in both], [below[key] for key in both], (steps[0], steps[1])))


def _of_two(left: Sequence[CaseResult], right: Sequence[CaseResult]) -> Figure:
    """Return the ratio of one case to another, with an interval from how their iterations vary."""
    found = [next((case.iterations.response for case in each if case.iterations), None) for each in (left, right)]
    above, below = found
    if above is None or below is None or above.mean <= 0 or below.mean <= 0:
        return Figure(None, "", None, 0, "nothing measured")
    ratio, n = above.mean / below.mean, min(above.n, below.n)
    halves = [_relative(each) for each in (above, below)]
    error = math.hypot(*(half for half in halves if half is not None))
    if None in halves or error >= WIDEST:
        return Figure(ratio, "", None, n, f"{TOO_FEW}: one case each carries no interval")
    return Figure(ratio, "", Interval(ratio / math.exp(error), ratio * math.exp(error), LEVEL), n)


def _relative(found: Distribution) -> float | None:
    """Return the half width of the interval of a mean as a share of the mean; None without an interval."""
    known = found.mean_interval
    return None if known is None else (known.high - known.low) / 2 / found.mean
