"""One case from its delay to its outcome: prepare, press, judge; and its clean-up when its point or the run is done."""

from __future__ import annotations

import inspect
import secrets
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

from pileup import stats
from pileup.fleet import Fleet, Order, Work
from pileup.fleet.order import case_seed
from pileup.fleet.program_runner import operations_of
from pileup.fleet.starts import StartsFile
from pileup.model.ending import FINISHED, Ending, EndingKind, StoppedBy
from pileup.model.errors import Failed, PileupError, PluginError, Refused, TargetError, VerdictException
from pileup.model.journal import JournalEntry
from pileup.model.loads.find import Find
from pileup.model.loads.load import Load
from pileup.model.manifest import CaseEntry, ReplayEntry
from pileup.model.not_covered import Uncovered
from pileup.model.plan import Case
from pileup.model.program import Program, Step
from pileup.model.record import ERROR, FAILED, NOT_RUN, PASSED, UNAVAILABLE, UNKNOWN, CaseOutcome, Phase
from pileup.model.shared import SharedData, from_text
from pileup.plugin import Coordinator, FileTarget, Target, Test
from pileup.plugin.target import NO_CLIENT
from pileup.plugin.verdict import verdict_on
from pileup.record import Output, Position
from pileup.run.control.find import CaseSearch, SearchEnd
from pileup.run.control.hold import Steering
from pileup.run.delay import draw
from pileup.run.once import OncePerRun
from pileup.run.places.changed_globals import remark_on
from pileup.run.places.joined import joined, split, united
from pileup.run.places.program_fallback import client_for, interpreted
from pileup.run.places.replay_starts import replayed
from pileup.run.safety.boundary import inside_of
from pileup.run.safety.kept_sets import counting, deleting, describe, found_again, left_alone
from pileup.run.safety.own_folders import PreparedWrites, in_own, prepared_writes
from pileup.run.safety.second_targets import check_destination, destinations
from pileup.run.safety.set_contents import made_by, making, ours, remove_folders
from pileup.run.session import Live
from pileup.run.stop import StopMode
from pileup.run.targets.calls import CalledOff
from pileup.suite import instances
from pileup.suite.problems import parts

Ended = tuple[CaseOutcome, str]
Given = TypeVar("Given")


class CaseRun:
    """Executes one case."""

    def __init__(
        self,
        live: Live,
        once: OncePerRun,
        case: Case,
        begin_roles: Callable[[], None] = lambda: None,
        ended: threading.Event | None = None,
        *,
        made: int = 0,
    ) -> None:
        self._live = live
        self._once = once
        self.case = case
        self._begin_roles = begin_roles
        self._ended = ended
        self._output: Output = live.folder.output(case.name, partial(live.claimed, case))
        self._program: Program | None = None
        """The programs of a native test, joined over all places."""
        self._programs: list[Program] = []
        """The program of a native test, whether the engine or another client runs it."""
        self._limit = case.test.timeout
        """Timeout of an iteration, ns; in the engine of an operation of a program."""
        self._leaves: frozenset[str] = frozenset()
        """Kinds of objects that its iterations may leave on the target."""
        self._shared = ""
        """What its `begin_run` returned, as text."""
        self._data: SharedData | None = None
        self._noted: JournalEntry | None = None
        self._waits = False
        self._made = made
        """Entry of the journal that says what is made; 0 when nothing is."""

    @property
    def _target(self) -> Target | None:
        """The target as it is now: a server that was started again may be another one."""
        return self._live.targets.get(self.case.test.target)

    @property
    def _files(self) -> Target | None:
        """The target for preparation and clean-up, apart from the load."""
        return self._live.targets.files(self.case.test.target)

    @property
    def _known(self) -> CaseEntry:
        """What run.json says of the case now."""
        return self._live.book.case(self.case)

    def run(self) -> Ended:
        """Return how the case ended and why."""
        for name in self.case.test.aims:
            if problem := self._live.targets.problem(name):
                return UNAVAILABLE, problem
        self._delay()
        try:
            outcome, reason = self._press()
        except CalledOff as problem:
            return NOT_RUN, str(problem)
        except VerdictException as refusal:
            outcome, reason = FAILED, f"set-up failed: {refusal}"
        except (PileupError, ValueError, OSError) as mistake:
            outcome, reason = ERROR, str(mistake)
        if outcome != PASSED and (ended := self._relay_ended()):
            return ERROR, ended
        return self._without_server(outcome, reason)

    def clean_up(self) -> None:
        """Remove what the case has made, when the suite says so; a run that ends at once leaves it."""
        if not self._made or self._hurried:
            return
        passed = self._known.outcome is PASSED
        wanted = {"always": True, "passed": passed, "never": False}[self.case.test.cleanup]
        program = self._of_all_places("cleanup") if wanted and self._target else None
        problem = self._remove(program) if program else self._keep()
        state = ("removed" if program else "kept") if not problem else "left"
        told = {"own": self._entry.own, "problem": problem}
        self._live.folder.journal("objects", state, of=self._made, case=self.case.name, **told)
        if problem:
            again = f"`pileup clean {self._live.folder.path}` tries again"
            self._live.book.note(self.case, f"clean-up: {problem}; {again}")

    @property
    def _entry(self) -> JournalEntry:
        """What the journal says that was to be made."""
        if self._noted is None:  # by an earlier session of the run, or just now
            entries = self._live.folder.journal_entries()
            self._noted = next((each for each in entries if each.number == self._made), JournalEntry(0, 0))
        return self._noted

    def _remove(self, program: Program) -> str:
        """Remove what was made: all of it in the run's own folder, elsewhere what is known to be the run's.

        Returns what went wrong.
        """
        entry, target = self._entry, self._files
        try:
            if entry.own is not False or not isinstance(target, FileTarget):
                return self._do(program, Phase.CLEANUP)
            self._live.fleets.flush()
            found = ours(self._live.folder, target, entry)
            problem = self._do(deleting(found.names), Phase.CLEANUP) if found.names else ""
            told = (problem, remove_folders(target, found.folders), left_alone(found.others))
        except (VerdictException, TargetError) as unknown:
            return str(unknown)
        return "; ".join(each for each in told if each)

    def _keep(self) -> str:
        """Keep what was made, with a file that describes it. Returns what went wrong."""
        entry, target = self._entry, self._files
        if entry.own is False and isinstance(target, FileTarget) and self._known.outcome is PASSED:
            return describe(target, made_by(entry.made))
        return ""

    def _begin_run(self) -> str:
        """Call `begin_run` of the test, unless that was done; return what went wrong."""
        cls = instances.class_of_test(self.case.test.use, Path(self._live.plan.folder))
        once = cls.begin_run is not Test.begin_run
        if not cls.native() and (once or self.case.test.targets):
            self._enter_all()
        self._shared, problem = self._once.begin(self.case, cls, lambda: self._make(0), self._output)
        self._data = from_text(self._shared)
        return problem

    def _press(self) -> Ended:
        if problem := self._begin_run():
            return FAILED, f"set-up failed: {problem}"
        test = self._make(0)
        work = self._work(test)
        preparation, removal = self._of_all_places("prepare"), self._of_all_places("cleanup")
        self._leaves, self._waits = test.leaves, test.waits
        engine = "native" if work.program is not None else "python"
        self._live.book.change(self.case, lambda entry: replace(entry, engine=engine))
        places = self._live.plan.suite.places
        several = not test.native() and places.count != 1
        own = [remark_on(self.case.test.use, Path(self._live.plan.folder))] if several else []
        for remark in (*filter(None, own), *self._asked("remarks", test.remarks)):
            self._live.book.remark(self.case, remark)
        if lack := self._asked("lacks", test.lacks):
            self._live.book.lacks(Uncovered("test", self.case.test.name, lack, whole=False))
        footing = prepared_writes(self._live.plan, self.case, self._program)
        self._live.rails.check_inside(self.case, self._target, self._program, preparation, removal)
        if found := self._found(footing.load):
            return PASSED, found
        if problem := self._ready(footing, preparation, removal):
            return FAILED, f"set-up failed: {problem}"
        if footing.load is not None:
            work = self._work_with(counting(self._files, footing.load))
        return self._press_work(work)

    def _ready(self, footing: PreparedWrites, preparation: Program | None, removal: Program | None) -> str:
        """Prepare the target, after noting in the journal what will be made; return what went wrong."""
        try:
            self._live.grounds.enter(self.case, self._files, self._program, preparation)
            for to in destinations((self._program,)):
                self._live.grounds.enter_second(to.target, check_destination(self._live.plan, self._live.targets, to))
        except VerdictException as refusal:  # a storage that refuses has failed
            return str(refusal)
        self._live.rails.check(self.case, self._target, self._program, preparation, removal)
        self._note_objects(removal, footing, preparation)
        problem = self._do(preparation, Phase.SETUP) if preparation else ""
        first = None if problem else self._live.grounds.missing(self._files, footing)
        return problem or (self._do(first, Phase.SETUP) if first else "")

    def _enter_all(self) -> None:
        """Make the run's own folder on each target of a Python test that may write there before its clients do.

        A storage that refuses writes may be the one that it reads from: that is reported, and not an error.
        """
        for name in self.case.test.aims:
            target, own = self._live.targets.files(name), self._live.plan.own.get(name, "")
            try:
                if isinstance(target, FileTarget) and not inside_of(self._live.plan, name, target).problem(own):
                    self._live.grounds.enter_second(name, target)
            except (Failed, Refused) as refusal:
                self._live.folder.event("target", f"case {self.case.name}: {refusal}")

    def _press_work(self, work: Work) -> Ended:
        position, sampled = self._end_of_frames(), self._live.folder.end_of_samples()
        fleet = self._live.fleets.of(self.case, native=work.program is not None)
        with replayed(self.case, self._tell_starts) as starts:
            self._begin_roles()
            self._live.faults.begin(self.case.test.name)
            sought, steering = SearchEnd(), None
            try:
                if self.case.load.find is not None:
                    sought, position = self._find(self.case.load.find, fleet, work)
                    ending = sought.ending
                else:
                    order, longest = self._order(starts), self.case.longest
                    steering = None if order.load.hold is None else Steering(self._live, self.case, order.load.hold)
                    ending = self._attend(fleet, order, work, longest, self._ended, steering=steering)
            finally:
                self._live.faults.end(self.case.test.name)
        if unrecorded := self._live.unrecorded():
            self._live.book.cut(self.case)  # it is done again once there is room
            return ERROR, unrecorded
        if ending.kind is EndingKind.UNREADABLE:
            return ERROR, str(ending)
        if sought.outcome is not None:
            return sought.outcome, sought.reason
        if ending.kind is EndingKind.SET_UP_FAILED:
            return FAILED, str(ending)
        if ending.kind is EndingKind.LIMIT:
            self._live.stop.ask(StoppedBy.LIMIT, ending.why, StopMode.IN_ORDER)
        outcome, judged = self._judge(self._known, position, Phase.MEASURE)
        if outcome == UNKNOWN and steering is not None:
            outcome, judged = steering.idle()
        excused = self._excused(position, sampled) if outcome == FAILED else ""
        told = "; ".join(part for part in (excused, judged, str(ending)) if part)
        return (UNKNOWN, told) if excused else (outcome, told)

    def _without_server(self, outcome: CaseOutcome, reason: str) -> Ended:
        """Return the outcome of a case: where its server has ended by itself it has failed, unless `fail_when` says."""
        gone = "; ".join(filter(None, map(self._live.targets.gone, self.case.test.aims)))
        if not gone or outcome not in (FAILED, ERROR, PASSED) or (outcome is PASSED and self.case.test.fail_when):
            return outcome, reason
        return (ERROR if outcome is ERROR else FAILED), "; ".join(filter(None, (gone, reason)))

    def _relay_ended(self) -> str:
        """Return that the relay before a target of this case has ended; empty when none has."""
        return next(filter(None, map(self._live.targets.relays.problem, self.case.test.aims)), "")

    def _tell_starts(self, digest: str) -> None:
        def told(entry: CaseEntry) -> CaseEntry:
            return replace(entry, replay=replace(entry.replay or ReplayEntry(), digest=digest))

        self._live.book.change(self.case, told)

    def _find(self, find: Find, fleet: Fleet, work: Work) -> tuple[SearchEnd, Position]:
        """Look for the level and measure it; return how that ended, and where the record of measuring begins."""

        def press(load: Load, trial: int) -> Ending:
            order = self._order(None)
            if trial:  # other arrivals in each trial: chance must not affect all trials in the same way
                order = replace(order, trial=True, seed=case_seed(order.seed, f"trial {trial}"))
            longest = (load.lasting or 0) + self._limit
            return self._attend(fleet, replace(order, load=load), work, longest, self._ended)

        def over() -> bool:
            return bool(self._live.stop.haste) or (self._ended is not None and self._ended.is_set())

        finding = CaseSearch(self._live, self.case, find, press, over)
        return finding.run(), finding.position

    def _judge(self, entry: CaseEntry, position: Position, phase: Phase) -> Ended:
        """Return how what was pressed since `position` ended, with the first error when it did not pass."""
        folder, number = self._live.folder, self.case.id

        def commonest_error() -> str:
            self._live.fleets.flush()
            return stats.commonest_error(folder, number, phase)

        frames = [frame for frame in folder.tail_frames(position)[0] if frame.case == number]
        return stats.judge_case(entry, frames, phase, commonest_error)

    def _excused(self, position: Position, sampled: Position) -> str:
        """Return why pileup is the reason that too much did not pass; empty if the system is."""
        folder = self._live.folder
        frames = [frame for frame in folder.tail_frames(position)[0] if frame.case == self.case.id]
        self._live.fleets.flush()
        with folder.operations().connect() as connection:
            errors = stats.errors(connection, self._live.book.run)
        return stats.excused(self._known, frames, folder.tail_samples(sampled)[0], errors)

    def _end_of_frames(self) -> Position:
        return self._live.folder.tail_frames(None)[1]

    def _attend(
        self,
        fleet: Fleet,
        order: Order,
        work: Work,
        longest: int,
        ended: threading.Event | None = None,
        *,
        steering: Steering | None = None,
    ) -> Ending:
        """Press and serve one load; return how it ended: finished also when it was ended with what it runs alongside.

        Cleaning up goes on when the run is stopped in order; only a second Ctrl-C ends that too.
        """
        pressing = fleet.press(order, work, self._output)
        if order.phase is None and work.program is not None:
            most = max(self._known.workers or 1, fleet.workers(order))
            self._live.book.change(self.case, lambda entry: replace(entry, workers=most))
        heeds = StopMode.AT_ONCE if order.phase is Phase.CLEANUP else StopMode.IN_ORDER
        self._live.attend(pressing, longest, heeds, ended, steering, waits=self._waits)
        ending = pressing.ending
        if ending.early and self._live.stop.haste:
            self._live.book.cut(self.case)
        as_meant = ended is not None and ended.is_set() and ending.kind is not EndingKind.SET_UP_FAILED
        return FINISHED if as_meant else ending

    def _do(self, program: Program, phase: Phase) -> str:
        """Do the steps of a program once, outside the load; return what went wrong, empty when nothing did.

        Each object is a separate iteration: one that cannot be removed does not stop the others.
        """
        problems = [self._do_step(step, phase) for step in program.steps]
        return "; ".join(problem for problem in problems if problem)

    @property
    def _hurried(self) -> bool:
        return self._live.stop.haste is StopMode.AT_ONCE

    def _do_step(self, step: Step, phase: Phase) -> str:
        if self._hurried:
            raise CalledOff
        timeout = self.case.test.timeout
        load = Load(times=step.repeat)
        order = Order(self.case.id, self.case.name, load, timeout, 0, self._index(), phase)
        position = self._end_of_frames()
        work = self._preparing(Program((replace(step, repeat=1),)))
        early = self._attend(self._live.fleets.local, order, work, timeout * step.repeat)
        entry = replace(self._known, load_kind=load.kind, fail_when=None)
        outcome, reason = self._judge(entry, position, phase)
        return "" if outcome == PASSED else str(early) or reason

    def _order(self, starts: StartsFile | None) -> Order:
        limits = self._live.plan.suite.limits
        return Order(
            self.case.id,
            self.case.name,
            self.case.load,
            self._limit,
            case_seed(self._live.plan.suite.seed, self.case.name),
            self._index(),
            None,
            limits.errors_in_a_row,
            self._live.guard.operations_left,
            starts,
            stamp=self._stamp(),
            shared=self._shared,
            places=self.case.test.places,
        )

    def _stamp(self) -> str:
        """Return the stamp that makes the names of one load's jobs unique; the journal has it before there are any."""
        stamp = secrets.token_hex(5)
        told = {"case": self.case.name, "target": self.case.test.target, "cleanup": self.case.test.cleanup}
        for what in sorted(self._leaves):
            self._live.folder.journal(f"{what}s", "made", stamp=stamp, **told)
        return stamp

    def _index(self) -> int:
        return self._live.targets.index(self.case.test.target)

    def _found(self, program: Program | None) -> str:
        """Return a message if the set that was kept in a folder of the suite is complete and the same; else nothing.

        Raises TargetError for one that is another.
        """
        target, load = self._files, self.case.load
        if program is None or load.sustained or not isinstance(target, FileTarget):
            return ""
        own = self._live.plan.own.get(self.case.test.target or "")
        made = made_by(program.steps)
        if own is None or len(made) != 1 or not made[0].written or in_own(own, made[0].keys):
            return ""
        if self._live.grounds.known(self.case.test.target or ""):
            return ""
        return found_again(target, made[0])

    def _work(self, test: Test) -> Work:
        if not test.native():
            coroutine = inspect.iscoroutinefunction(type(test).run)
            work = Work(self._make, coroutine=coroutine, coordinator=self._coordinator)
            return self._live.foreground(self.case, work)
        self._programs = [
            self._asked("program", partial(instances.program_of, each, self.case.test)) for each in self._tests()
        ]
        self._program = joined(self._programs)
        return self._work_with(self._program)

    def _coordinator(self) -> Coordinator | None:
        return self._asked("coordinator", self._make(0).coordinator)

    def _tests(self) -> list[Test]:
        """Return the test as each place has it; only the first if all are the same."""
        return [self._make(0, place) for place in instances.places_that_differ(self._live.plan, self.case)]

    def _of_all_places(self, name: Literal["prepare", "cleanup"]) -> Program | None:
        """Return the steps that prepare, or remove, what the test makes at any place."""
        return united(self._asked(name, getattr(each, name)) for each in self._tests())

    def _work_with(self, program: Program) -> Work:
        """Return the work of a native test that does this program: those of all places joined."""
        client = client_for(program, self._target)
        program, *others = programs = split(program, self._programs)
        if client is None:
            return replace(self._work_of(program), by_place=programs if others else ())
        self._limit = self.case.test.timeout * operations_of(program)
        return Work(interpreted(self._live.plan, self.case, program, client, self._guarded))

    def _preparing(self, program: Program) -> Work:
        """Return what runs preparation and clean-up: the engine, or the client of a target that it cannot reach."""
        client = self._target.preparing_client() if self._target else None
        if client is None:
            return self._work_of(program)
        return Work(interpreted(self._live.plan, self.case, program, client, self._guarded))

    def _work_of(self, program: Program) -> Work:
        if self._target is None:
            return Work(self._make, program)
        client = self._target.client()
        if client is None:
            raise PluginError(*parts(NO_CLIENT))
        named = {to.target: self._live.targets.get(to.target) for to in destinations((program,))}
        others = {name: spec for name, other in named.items() if other is not None and (spec := other.client())}
        return Work(self._make, program, replace(client, others=others))

    def _guarded(self, name: str) -> Target | None:
        """Return the open target of a name, as tests may use it, and the clients of another."""
        target = self._live.targets.get(name)
        return self._live.rails.guarded(target) if target else None

    def _make(self, client: int, place: int = 1) -> Test:
        return instances.make_test(self._live.plan, self.case, self._guarded, client, self._data, place=place)

    def _asked(self, name: str, ask: Callable[[], Given]) -> Given:
        """Return the result of a method of the test. Raises PluginError for errors in it."""
        try:
            return ask()
        except PileupError:
            raise
        except Exception as problem:
            told = f"{name}() of {self.case.test.use} failed: {verdict_on(problem)[1]}"
            raise PluginError(told, "a program for the engine", "correct the test") from problem

    def _note_objects(self, removal: Program | None, footing: PreparedWrites, preparation: Program | None) -> None:
        """Note in the journal what will be made, so that it can be cleaned up after a crash."""
        programs = [each for each in (preparation, footing.first, footing.load) if each is not None]
        steps = [step for each in programs for step in each.steps]
        own = self._live.plan.own.get(self.case.test.target or "")
        if removal is not None:
            mine = not own or all(in_own(own, step.keys) for step in removal.steps)
            name, target, cleanup = self.case.name, self.case.test.target or "", self.case.test.cleanup
            made = making(steps)
            plain = {"remove": removal.to_native(), "made": Program(made).to_native()["steps"], "own": mine}
            self._made = self._live.folder.journal(
                "objects", "made", case=name, target=target, cleanup=cleanup, **plain
            )
            self._noted = JournalEntry(
                self._made, 0, case=name, target=target, cleanup=cleanup, remove=removal, made=made, own=mine
            )

    def _delay(self) -> None:
        law = self.case.load.delay or self._live.plan.suite.delay
        if law:
            seed = case_seed(self._live.plan.suite.seed, f"{self.case.name}/delay")
            self._live.pause(draw(law, seed), self._ended)
