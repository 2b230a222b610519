"""The result of one trial of a load: the figures of its conditions over the time of the trial."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from pileup.model.check import Check, Selected
from pileup.model.figure_words import amount, unanswered
from pileup.model.figures import Counts, Figure
from pileup.model.manifest import CaseEntry
from pileup.model.record import Frame, Phase, SampleRow
from pileup.model.units import format_count
from pileup.model.verdict import Verdict
from pileup.stats.cases import CaseData
from pileup.stats.frames.detached import is_ledger
from pileup.stats.frames.distribution import TOO_FEW
from pileup.stats.frames.totals import between
from pileup.stats.frames.window import Window
from pileup.stats.generator.bottleneck import answers
from pileup.stats.loads.gauge import Gauge
from pileup.stats.monitors import MetricSeries, whole_series
from pileup.stats.verdicts.case_failure import not_passed as outcomes
from pileup.stats.verdicts.excuse import Excuse, excuse, of_not_passed
from pileup.stats.verdicts.judge import against
from pileup.stats.verdicts.resolve import Part, of_test

NOTHING = "nothing was measured"
BUNCH = 2
"""Most refusals that one late start can explain."""
LATE_LEAST = 5 * 10**6
"""Starts that are late by less, ns, come in no bunch."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The outcome: `passed` is None when too little was done to decide."""

    values: tuple[float | None, ...]
    """The figure of each condition, in its base unit; None where there is none, or where it is censored."""
    passed: bool | None
    why: str = ""
    """What else is to be said: why it did not pass although the figures may, why it says nothing."""
    limited: bool = False
    """It did not pass, and pileup was the bottleneck: that says nothing of the system."""
    due: int = 0
    """Iterations that were due in the time that was looked at."""
    not_passed: int = 0
    """How many of them did not pass."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A check that must hold at a level. `gauge` looks at a monitor; without one it speaks of the test `selected`.

    `own`: that is the case itself; else `cases` says which cases are of that test.
    """

    check: Check
    selected: Selected
    own: bool
    cases: frozenset[int] = frozenset()
    gauge: Gauge | None = None


@dataclass(frozen=True, slots=True)
class TrialWindow:
    """The time that is looked at, ns since the epoch, and the phases of what was due in it."""

    begin: int
    end: int
    phases: Collection[Phase] = (Phase.WARM_UP,)

    @property
    def window(self) -> Window:
        """The time as the measured time of a case."""
        return Window(self.begin, max(self.end, self.begin + 1))


@dataclass(frozen=True, slots=True)
class Trials:
    """Judges trials of a case: each condition must hold, and at most a share `most` of what was due may not pass.

    `entry` is the entry of the case in run.json.
    """

    entry: CaseEntry
    conditions: Sequence[Condition]
    most: float

    def judge(self, frames: Iterable[Frame], samples: Sequence[SampleRow], looked: TrialWindow) -> Trial:
        """Return what was seen of one trial, whose load is over; `frames` and `samples` are those since it began."""
        known = [frame for frame in frames if not is_ledger(frame)]
        mine = self._data(known, looked)
        figures = [self._seen(each, mine, known, samples, looked) for each in self.conditions]
        trial = self._told(mine.measured.counts(), figures)
        # if it passed although pileup was late, it passes without lateness, too
        found = self._excused(mine, figures, whole_series(samples)) if trial.passed is False else None
        return replace(trial, why=found.why, limited=True) if found is not None else trial

    def _data(self, frames: Iterable[Frame], looked: TrialWindow) -> CaseData:
        """Return what was seen of the case itself in the time that is looked at, as if that were all of it."""
        mine = [_measured(frame, looked.phases) for frame in frames if frame.case == self.entry.id]
        return CaseData(replace(self.entry, find=None), mine, looked.window)

    def _excused(self, mine: CaseData, figures: Sequence[Figure], series: Sequence[MetricSeries]) -> Excuse | None:
        """Return why a trial did not pass, where that is pileup's: all that was missed must be."""
        counts = mine.measured.counts()
        if _wrong(counts) > self.most * _due(counts):
            return of_not_passed(mine, series, self.most) or self._bunched(mine)
        found: Excuse | None = None
        for asked, figure in zip(self.conditions, figures, strict=True):
            if holds(asked.check, figure) is not False:
                continue
            found = self._excuse(asked, mine, figure, series) if asked.own else None
            if found is None:
                return None
        return found

    def _bunched(self, mine: CaseData) -> Excuse | None:
        """Return the late starts that all that was refused may be due to.

        Starts that come late come in a bunch, which a system may refuse, and as many behind it.
        """
        late, counts = mine.measured.late, mine.measured.counts()
        number = round(late.count * (1 - late.share_at(LATE_LEAST))) if late.count and answers(mine) else 0
        if _wrong(counts) - BUNCH * number > self.most * _due(counts):
            return None
        return Excuse((mine.entry.name,), 1.0, f"({format_count(number)} starts came late, in bunches)")

    def _excuse(
        self, asked: Condition, mine: CaseData, figure: Figure, series: Sequence[MetricSeries]
    ) -> Excuse | None:
        def left(cases: Sequence[CaseData]) -> Figure:
            return of_test(asked.check, asked.selected, [each.part for each in cases])

        return excuse(asked.check, asked.selected, figure, [mine], series=series, evaluate=left)

    def _told(self, counts: Counts, figures: Sequence[Figure]) -> Trial:
        due, wrong = _due(counts), _wrong(counts)
        values = tuple(each.value for each in figures)
        checks = [each.check for each in self.conditions]
        said = [(holds(check, known), check, known) for check, known in zip(checks, figures, strict=True)]
        if due and counts.passed == 0:
            return Trial(values, False, f"nothing passed ({outcomes(counts)})", due=due, not_passed=wrong)
        if wrong > self.most * due:
            return Trial(values, False, _lost_words(counts, due), due=due, not_passed=wrong)
        failed = [_failed_words(check, known) for held, check, known in said if held is False]
        unknown = [known for held, _, known in said if held is None]
        if failed:
            return Trial(values, False, "; ".join(failed), due=due, not_passed=wrong)
        if unknown or due == 0:
            return Trial(values, None, _unknown_words(unknown), due=due, not_passed=wrong)
        return Trial(values, True, due=due, not_passed=wrong)

    def _seen(
        self, asked: Condition, mine: CaseData, frames: list[Frame], samples: Sequence[SampleRow], looked: TrialWindow
    ) -> Figure:
        if asked.gauge is not None:
            near = [row for row in samples if looked.begin <= row.time <= looked.end]
            return Figure(asked.gauge.look(looked.end, (), near), note=asked.gauge.problem or NOTHING)
        if asked.own:
            return of_test(asked.check, asked.selected, [mine.part])
        theirs = (frame for frame in frames if frame.case in asked.cases)
        part = Part(between(theirs, looked.begin, looked.end), looked.window)
        return of_test(asked.check, asked.selected, [part])


def holds(check: Check, figure: Figure) -> bool | None:
    """Return whether a figure meets a check; None when that is not known.

    A censored figure meets only what its bound shows: that it is more than something.
    """
    verdict = against(check, figure)
    if verdict is Verdict.UNKNOWN and figure.above is None:
        return None
    return verdict.met


def _due(counts: Counts) -> int:
    return counts.ended + counts.missed


def _wrong(counts: Counts) -> int:
    return _due(counts) - counts.passed


def _lost_words(counts: Counts, due: int) -> str:
    told = f"{format_count(due - counts.passed)} of {format_count(due)} that were due did not pass"
    return f"{told} ({outcomes(counts)})"


def _failed_words(check: Check, figure: Figure) -> str:
    if figure.value is None:
        return f"{check.figure} is {unanswered(figure) or figure.note}"
    return f"{check.figure} is {amount(figure.value, check.dimension)}"


def _unknown_words(unknown: Sequence[Figure]) -> str:
    if not unknown:
        return NOTHING
    few = f": {unknown[0].n} values" if unknown[0].note is TOO_FEW else ""
    return f"{unknown[0].note}{few}"


def _measured(frame: Frame, phases: Collection[Phase]) -> Frame:
    """Return a frame of a trial as one of measuring what was due in some phases."""
    rows = tuple(replace(row, phase=Phase.MEASURE) for row in frame.rows if row.phase in phases)
    return replace(frame, phase=Phase.MEASURE if frame.phase in phases else frame.phase, rows=rows)
