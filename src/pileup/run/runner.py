"""Runs a plan: opens what it needs, follows the suite machine's instructions, closes everything, judges."""

from __future__ import annotations

import queue
import threading
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from pileup._core._native import now
from pileup.fleet.python.capture import routed
from pileup.model.ending import StoppedBy
from pileup.model.errors import PileupError, RecordError
from pileup.model.not_covered import Uncovered
from pileup.model.plan import Case, Plan
from pileup.model.record import ERROR, NOT_RUN, CaseOutcome
from pileup.model.results import RunResults
from pileup.plugin import Monitor
from pileup.plugin.options import declared
from pileup.record import RunFolder
from pileup.run.audit.submissions import Audits
from pileup.run.case import CaseRun
from pileup.run.control.cooldown import cool_down
from pileup.run.control.until import PrecisionWatch
from pileup.run.faults.schedule import Faults
from pileup.run.finish import finish
from pileup.run.machine import (
    BeginCase,
    CaseEnded,
    EndRoles,
    EnterPoint,
    Finish,
    Instruction,
    LeavePoint,
    NoMoreRepeats,
    Skip,
    StopAsked,
    SuiteMachine,
    VisitFailed,
    Wait,
)
from pileup.run.manifest import ManifestWriter, over
from pileup.run.manifest_start import first_manifest
from pileup.run.monitoring.clock import MonitorClock, Watch
from pileup.run.once import OncePerRun
from pileup.run.places.calibration import calibrate
from pileup.run.places.fleets import Fleets
from pileup.run.recovery import leftovers
from pileup.run.recovery.requests import end_requests
from pileup.run.recovery.resume import EarlierSessions
from pileup.run.roles import Role
from pileup.run.safety.limits import LimitCheck, WriteRules
from pileup.run.safety.own_folders import OwnFolders, with_own
from pileup.run.servers.supervisor import Supervisor
from pileup.run.session import BEAT, Foreground, Live
from pileup.run.stop import Stop, StopMode
from pileup.run.targets.calls import Caller
from pileup.run.targets.opening import Targets
from pileup.run.targets.settings import Settings
from pileup.suite import instances
from pileup.suite.rules.attached import is_attached

DEBUG_BUILD = "the engine is a DEBUG BUILD, many times slower than a release: the figures of this run are not reliable"


class Runner:
    """One execution of a plan. `folder` is known from the start, so that others can watch it grow.

    With `earlier` it goes on with a run that was broken off, in the same folder. `foreground` may give a case other
    work than that of its test (`run/foreground.py`).
    """

    def __init__(
        self,
        plan: Plan,
        base: Path,
        stop: Stop | None = None,
        earlier: EarlierSessions | None = None,
        foreground: Foreground = lambda _case, work: work,
    ) -> None:
        self._foreground = foreground
        self._stop = stop or Stop()
        self._machine = SuiteMachine(plan, earlier.done if earlier else None)
        self._done: dict[int, CaseRun] = {}
        self._roles: dict[int, Role] = {}
        self._objects = earlier.objects if earlier else {}
        self._once: OncePerRun
        self._beside: dict[int, Case] = {}
        """Cases under way, each in a thread of its own."""
        self._ended: queue.SimpleQueue[CaseEnded] = queue.SimpleQueue()
        self._precision: PrecisionWatch | None = None
        started = now()
        self.folder = earlier.folder if earlier else RunFolder.create(base, plan.suite.title, started)
        self._plan = plan = with_own(plan, self.folder)
        self._book = ManifestWriter(self.folder, earlier.run if earlier else first_manifest(plan, started))
        self._started = started
        self.reports: list[Path] = []
        """Files for people to look at, once it has run."""
        self._held = earlier.held if earlier else None
        if plan.suite.until is not None:
            self._precision = PrecisionWatch(plan, plan.suite.until, self.folder, self._book)
        self._book.save()

    def run(self) -> RunResults:
        """Run to the end, whatever happens, and return the results. The folder holds everything.

        Raises RecordError, once all is ended in order, when the disk does not take the record.
        """
        held = leftovers.register(self.folder, self._plan, self._held)
        with routed():
            self._guarded(self._run_all)
        self._book.stopped(self._stop.by, self._stop.reason)
        self._book.update(lambda run: over(run, now()))
        try:
            self._book.save()
            results, self.reports = finish(self.folder, self._book.run, self._plan)
            return results
        except Exception as problem:
            if not self._book.broken and not isinstance(problem, (RecordError, OSError)):
                raise
            raise self._unfinished(problem) from problem
        finally:
            leftovers.unregister(held)

    def _unfinished(self, problem: Exception) -> RecordError:
        path = self.folder.path
        hint = f"what was recorded is kept: `pileup show {path}`, and `pileup resume {path}` once there is room"
        why = self._book.broken_by or problem
        what = why.what if isinstance(why, PileupError) else str(why)
        return RecordError(f"the run was ended, its record is not finished: {what}", "room on the disk", hint)

    def _run_all(self) -> None:
        plan, folder, book = self._plan, self.folder, self._book
        supervisor = Supervisor(folder)
        targets = Targets(plan, folder, supervisor, Caller(self._stop))
        settings = Settings(plan, folder, targets, supervisor)
        first = folder.next_place()
        monitors = MonitorClock(
            self._watches(targets, supervisor), folder, plan, first, targets.index, lack=self._lacks
        )
        audits = Audits(plan, folder, targets, monitors, book=self._book, stop=self._stop)
        faults = Faults(plan, supervisor, folder, audits.after_fault)
        fleets: Fleets | None = None
        try:
            overhead = calibrate()
            book.update(lambda run: replace(run, overhead=overhead))
            if book.run.debug_build:
                folder.event("build", DEBUG_BUILD)
            opened = targets.open()
            book.update(lambda run: replace(run, targets=opened))
            book.save()  # what a crash leaves is judged by it
            monitors.start()
            guard, rails = LimitCheck(plan.suite.limits, self._started), WriteRules(plan, targets)
            fleets = Fleets(plan, folder, targets, first, book, session=len(book.run.sessions))
            stop = self._stop
            grounds = OwnFolders(plan, folder, fleets.flush)
            parts = (plan, folder, book, targets, settings, fleets, monitors, faults, guard, rails, grounds, stop)
            live = Live(*parts, self._foreground)
            try:
                self._carry_out(live)
            finally:
                self._guarded(partial(audits.at_end, live.serve))
                self._guarded(partial(end_requests, folder, plan, targets.get, _beating(live)))
        finally:
            ends = [
                targets.relays.close,
                faults.close,
                settings.restore_all,
                monitors.rest,
                *([fleets.close] if fleets is not None else []),
            ]
            for end in (*ends, supervisor.end_all, monitors.stop, targets.close, targets.caller.close):
                self._guarded(end)
            book.update(lambda run: replace(run, fault_problems=tuple(faults.problems)))

    def _guarded(self, act: Callable[[], object]) -> None:
        """Do it; an internal error is written into the record, and the run goes on to its end."""
        try:
            act()
        except PileupError as problem:
            self._book.failed(str(problem))
        except Exception as problem:
            known = self._book.broken and isinstance(problem, OSError)  # the disk refuses again
            told = str(problem) if known else f"{type(problem).__name__}: {problem}"
            self._book.failed(told, "" if known else traceback.format_exc())

    def _watches(self, targets: Targets, supervisor: Supervisor) -> list[Watch]:
        watches = []
        lost = {each.name for each in self._plan.uncovered if each.what == "monitor" and each.whole}
        for spec in self._plan.suite.monitors:
            monitor: Monitor = instances.make_monitor(self._plan, spec)
            if "target" in declared(type(monitor)) and (watched := getattr(monitor, "target", None)):
                target = watched.partition(".")[0]
                monitor.attach(partial(targets.open_target, target), partial(supervisor.running, watched))
            else:
                target = ""
            name = spec.name or spec.use
            watches.append(Watch(name, monitor, spec.every, spec.host, target, spec.watches or "", name not in lost))
        return watches

    def _lacks(self, watch: Watch, reason: str, whole: bool) -> None:
        """Note what a monitor cannot measure of a system that pileup did not start."""
        spec = self._plan.suite.targets.get(watch.target)
        if spec is not None and is_attached(spec, Path(self._plan.folder)):
            self._book.lacks(Uncovered("monitor", watch.name, reason, whole))

    def _carry_out(self, live: Live) -> None:
        """Follow the machine to its end."""
        self._once = once = OncePerRun(live)
        self._done = {
            number: CaseRun(live, once, self._plan.case(number), made=made) for number, made in self._objects.items()
        }
        try:
            while not isinstance(instruction := self._next(), Finish):
                self._do(live, instruction)
        finally:
            self._guarded(self._end_beside)
            self._guarded(once.end)
        self._clean_up(list(self._done))
        for told in live.grounds.leave(live.targets.files):
            live.folder.event("clean-up", told)

    def _next(self) -> Instruction:
        if self._stop.haste:
            self._machine.take(StopAsked(f"stopped before: {self._stop.reason}"))
        return self._machine.next()

    def _do(self, live: Live, instruction: Instruction) -> None:
        match instruction:
            case EnterPoint(visit, settings):
                self._enter(live, visit, settings)
            case BeginCase(case, _, beside=True):
                self._begin_beside(live, case)
            case BeginCase(case, roles):
                self._machine.take(self._begin(live, case, roles))
            case EndRoles(roles):
                for case in roles:
                    self._end_role(case)
            case Skip(case, reason, outcome):
                self._book.end(case, outcome, reason)
            case Wait():
                self._await()
            case LeavePoint(visit):
                self._leave(live, visit)

    def _enter(self, live: Live, visit: int, wanted: dict[str, dict[str, object]]) -> None:
        for target, values in wanted.items():
            try:
                live.settings.change(target, values)
            except PileupError as problem:
                self._machine.take(VisitFailed(visit, str(problem)))
                return

    def _leave(self, live: Live, visit: int) -> None:
        if self._plan.suite.cooldown is not None and not self._stop.haste:
            cool_down(live, self._plan.suite.cooldown, visit)
        self._clean_up(
            [number for number in self._done if (case := self._plan.case(number)).visit == visit and _of_visit(case)]
        )
        points = max(1, len(self._plan.points))
        if self._precision is not None and (visit + 1) % points == 0:
            repeat = (visit + 1) // points
            if reason := self._precision.enough(repeat):
                self._machine.take(NoMoreRepeats(repeat, reason))
                live.folder.event("until", reason)

    def _clean_up(self, numbers: list[int]) -> None:
        """Remove what cases have made, the last one first."""
        for number in reversed(numbers):
            self._guarded(self._done.pop(number).clean_up)

    def _begin(self, live: Live, case: Case, roles: tuple[Case, ...]) -> CaseEnded:
        for role in roles:
            ended = threading.Event()
            run = CaseRun(live, self._once, role, ended=ended)
            self._roles[role.id] = Role(run, ended, self._carry)

        def begin_roles() -> None:
            for role in roles:
                self._roles[role.id].begin()

        return self._carry(CaseRun(live, self._once, case, begin_roles))

    def _begin_beside(self, live: Live, case: Case) -> None:
        """Begin a case in a thread of its own, beside those that are under way."""
        for other in self._beside.values():
            self._told_beside(case, other)
            self._told_beside(other, case)
        self._beside[case.id] = case
        run = CaseRun(live, self._once, case)

        def carry() -> None:
            found: list[CaseEnded] = []
            self._guarded(lambda: found.append(self._carry(run)))
            self._ended.put(found[0] if found else CaseEnded(case.id, ERROR, "an internal error of pileup"))

        threading.Thread(target=carry, name=f"case {case.name}", daemon=True).start()

    def _told_beside(self, case: Case, other: Case) -> None:
        shared = [name for name in case.test.aims if name in other.test.aims]
        what = "the CPU of pileup" + "".join(f" and target {name}" for name in shared)
        self._book.note(case, f"ran at the same time as {other.name}: they shared {what}")

    def _await(self) -> None:
        """Wait until one of the cases under way has ended."""
        ended = self._ended.get()
        self._beside.pop(ended.case)
        self._machine.take(ended)

    def _end_beside(self) -> None:
        """End what is still under way: after an internal error of pileup alone, for the machine waits for its cases."""
        if self._beside:
            self._stop.ask(StoppedBy.INTERNAL, "an internal error of pileup", StopMode.IN_ORDER)
        while self._beside:
            self._await()

    def _end_role(self, case: Case) -> None:
        answer = self._roles.pop(case.id).end()
        if answer is None:
            outcome, reason = NOT_RUN, "the load that it runs alongside did not begin"
            self._book.end(case, outcome, reason)
            answer = CaseEnded(case.id, outcome, reason)
        self._machine.take(answer)

    def _carry(self, run: CaseRun) -> CaseEnded:
        """Execute a case or a role, whatever happens."""
        case = run.case
        if case.id in self._done:
            self._clean_up([case.id])  # what the attempt that was broken off has made
        self._book.begin(case)
        self._done[case.id] = run
        outcome: CaseOutcome
        try:
            outcome, reason = run.run()
        except Exception as problem:
            self._book.failed(f"case {case.name}: {type(problem).__name__}: {problem}", traceback.format_exc())
            outcome, reason = ERROR, f"an internal error of pileup: {problem}"
        self._book.end(case, outcome, reason)
        return CaseEnded(case.id, outcome, reason)


def _beating(live: Live) -> Callable[[], bool]:
    """Return what serves a run once a beat, and says whether it is not to end at once."""
    due = now()

    def go_on() -> bool:
        nonlocal due
        if now() >= due:
            live.serve()
            due = now() + BEAT
        return live.stop.haste is not StopMode.AT_ONCE

    return go_on


def _of_visit(case: Case) -> bool:
    """Whether what a case made is for its visit alone; points are come back to in later repeats."""
    return case.test.scope == "case"
