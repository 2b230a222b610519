"""A load that searches for the highest level that meets its conditions, by trials, each a separate load."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Literal

from pileup._core._native import now
from pileup.model import check as checks
from pileup.model.check import Check
from pileup.model.ending import FINISHED, Ending, EndingKind
from pileup.model.loads.find import Find, FindShape
from pileup.model.loads.levels import FOUND, FOUND_HIGH, FOUND_LOW, level_words
from pileup.model.loads.load import Load
from pileup.model.manifest import FindEntry, SearchAnswer, TrialResult
from pileup.model.plan import Case
from pileup.model.record import FAILED, UNKNOWN, CaseOutcome, Phase, Sample
from pileup.run.control.hold import cases_of
from pileup.run.control.search import Confirm, Search
from pileup.run.session import Live
from pileup.stats.loads.find import limited_by_generator
from pileup.stats.loads.gauge import Gauge
from pileup.stats.loads.trial import Condition, Trial, Trials, TrialWindow

Press = Callable[[Load, int], Ending]
"""Presses a load until it is over, as the trial of that number or, with 0, to be measured; returns how it ended."""
ENDED = Ending(EndingKind.STOPPED, "the search was stopped")
DOES = {True: "holds", False: "does not hold", None: "is not known"}


@dataclass(frozen=True, slots=True)
class SearchEnd:
    """How a search ended: `outcome` of the case and why; None where what was measured is to be judged."""

    outcome: CaseOutcome | None = None
    reason: str = ""
    """Why that is the outcome."""
    ending: Ending = FINISHED
    """How the last load of it ended."""


class CaseSearch:
    """The search of one case. `press` presses one load of it; `ended` says whether nothing more is to begin."""

    def __init__(self, live: Live, case: Case, find: Find, press: Press, ended: Callable[[], bool]) -> None:
        self._live, self._case, self._find, self._press, self._ended = live, case, find, press, ended
        self._trials = judge_of(find, live, case)
        low, high = find.between
        self._search = Search(low, high, find.first, find.within, find.at_most, find.raise_ == "clients")
        self._change(trials=(), measurements=(), answer=None, measured=None, measuring=None)
        self._frames = live.folder.tail_frames(None)[1]
        self._samples = live.folder.end_of_samples()
        self.position = self._frames
        """Where the record of what was measured last begins."""

    @property
    def _known(self) -> FindEntry:
        """What run.json says of the search now."""
        found = self._live.book.case(self._case).find
        if found is None:
            raise ValueError(f"{self._case.name} looks for nothing")
        return found

    def _change(self, **words: Any) -> None:
        """Change what run.json says of the search."""
        find = replace(self._known, **words)
        self._live.book.change(self._case, lambda entry: replace(entry, find=find))

    def run(self) -> SearchEnd:
        """Make trials until the answer is known, and measure it."""
        ending = self._look()
        return SearchEnd(ending=ending) if ending.early else self._hopeless() or self._measure()

    def _look(self) -> Ending:
        """Make trials until the answer is known; return how that ended."""
        while (level := self._search.next()) is not None:
            trial, ending, begin = self._pressed(level, self._find.trial, self._search.trials + 1)
            if ending.early or self._ended():
                return ending if ending.early else ENDED
            counts = self._search.take(level, trial.passed, trial.limited)
            nothing = replace(trial, values=(None,) * len(trial.values), passed=None)
            self._note("trials", level, begin, trial if counts else nothing)
        return FINISHED

    def _hopeless(self) -> SearchEnd | None:
        """Return why there is no level to measure; None when there is one."""
        find, tried = self._find, self._known.trials
        told = {each.passed for each in tried}
        if True in told:
            return None
        if False in told and not limited_by_generator(tried):
            lowest = min(tried, key=lambda each: each.level)
            low, why = lowest.level, f": {lowest.why}" if lowest.why else ""
            least = "even the lowest level" if low == find.between[0] else "no level that was tried, down to"
            level = level_words(low, find.raise_)
            return SearchEnd(FAILED, f"no level was found: {least}, {level}, does not meet {find.words}{why}")
        why = tried[-1].why if tried else "no trial was made"
        return SearchEnd(UNKNOWN, f"no trial showed whether {find.words} holds: {why}")

    def _measure(self) -> SearchEnd:
        """Press the level that was found and measure it.

        It is the lower end of the interval, the highest load that is known to meet the conditions. Where they are not
        met while it is measured, a lower level is measured, a few times: the last one counts.
        """
        confirm = Confirm(self._search)
        while (level := confirm.next()) is not None:
            self.position = self._frames
            self._change(measured=level, measuring=now())
            if self._find.raise_ == "rate":
                self._live.book.change(self._case, partial(replace, rate=level))
            self._live.book.save()
            trial, ending, begin = self._pressed(level, self._case.load.for_ or 0, 0)
            self._note("measurements", level, begin, trial)
            if trial.passed is not False:
                self._tell(level, begin + self._find.settle + (now() - begin - self._find.settle) // 2)
            if ending.early or self._ended():
                return SearchEnd(ending=ending)
            confirm.take(level, trial.passed, trial.limited)
        return self._confirmed()

    def _confirmed(self) -> SearchEnd:
        """Return whether the level that was measured last meets the conditions."""
        find, last = self._find, self._known.measurements[-1]
        if last.passed is not False:
            return SearchEnd()
        level = level_words(last.level, find.raise_)
        told = f"no level was confirmed: measured at {level} it does not meet {find.words}: {last.why}"
        return SearchEnd(UNKNOWN if last.limited else FAILED, told)

    def _pressed(self, level: float, length: int, number: int) -> tuple[Trial, Ending, int]:
        """Press a level and judge it; return also how the load ended, and when it began."""
        begin, settle = now(), self._find.settle
        ending = self._press(FindShape(self._case.load).at(level, length), number)
        end = min(now(), begin + settle + length)
        frames, self._frames = self._live.folder.tail_frames(self._frames)
        samples, self._samples = self._live.folder.tail_samples(self._samples)
        phase = Phase.WARM_UP if number else Phase.MEASURE
        return self._trials.judge(frames, samples, TrialWindow(begin + settle, end, (phase,))), ending, begin

    def _note(self, kind: Literal["trials", "measurements"], level: float, begin: int, trial: Trial) -> None:
        """Bring a trial, or a measurement, into the record, with what is known now."""
        known, find = self._known, self._find
        length = find.trial if kind == "trials" else self._case.load.for_ or 0
        end = min(now(), begin + find.settle + length)
        made = trial_result(trial, level, begin, end)
        answer = SearchAnswer(**asdict(self._search.answer))
        self._change(**{kind: (*getattr(known, kind), made)}, answer=answer)
        why = f" ({trial.why})" if trial.why else ""
        measured = "measured, " if kind == "measurements" else ""
        does = f"{DOES[trial.passed]} at {level_words(level, find.raise_)}"
        text = f"{self._case.name}: {measured}{find.while_} {does}{why}"
        self._live.folder.event("find", text, case=self._case.name, level=level, passed=trial.passed)
        self._live.book.save()

    def _tell(self, level: float, moment: int) -> None:
        """Give the answer as samples of the time at which it was measured."""
        unit = "/s" if self._find.raise_ == "rate" else ""
        known, (low, high) = self._search.answer, self._find.between
        for metric, value in ((FOUND, level), (FOUND_LOW, min(known.low, level)), (FOUND_HIGH, known.high)):
            within = min(max(value, low), high)
            told = within if unit else float(int(within))
            self._live.monitors.add(self._case.test.name, moment, Sample(metric, told, unit))


def trial_result(trial: Trial, level: float, begin: int, end: int) -> TrialResult:
    """Return a trial as run.json keeps it."""
    return TrialResult(
        level, begin, end, trial.values, trial.passed, trial.why, trial.limited, trial.due, trial.not_passed
    )


def judge_of(find: Find, live: Live, case: Case) -> Trials:
    """Return what judges the trials of a case."""
    asked = [_condition(each, find, live, case) for each in find.conditions]
    return Trials(live.book.case(case), asked, find.not_passed)


def _condition(check: Check, find: Find, live: Live, case: Case) -> Condition:
    plan = live.plan
    monitors = [spec.name or spec.use for spec in plan.suite.monitors]
    selected = checks.resolve(check, [test.name for test in plan.suite.tests], monitors)
    mine = frozenset(cases_of(plan, case, selected.name))
    own = selected.kind == "test" and selected.name == case.test.name
    names = frozenset({selected.name, *(plan.case(number).name for number in mine)})
    gauge = Gauge(check, selected, mine.__contains__, find.trial, names) if selected.kind == "monitor" else None
    return Condition(check, selected, own, mine, gauge)
