"""What one trial of a load says: the figure of a check over the time that was looked at."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pileup.model.record import Frame, Phase, SampleRow
from pileup.model.results import Figure
from pileup.stats.cases import CaseData
from pileup.stats.detached import is_ledger
from pileup.stats.distribution import TOO_FEW
from pileup.stats.evaluate import Part, of_test
from pileup.stats.gauge import Gauge
from pileup.stats.limit import limits
from pileup.stats.monitors import whole_series

MISSED = 0.01
"""A level was not there when more than this share of what was due was never begun."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The outcome: `passed` is None when too little was done to tell. `value` in the base unit of the check."""

    value: float | None
    passed: bool | None
    why: str = ""
    """What else is to be said: why it did not pass although the figure may, why it tells nothing."""
    limited: bool = False
    """It did not pass, and the generator was the limit: that says nothing of the system."""


@dataclass(frozen=True, slots=True)
class Trials:
    """Judges trials of a case. `gauge` knows the check and what it speaks of; `own`: that is the case itself.

    `info` is the entry of the case in run.json.
    """

    info: dict[str, Any]
    own: bool
    gauge: Gauge

    def judge(
        self, frames: Iterable[Frame], samples: Sequence[SampleRow], begin: int, end: int, seconds: float
    ) -> Trial:
        """Return what was seen of one trial, whose load is over.

        `begin` and `end` of the time that was looked at, ns since the epoch; `seconds` is what rates are made of.
        Of the case itself `frames` are those of the trial; of others those up to `end`.
        """
        known = list(frames)
        near = [row for row in samples if begin <= row.time <= end]
        mine = self._data(known, (Phase.WARM_UP,))
        trial = self._told(mine, known, near, end, seconds)
        # one that passed although the generator was late passes all the more
        if trial.passed is not False:
            return trial
        # settling tells of the generator too: it had the same load then
        limit = limits([self._data(known, (Phase.RAMP, Phase.WARM_UP))], whole_series(samples))
        slow = [each for each in limit if each.generator]
        return replace(trial, why=slow[0].what, limited=True) if slow else trial

    def _data(self, frames: Iterable[Frame], phases: Collection[Phase]) -> CaseData:
        """Return what was seen of the case itself in some phases, as if that were all of it."""
        info = {word: told for word, told in self.info.items() if word != "find"}
        mine = [_measured(frame, phases) for frame in frames if frame.case == info["id"] and not is_ledger(frame)]
        return CaseData(info, mine, None)

    def _told(
        self, mine: CaseData, frames: Iterable[Frame], samples: Sequence[SampleRow], end: int, seconds: float
    ) -> Trial:
        counts = mine.measured.counts()
        due = counts.ended + counts.missed
        if counts.missed > MISSED * due:
            return Trial(None, False, f"{counts.missed} of {due} iterations that were due were never begun")
        if counts.passed == 0 and due:
            return Trial(None, False, "nothing passed")
        if self.own:
            mine.measured.seconds = seconds
            figure = of_test(self.gauge.check, self.gauge.selected, [Part(mine.measured)])
            return self._judged(figure)
        value = self.gauge.look(end, (frame for frame in frames if frame.time <= end), samples)
        return self._judged(Figure(value, "", None, 0, self.gauge.problem or "nothing was measured"))

    def _judged(self, figure: Figure) -> Trial:
        if figure.value is None:
            few = f": {figure.n} values" if figure.note == TOO_FEW else ""
            return Trial(None, None, f"{figure.note}{few}")
        return Trial(figure.value, self.gauge.check.holds(figure.value))


def _measured(frame: Frame, phases: Collection[Phase]) -> Frame:
    """Return a frame of a trial, whose looked-at part has the phase of a warm-up, as one of measuring."""
    rows = tuple(replace(row, phase=Phase.MEASURE) for row in frame.rows if row.phase in phases)
    return replace(frame, phase=Phase.MEASURE if frame.phase in phases else frame.phase, rows=rows)
