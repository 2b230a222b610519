"""Faults of a suite: injected at their time during a load, recorded, and undone if they last for a time."""

from __future__ import annotations

import threading

from pileup.model.plan import Plan
from pileup.model.suite import FaultSpec
from pileup.model.units import format_time
from pileup.record import RunFolder
from pileup.run.faults.injection import After, Fault
from pileup.run.servers.supervisor import Supervisor
from pileup.suite.rules.attached import name_of


class Faults:
    """The faults of a run.

    One that names tests (`during`) happens in every load of theirs, one that names none only in the first sustained
    load of the run, except tests with `with`. Its time counts from `begin`. `after` is called for each that is over, in
    a separate thread that `end` waits for. Methods may be called from any thread.
    """

    def __init__(
        self, plan: Plan, supervisor: Supervisor, folder: RunFolder, after: After = lambda number, test: None
    ) -> None:
        self._plan = plan
        self._after = after
        self._supervisor = supervisor
        self._folder = folder
        self._lock = threading.Lock()
        self._begun: set[int] = set()
        """Numbers of faults whose load has begun at least once."""
        self._earlier = {
            entry.fault: entry.test
            for entry in folder.journal_entries()
            if entry.what == "fault" and entry.fault is not None
        }
        """Those that happened in an earlier session of this run, and under which test."""
        lost = {each.name for each in plan.uncovered if each.what == "fault"}
        self._lost = {number for number, spec in enumerate(plan.suite.faults) if name_of(number, spec) in lost}
        """Those that cannot be done: pileup did not start their target."""
        self._under_way: dict[str, list[Fault]] = {}
        self.problems: list[str] = []
        """What should have happened and did not, or not as the suite says."""

    def begin(self, test: str) -> None:
        """The load of a test begins now."""
        with self._lock:
            meant = [
                number
                for number, spec in enumerate(self._plan.suite.faults)
                if self._meant(number, spec, test) and number not in self._lost
            ]
            self._begun.update(meant)
            faults = [
                Fault(number, self._plan.suite.faults[number], test, self._supervisor, self._folder, after=self._after)
                for number in meant
            ]
            self._under_way.setdefault(test, []).extend(faults)
        for each in faults:
            each.begin()

    def end(self, test: str) -> None:
        """The load of a test has ended: undo what still lasts; other faults of it will not happen."""
        with self._lock:
            faults = self._under_way.pop(test, [])
        for each in faults:
            each.ask_to_end()
        problems = [problem for each in faults if (problem := each.end())]
        with self._lock:
            self.problems += problems

    def close(self) -> None:
        """No load will begin any more: report faults whose load never began."""
        for test in list(self._under_way):
            self.end(test)
        for number, spec in enumerate(self._plan.suite.faults):
            if number not in self._begun and number not in self._earlier and number not in self._lost:
                whose = " or ".join(spec.during) or "a sustained load"
                self.problems.append(f"{words_of(spec)} did not happen: the load of {whose} never began")

    def _meant(self, number: int, spec: FaultSpec, test: str) -> bool:
        if spec.during:
            return test in spec.during
        found = self._plan.suite.test(test)
        mine = self._earlier.get(number, test) == test
        return mine and number not in self._begun and found.load.sustained and not found.with_


def words_of(spec: FaultSpec) -> str:
    """Return a fault in words."""
    whom = spec.target or (spec.run or "").partition(" ")[0]
    return f"{spec.do} of {whom} at {format_time(spec.at)}"
