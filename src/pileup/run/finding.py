"""A load that looks for the highest level which meets a criterion: trials, each of them a load of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from pileup._core._native import now
from pileup.model import check as checks
from pileup.model.finding import FOUND, FOUND_HIGH, FOUND_LOW, Find, level_words
from pileup.model.plan import Case
from pileup.model.record import Sample
from pileup.model.suite import Load
from pileup.run.control.search import Search
from pileup.run.live import Live
from pileup.run.steering import cases_of
from pileup.stats import Gauge, Knee, Trial, Trials
from pileup.stats.found import limited_by_generator

NO_LEVEL = "no level was found"
"""Begins the reason of a case whose criterion does not hold at any level."""
Press = Callable[[Load, int], str]
"""Presses a load until it is over, as the trial of that number or, with 0, to be measured; returns why it ended early,
empty when it did not."""


class Finding:
    """The search of one case. `press` presses one load of it; `ended` says whether nothing more is to begin."""

    def __init__(self, live: Live, case: Case, find: Find, press: Press, ended: Callable[[], bool]) -> None:
        self._live, self._case, self._find, self._press, self._ended = live, case, find, press, ended
        self._trials = judge_of(find, live, case)
        low, high = find.between
        self._search = Search(low, high, find.first, find.within, find.at_most, find.raise_ == "clients")
        self._told: dict[str, Any] = live.book.case(case)
        self._told["find"] = self._told["find"] | {"trials": [], "answer": None, "measured": None, "measuring": None}
        self._frames = live.folder.tail_frames(None)[1]
        self._samples = live.folder.end_of_samples()

    def search(self) -> str:
        """Make trials until the answer is known; return why that ended early, empty when it did not."""
        while (level := self._search.next()) is not None:
            early = self._try(level)
            if early or self._ended():
                return early or "stopped while it looked for the level"
        return ""

    def measure(self) -> str:
        """Press the level that was found and measure it; return why that ended early.

        It is the lower end of the interval: the highest load that is known to meet the criterion.
        """
        find, found = self._find, self._search.answer
        level = min(max(found.low, find.between[0]), find.between[1])
        level = float(int(level)) if find.raise_ == "clients" else level
        self._told["find"]["measured"] = level
        self._told["find"]["measuring"] = now()
        if find.raise_ == "rate":
            self._told["rate"] = level
        self._live.book.save()
        begin = now() + find.settle
        early = self._press(self._load(level, self._case.load.for_ or 0), 0)
        self._tell(found, begin + (now() - begin) // 2)
        return early

    @property
    def hopeless(self) -> str:
        """Why there is no level to measure; empty when there is one."""
        find, tried = self._find, self._told["find"]["trials"]
        told = {each["passed"] for each in tried}
        if True in told:
            return ""
        if False in told and not limited_by_generator(tried):
            lowest = min(tried, key=lambda each: float(each["level"]))
            low, why = lowest["level"], f": {lowest['why']}" if lowest["why"] else ""
            least = "even the lowest level" if low == find.between[0] else "no level that was tried, down to"
            return f"{NO_LEVEL}: {least}, {level_words(low, find.raise_)}, does not meet {find.while_}{why}"
        why = tried[-1]["why"] if tried else "no trial was made"
        return f"no trial could tell whether {find.while_} holds: {why}"

    def _try(self, level: float) -> str:
        begin = now()
        early = self._press(self._load(level, self._find.trial), self._search.trials + 1)
        if early or self._ended():
            return early
        after = now()
        frames, self._frames = self._live.folder.tail_frames(self._frames)
        samples, self._samples = self._live.folder.tail_samples(self._samples)
        looked, until = begin + self._find.settle, min(after, begin + self._find.settle + self._find.trial)
        # an open load is over when all that was due has been answered: only then is its rate what the system delivers
        whole = after - looked if self._find.raise_ == "rate" else self._find.trial
        seconds = max(self._find.trial, whole) / 1e9
        trial = self._trials.judge(frames, samples, looked, until, seconds)
        counts = self._search.take(level, trial.passed, trial.limited)
        self._note(level, begin, until, trial if counts else replace(trial, value=None, passed=None))
        return ""

    def _load(self, level: float, length: int) -> Load:
        find = self._find
        word: dict[str, Any] = {"rate": level} if find.raise_ == "rate" else {"clients": int(level)}
        return self._case.load.model_copy(update={"find": None, "warm_up": find.settle, "for_": length, **word})

    def _note(self, level: float, begin: int, end: int, trial: Trial) -> None:
        """Bring a trial into the record, with what is known now."""
        told, find = self._told["find"], self._find
        told["trials"].append({"level": level, "begin": begin, "end": end, **asdict(trial)})
        told["answer"] = asdict(self._search.answer)
        does = {True: "holds", False: "does not hold", None: "is not known"}[trial.passed]
        why = f" ({trial.why})" if trial.why else ""
        text = f"{self._case.name}: {find.while_} {does} at {level_words(level, find.raise_)}{why}"
        self._live.folder.event("find", text, case=self._case.name, level=level, passed=trial.passed)
        self._live.book.save()

    def _tell(self, found: Knee, moment: int) -> None:
        unit = "/s" if self._find.raise_ == "rate" else ""
        low, high = self._find.between
        for metric, value in ((FOUND, found.level), (FOUND_LOW, found.low), (FOUND_HIGH, found.high)):
            within = min(max(value, low), high)
            level = within if unit else float(int(within))
            self._live.monitors.add(self._case.test.name, moment, Sample(metric, level, unit))


def judge_of(find: Find, live: Live, case: Case) -> Trials:
    """Return what judges the trials of a case."""
    plan = live.plan
    monitors = [spec.name or spec.use for spec in plan.suite.monitors]
    selected = checks.resolve(find.check, [test.name for test in plan.suite.tests], monitors)
    mine = cases_of(plan, case, selected.name)
    own = selected.kind == "test" and selected.name == case.test.name
    names = frozenset({selected.name, *(plan.case(number).name for number in mine)})
    return Trials(live.book.case(case), own, Gauge(find.check, selected, mine.__contains__, find.trial, names))
