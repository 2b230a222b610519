"""What one trial of a load says: the figures of its conditions over the time that was looked at."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pileup._core._native import Histogram
from pileup.model.check import TIMES, Check, Selected
from pileup.model.record import Frame, Phase, SampleRow
from pileup.model.results import Counts, Figure
from pileup.model.units import format_count
from pileup.stats import evaluate
from pileup.stats.cases import CaseData
from pileup.stats.detached import is_ledger
from pileup.stats.distribution import TOO_FEW
from pileup.stats.evaluate import Part, of_test
from pileup.stats.gauge import Gauge, recent
from pileup.stats.generator import LATE_LEAST
from pileup.stats.intervals import quantile_ranks
from pileup.stats.judge import not_passed as outcomes
from pileup.stats.limit import limits
from pileup.stats.measured import PRESSED, Measured
from pileup.stats.monitors import whole_series
from pileup.stats.window import Window

NOTHING = "nothing was measured"
MORE = (">", ">=")
BUNCH = 2
"""Failures that one late start may be to blame for, at most."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The outcome: `passed` is None when too little was done to tell."""

    values: tuple[float | None, ...]
    """The figure of each condition, in its base unit; None where there is none, or where it is censored."""
    passed: bool | None
    why: str = ""
    """What else is to be said: why it did not pass although the figures may, why it tells nothing."""
    limited: bool = False
    """It did not pass, and the generator was the limit: that says nothing of the system."""
    due: int = 0
    """Iterations that were due in the time that was looked at."""
    not_passed: int = 0
    """How many of them did not pass."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A figure of a trial: a value, or what is known of one that is larger than all that was seen."""

    value: float | None
    above: float | None = None
    """The value is larger than this; infinite: there was no answer."""
    n: int = 0
    note: str = ""


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
class Looked:
    """The time that is looked at, ns since the epoch, and the phases of what was due in it."""

    begin: int
    end: int
    phases: Collection[Phase] = (Phase.WARM_UP,)
    before: Collection[Phase] = (Phase.RAMP,)
    """Phases of what was due while it settled."""


@dataclass(frozen=True, slots=True)
class Trials:
    """Judges trials of a case: each condition must hold, and at most a share `most` of what was due may not pass.

    `info` is the entry of the case in run.json.
    """

    info: dict[str, Any]
    conditions: Sequence[Condition]
    most: float

    def judge(self, frames: Iterable[Frame], samples: Sequence[SampleRow], looked: Looked) -> Trial:
        """Return what was seen of one trial, whose load is over; `frames` and `samples` are those since it began."""
        known = [frame for frame in frames if not is_ledger(frame)]
        mine = self._data(known, looked.phases)
        trial = self._told(mine, known, samples, looked)
        # one that passed although the generator was late passes all the more
        if trial.passed is not False:
            return trial
        # settling tells of the generator too: it had the same load then
        limit = limits([self._data(known, (*looked.before, *looked.phases))], whole_series(samples))
        slow = [each for each in limit if each.generator]
        if not slow or (not slow[0].failures and self._refuses(mine.measured)):
            return trial
        return replace(trial, why=slow[0].what, limited=True)

    def _refuses(self, measured: Measured) -> bool:
        """Return whether more failed or was refused than late starts can be to blame for: that is the system's.

        Starts that come late come in a bunch, which a system may refuse, and as many behind it.
        """
        counts, late = measured.counts(), measured.late
        blamed = BUNCH * late.count * (1 - late.share_at(LATE_LEAST)) if late.count else 0.0
        return counts.failed + counts.refused - blamed > self.most * (counts.ended + counts.missed)

    def _data(self, frames: Iterable[Frame], phases: Collection[Phase]) -> CaseData:
        """Return what was seen of the case itself in some phases, as if that were all of it."""
        info = {word: told for word, told in self.info.items() if word != "find"}
        return CaseData(info, [_measured(frame, phases) for frame in frames if frame.case == info["id"]], None)

    def _told(self, mine: CaseData, frames: list[Frame], samples: Sequence[SampleRow], looked: Looked) -> Trial:
        counts = mine.measured.counts()
        due = counts.ended + counts.missed
        seen = [self._seen(each, mine.measured, frames, samples, looked) for each in self.conditions]
        values = tuple(each.value for each in seen)
        checks = [each.check for each in self.conditions]
        said = [(holds(check, known), check, known) for check, known in zip(checks, seen, strict=True)]
        wrong = due - counts.passed
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
        self, asked: Condition, own: Measured, frames: list[Frame], samples: Sequence[SampleRow], looked: Looked
    ) -> Seen:
        if asked.gauge is not None:
            near = [row for row in samples if looked.begin <= row.time <= looked.end]
            value = asked.gauge.look(looked.end, (), near)
            return Seen(value, note=asked.gauge.problem or NOTHING)
        cases = {int(self.info["id"])} if asked.own else asked.cases
        theirs = [frame for frame in frames if frame.case in cases]
        inside = [frame for frame in theirs if looked.begin < frame.time <= looked.end]
        measured = own if asked.own else recent(inside)
        return of_window(asked.check, asked.selected, measured, window_of(theirs, looked.begin, looked.end))


def of_window(check: Check, selected: Selected, measured: Measured, window: Window) -> Seen:
    """Return the figure of a check on a test: quantiles over all that was due, rates of what ended in the window."""
    if check.function == "quantile" and selected.field in TIMES:
        return _quantile(check.quantile or 0.5, selected, measured)
    return _seen(of_test(check, selected, [Part(measured, window)]))


def holds(check: Check, seen: Seen) -> bool | None:
    """Return whether a figure meets a check; None when that is not known.

    A censored figure meets only that it is more than something, as far as its bound shows that.
    """
    if seen.value is not None:
        return check.holds(seen.value)
    if seen.above is None:
        return None
    return check.comparison in MORE and seen.above >= check.value


def window_of(frames: Iterable[Frame], begin: int, end: int) -> Window:
    """Return what ended passed between two times, by frames: those that cross an edge count with their share inside.

    Whatever was due in it, or before: what a backlog hands over is no more than what the system does in that time.
    """
    done: dict[tuple[str, bool], tuple[float, float]] = {}
    for frame in frames:
        inside = min(frame.time, end) - max(frame.time - frame.nanoseconds, begin)
        if inside <= 0 or frame.nanoseconds <= 0:
            continue
        share = inside / frame.nanoseconds
        for row in frame.rows:
            if row.phase in PRESSED:
                passed, moved = done.get((row.operation, row.iteration), (0.0, 0.0))
                done[row.operation, row.iteration] = (passed + share * row.passed, moved + share * row.bytes)
    return Window(begin, max(end, begin + 1), done)


def _quantile(share: float, selected: Selected, measured: Measured) -> Seen:
    """Return a quantile (ns) over all that was due, or over all that began (service): the rest is slower than any."""
    tallies = measured.named(selected.operation)
    whole = Histogram()
    for tally in tallies:
        whole.add(tally.service if selected.field == "service" else tally.response)
    n = sum(tally.ended for tally in tallies)
    if selected.operation is None and selected.field == "response":
        n += measured.missed
    if quantile_ranks(share, n) is None:
        return Seen(None, None, n, TOO_FEW if n else NOTHING)
    rank = max(1, math.ceil(share * n))
    if rank > whole.count:
        return Seen(None, math.inf, n, "no answer")
    return Seen(float(min(whole.at_rank(rank), whole.max)), n=n)


def _seen(figure: Figure) -> Seen:
    return Seen(figure.value, getattr(figure, "above", None), figure.n, figure.note)


def _lost_words(counts: Counts, due: int) -> str:
    told = f"{format_count(due - counts.passed)} of {format_count(due)} that were due did not pass"
    return f"{told} ({outcomes(counts)})"


def _failed_words(check: Check, seen: Seen) -> str:
    if seen.value is None:
        return f"{check.figure} is {seen.note or 'more than was seen'}"
    return f"{check.figure} is {evaluate.amount(seen.value, check.dimension)}"


def _unknown_words(unknown: Sequence[Seen]) -> str:
    if not unknown:
        return NOTHING
    few = f": {unknown[0].n} values" if unknown[0].note == TOO_FEW else ""
    return f"{unknown[0].note}{few}"


def _measured(frame: Frame, phases: Collection[Phase]) -> Frame:
    """Return a frame of a trial as one of measuring what was due in some phases."""
    rows = tuple(replace(row, phase=Phase.MEASURE) for row in frame.rows if row.phase in phases)
    return replace(frame, phase=Phase.MEASURE if frame.phase in phases else frame.phase, rows=rows)
