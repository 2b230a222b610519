"""Runs a plan: opens what it needs, carries the suite machine's instructions out, closes everything, judges."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pileup._core._native import now
from pileup.fleet import LocalPlace
from pileup.fleet.capture import routed
from pileup.model.errors import PileupError
from pileup.model.plan import Case, Plan
from pileup.model.record import ERROR, CaseOutcome
from pileup.model.results import RunResults
from pileup.record import RunFolder
from pileup.run.case import CaseRun
from pileup.run.finish import finish
from pileup.run.guard import Guard
from pileup.run.info import first_info
from pileup.run.live import Live
from pileup.run.machine import Begin, CaseEnded, Finish, Instruction, Skip, StopAsked, SuiteMachine
from pileup.run.monitors import MonitorClock, Watch
from pileup.run.servers import Supervisor
from pileup.run.stop import Stop
from pileup.run.targets import Targets
from pileup.suite import instances

SAVE = 10**9
"""run.json is written at most this often while cases end, ns."""


class Runner:
    """One execution of a plan. `folder` is known from the start, so that others can watch it grow."""

    def __init__(self, plan: Plan, base: Path, stop: Stop | None = None) -> None:
        self._plan = plan
        self._stop = stop or Stop()
        self._machine = SuiteMachine(plan)
        self._done: list[CaseRun] = []
        started = now()
        self.folder = RunFolder.create(base, plan.suite.title, started)
        self._info = first_info(plan, started)
        self._saved = 0
        self._save()

    def run(self) -> RunResults:
        """Run to the end, whatever happens, and return the results. The folder holds everything."""
        with routed():
            self._guarded(self._run_all)
        self._info["stopped"] = self._info["stopped"] or self._stop.reason
        self._info["ended"] = now()
        self._save()
        return finish(self.folder, self._info)

    def _run_all(self) -> None:
        supervisor = Supervisor(self.folder)
        targets = Targets(self._plan, self.folder, supervisor)
        monitors = MonitorClock(self._watches(), self.folder)
        place = LocalPlace(0, self.folder)
        try:
            self._info["targets"] = targets.open()
            monitors.start()
            guard = Guard(self._plan.suite.limits, self._info["started"])
            self._carry_out(Live(self._plan, self.folder, targets, place, monitors, guard, self._stop))
        finally:
            for close in (monitors.stop, place.close, supervisor.end_all, targets.close):
                self._guarded(close)

    def _guarded(self, act: Callable[[], None]) -> None:
        """Do it; a fault of ours is written into the record and the run goes on to its end."""
        try:
            act()
        except PileupError as problem:
            self._fault(str(problem), "")
        except Exception as problem:
            self._fault(f"{type(problem).__name__}: {problem}", traceback.format_exc())

    def _fault(self, text: str, trace: str) -> None:
        self._info["stopped"] = self._info["stopped"] or f"internal: {text}"
        self.folder.event("fault", text, trace=trace)

    def _watches(self) -> list[Watch]:
        watches = []
        for spec in self._plan.suite.monitors:
            monitor = instances.make_monitor(self._plan, spec)
            watches.append(Watch(spec.name or spec.use, monitor, spec.every))
        return watches

    def _carry_out(self, live: Live) -> None:
        """Follow the machine to its end, then clean up in reverse order."""
        waiting: list[Instruction] = self._machine.start()
        while waiting:
            match waiting.pop(0):
                case Begin(case):
                    ended = self._run_case(live, case)
                    if self._stop.haste:
                        self._machine.on(StopAsked(f"stopped before: {self._stop.reason}"))
                    waiting += self._machine.on(ended)
                case Skip(case, reason, outcome):
                    self._close_case(case, outcome, reason)
                case Finish():
                    for run in reversed(self._done):
                        self._guarded(run.clean_up)

    def _run_case(self, live: Live, case: Case) -> CaseEnded:
        told = self._told(case)
        told["started"] = now()
        self.folder.event("case", f"{case.name} begins", case=case.id)
        self._save_soon()
        try:
            run = CaseRun(live, case, told)
            self._done.append(run)
            outcome, reason = run.run()
        except Exception as problem:
            self._fault(f"case {case.name}: {type(problem).__name__}: {problem}", traceback.format_exc())
            outcome, reason = ERROR, f"a fault of pileup: {problem}"
        self._close_case(case, outcome, reason)
        return CaseEnded(case.id, outcome, reason)

    def _close_case(self, case: Case, outcome: CaseOutcome, reason: str) -> None:
        told = self._told(case)
        told.update(outcome=str(outcome), reason=reason, ended=now() if told["started"] else None)
        self.folder.event("case", f"{case.name}: {outcome}" + (f", {reason}" if reason else ""), case=case.id)
        self._save_soon()

    def _told(self, case: Case) -> dict[str, Any]:
        told: dict[str, Any] = self._info["cases"][case.id - 1]
        return told

    def _save_soon(self) -> None:
        if now() - self._saved >= SAVE:
            self._save()

    def _save(self) -> None:
        self.folder.save(self._info)
        self._saved = now()
