"""Whether a criterion that is not met says nothing about the system, because pileup itself was the bottleneck.

That needs a cause in pileup, and an effect that is large enough: lateness is compared with how far the figure is from
its threshold. A criterion that is still not met without the excused times is not met, and a system that does not answer
is never excused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pileup.model.check import TIMES, Check, Selected
from pileup.model.figures import Figure
from pileup.model.loads.levels import HELD
from pileup.model.manifest import CaseEntry
from pileup.model.record import Frame, Phase, SampleRow
from pileup.model.results import ErrorGroup
from pileup.model.units import format_count, format_fraction
from pileup.stats.cases import CaseData
from pileup.stats.frames.totals import Measured
from pileup.stats.generator import bottleneck, holdups
from pileup.stats.generator.holdups import Bar, Stretch
from pileup.stats.generator.undisturbed import rest, without_failures
from pileup.stats.monitors import MetricSeries, whole_series
from pileup.stats.verdicts import judge
from pileup.stats.verdicts.case_failure import by_share, most_of

if TYPE_CHECKING:
    from pileup._core._native import Histogram

Evaluate = Callable[[Sequence[CaseData]], Figure]
"""Gives the figure of a check over what is left of its cases."""
Stretches = Sequence[tuple[CaseData, list[Stretch]]]
"""Cases, each with the times at which pileup held it back."""
SERVICE = ("service", "passed_service")
RESPONSE = ("response", "passed_response")
LEFT_OUT = ("missed", "unfinished")
"""Outcomes that a slow pileup makes, beside a slow system; wrong answers are the system's alone."""
MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Excuse:
    """Why the verdict is unknown instead of not met."""

    cases: tuple[str, ...]
    """Those that pileup held back."""
    share: float
    """Part of the measured time of all cases that is excused."""
    what: str
    """What pileup did, and when."""
    left: Figure | None = None
    """The figure without that; None where too little is left to judge."""

    @property
    def why(self) -> str:
        """Why the result of one load, e.g. a trial, says nothing about the system."""
        return f"{bottleneck.WAS} {self.what}"

    @property
    def words(self) -> str:
        """The reason of the verdict of a criterion."""
        names = ", ".join(self.cases[:MOST_NAMED]) + (", …" if len(self.cases) > MOST_NAMED else "")
        told = f"{bottleneck.WAS} of {names} {self.what}"
        if self.left is None:
            return f"{told}; this figure does not describe the system"
        return f"{told}; without that ({format_fraction(self.share)} of what was measured) the figure is met"


@dataclass(frozen=True, slots=True)
class _Missing:
    """By how much a figure is not met, as far as slowness can explain it."""

    bar: Callable[[CaseData], Bar]
    share: float = 0.0
    """Part of the measured time that must have been pileup's."""
    stop: float = 0.0
    """How long the process must have stood still, ns."""


def excuse(
    check: Check,
    selected: Selected,
    figure: Figure,
    cases: Sequence[CaseData],
    *,
    series: Sequence[MetricSeries],
    evaluate: Evaluate,
    failures: Mapping[str, Sequence[ErrorGroup]] | None = None,
) -> Excuse | None:
    """Return why a figure of tests that does not meet its check is pileup's; None where it is the system's.

    `cases` are those that the figure is made of, `series` all samples of the run, `failures` those of its own by the
    names of cases (`Limit.failures`). `evaluate` makes the figure again of what is left of the cases.
    """
    own = {data.entry.name: (failures or {}).get(data.entry.name, ()) for data in cases}
    if any(own.values()):
        cases = [without_failures(data, own[data.entry.name]) for data in cases]
        figure = evaluate(cases)
        if not is_missed(check, figure):
            number = sum(each.count for groups in own.values() for each in groups)
            what = f"({format_count(number)} failed for lack of what its own machine refused)"
            return Excuse(tuple(name for name, groups in own.items() if groups), 0.0, what)
    last = 0.0
    while (missing := _missing(check, selected, figure, cases)) is not None:
        found = [(data, _stretches(data, series, missing)) for data in cases]
        told = _told(missing, found)
        if told is None or told.share <= last:
            return None
        left = [rest(data, times) for data, times in found]
        if sum(map(_seconds, left)) <= (1 - bottleneck.WHOLE) * sum(map(_seconds, cases)):
            return told
        figure = evaluate(left)
        if not is_missed(check, figure):
            return replace(told, left=figure if figure.value is not None else None)
        # less is missing now, and may be for less that pileup did, such as in a second of which a part was excused
        last = told.share
    return None


def of_held(
    check: Check,
    selected: Selected,
    figure: Figure,
    cases: Sequence[CaseData],
    *,
    series: Sequence[MetricSeries],
    evaluate: Callable[[Sequence[Stretch]], Figure],
) -> Excuse | None:
    """Return why what cases held (`held_value`, `held_level`, `held`) and does not meet its check is pileup's, or None.

    What came late by L of a window of T shifts at most L / T of what it holds. `evaluate` makes the figure again of the
    samples that lie in none of some times.
    """
    if figure.value is None:
        return None
    base = 1.0 if selected.metric == HELD else max(abs(check.value), abs(figure.value))
    share = min(1.0, abs(figure.value - check.value) / base) if base else 0.0

    missing = _Missing(_shifted(share), share if check.function in ("mean", "sum") else 0.0)
    found = [(data, _stretches(data, series, missing)) for data in cases]
    left = evaluate([each for _, times in found for each in times])
    told = _told(missing, found)
    return None if told is None or is_missed(check, left) else replace(told, left=left if left.n else None)


def of_not_passed(data: CaseData, series: Sequence[MetricSeries], most: float) -> Excuse | None:
    """Return why more than a share `most` of what was due did not pass, e.g. in a trial; None if it is the system's."""
    wrong, due = _wrong(data.measured), _due(data.measured)
    if due == 0 or wrong > most * due:
        return None
    share = _share_not_passed(data) - most

    missing = _Missing(_shifted(share), share)
    times = _stretches(data, series, missing)
    return None if _share_not_passed(rest(data, times)) > most else _told(missing, [(data, times)])


def of_case(
    entry: CaseEntry, frames: Sequence[Frame], samples: Iterable[SampleRow], errors: Sequence[ErrorGroup]
) -> str:
    """Return why a case of which too much did not pass has not failed, but is not known; empty where it has failed.

    `entry` is its entry in run.json, `frames` and `samples` are those since it began to press, `errors` all of the run.
    """
    if not by_share(entry):
        return ""
    data, most, series = CaseData(entry, list(frames), None), most_of(entry), whole_series(samples)
    for each in bottleneck.limits([data], series, errors):
        if each.failures and _share_not_passed(without_failures(data, each.failures)) <= most:
            return each.what
    found = of_not_passed(data, series, most)
    return found.why if found is not None else ""


def is_missed(check: Check, figure: Figure) -> bool:
    """Return whether a figure does not meet a check; where it is not known it may."""
    return judge.against(check, figure).missed


def _told(missing: _Missing, found: Stretches) -> Excuse | None:
    """Return what pileup did as an excuse; None where it did nothing, or not for long enough."""
    held_back = [(data, times) for data, times in found if times]
    whole = sum(_seconds(data) for data, _ in found)
    share = sum(holdups.share(times, data.frames) * _seconds(data) for data, times in found) / whole if whole else 0.0
    if not held_back or share < missing.share:
        return None
    names = tuple(dict.fromkeys(data.entry.name for data, _ in held_back))
    return Excuse(names, share, _times(held_back))


def _seconds(data: CaseData) -> float:
    return data.measured.seconds


def _stretches(data: CaseData, series: Sequence[MetricSeries], missing: _Missing) -> list[Stretch]:
    """Return when pileup did what may be missing; never of a system that does not answer."""
    if not bottleneck.answers(data):
        return []
    starved, interpreted = bottleneck.starved(data), bottleneck.is_interpreted(data)
    found = holdups.stretches(
        data.frames, series, missing.bar(data), starved, interpreted, workers=bottleneck.workers(data)
    )
    return [each for each in found if each.cpu or each.late or each.loop or each.stopped >= missing.stop]


def _times(found: Stretches) -> str:
    several = [(data, each) for data, times in found for each in times]
    data, worst = max(several, key=lambda pair: pair[1].length)
    more = f", and {len(several) - 1} more times" if len(several) > 1 else ""
    asked = f", {bottleneck.GRID_WORDS}" if worst.late and bottleneck.is_coarse(data) else ""
    return f"{worst.when} ({worst.why}{asked}){more}"


def _missing(check: Check, selected: Selected, figure: Figure, cases: Sequence[CaseData]) -> _Missing | None:
    """Return what is missing; None where slowness cannot explain it: wrong answers, or a figure that is too small."""
    if selected.field in LEFT_OUT:
        return _of_outcome(check, figure, cases) if check.comparison in ("<", "<=") else None
    if check.function == "rate" and selected.field in (*TIMES, "passed", "bytes"):
        return _of_rate(check, figure, cases) if check.comparison in (">", ">=") else None
    if selected.dimension == "time" and selected.field in (*RESPONSE, *SERVICE):
        return _of_time(check, selected, figure, cases) if check.comparison in ("<", "<=") else None
    return None


def _of_time(check: Check, selected: Selected, figure: Figure, cases: Sequence[CaseData]) -> _Missing | None:
    value = figure.value
    if value is None:
        value = figure.above
        due = sum(_due(data.measured) for data in cases)
        if value is None or sum(_wrong(data.measured) for data in cases) > (1 - (check.quantile or 0.5)) * due:
            return None
    gap = value - check.value
    if check.function == "sum":
        gap /= max(1, figure.n)
    of = _lateness(check)
    begins = int(selected.operation is None and selected.field in RESPONSE)

    def bar(data: CaseData) -> Bar:
        more = max(0.0, _calls(data.measured) - 1)
        # who begins late reads answers as late: of each further call by as much as all on average
        return Bar(gap, gap / (1 + begins), of, lambda late: (1 + begins) * of(late) + more * late.mean, lasting=False)

    return _Missing(bar, stop=gap)


def _of_rate(check: Check, figure: Figure, cases: Sequence[CaseData]) -> _Missing | None:
    if figure.value is None or check.value <= 0:
        return None
    passed = sum(_passed(data.measured) for data in cases)
    if not passed or figure.value * (passed + sum(_wrong(data.measured) for data in cases)) >= check.value * passed:
        return None  # it was asked for so much: what is missing did not pass
    share = 1 - figure.value / check.value

    def bar(data: CaseData) -> Bar:
        if data.entry.load_kind == "open":
            return _shifted(share)(data)
        clients = max((frame.clients for frame in data.frames if frame.phase == Phase.MEASURE), default=1)
        cycle = clients * bottleneck.measured_seconds(data) * 1e9 / max(1, data.measured.counts().ended)
        calls = max(1.0, _calls(data.measured))
        return Bar(share * cycle, share * cycle, _mean, lambda late: (1 + calls) * late.mean, lasting=False)

    return _Missing(bar, share)


def _of_outcome(check: Check, figure: Figure, cases: Sequence[CaseData]) -> _Missing | None:
    if figure.value is None:
        return None
    due = sum(_due(data.measured) for data in cases)
    seconds = sum(bottleneck.measured_seconds(data) for data in cases)
    whole = {"fraction": 1.0, "rate": due / seconds if seconds else math.inf}.get(check.function, due)
    share = (figure.value - check.value) / whole if whole else 1.0
    return _Missing(_shifted(share), share)


def _shifted(share: float) -> Callable[[CaseData], Bar]:
    """Return the bar of what is counted over the measured time: lateness shifts as much of it as it is a part of it."""

    def bar(data: CaseData) -> Bar:
        least = share * bottleneck.measured_seconds(data) * 1e9
        return Bar(least, least, _max, lasting=False)

    return bar


def _lateness(check: Check) -> Callable[[Histogram], float]:
    """Return what a function of response times makes of scheduling delays."""
    if check.function == "quantile":
        share = check.quantile or 0.5
        return lambda late: float(min(late.quantile(share), late.max))
    return {"mean": _mean, "sum": _mean, "min": _min}.get(check.function, _max)


def _mean(late: Histogram) -> float:
    return late.mean


def _min(late: Histogram) -> float:
    return float(late.min)


def _max(late: Histogram) -> float:
    return float(late.max)


def _calls(measured: Measured) -> float:
    """Return the calls of an iteration, on average."""
    return sum(tally.calls for tally in measured.iterations()) / max(1, measured.counts().ended)


def _passed(measured: Measured) -> int:
    return measured.counts().passed


def _due(measured: Measured) -> int:
    counts = measured.counts()
    return counts.ended + counts.missed


def _wrong(measured: Measured) -> int:
    """Return how many answers were wrong: what only timed out may have been slow."""
    counts = measured.counts()
    timed_out = sum(tally.timed_out for tally in measured.iterations())
    return max(0, counts.failed + counts.refused + counts.ambiguous - timed_out)


def _share_not_passed(data: CaseData) -> float:
    due = _due(data.measured)
    return 1 - _passed(data.measured) / due if due else 0.0
