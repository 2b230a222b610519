"""Runs a suite in virtual time: follows the suite machine as the runner does, in one event loop."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import Callable
from pathlib import Path

from pileup.fleet.order import case_seed
from pileup.fleet.python.capture import routed
from pileup.model import shared
from pileup.model.collecting import seldom_collected
from pileup.model.errors import PileupError
from pileup.model.not_covered import Uncovered
from pileup.model.plan import Case, Plan
from pileup.model.record import ERROR, FAILED, NOT_RUN, UNAVAILABLE, CaseOutcome
from pileup.model.results import RunResults
from pileup.plugin import Test
from pileup.plugin.verdict import Judge
from pileup.run.delay import draw
from pileup.run.machine import (
    BeginCase,
    CaseEnded,
    EndRoles,
    EnterPoint,
    Finish,
    Instruction,
    Skip,
    StopAsked,
    SuiteMachine,
    VisitFailed,
    Wait,
)
from pileup.run.simulation.clients import Clients, finished
from pileup.run.simulation.loop import VirtualLoop, stuck
from pileup.run.simulation.machines import Machines
from pileup.run.simulation.op import SimulatedLedger
from pileup.run.simulation.refusals import refuse
from pileup.run.simulation.session import SimulatedRun
from pileup.run.stop import Stop, StopMode
from pileup.suite import instances

FRAMES = 20_000
"""Frames of a run, at most, if its cases take as long as they may."""
STEPS = [10**9 * each for each in (1, 2, 5, 10, 20, 30, 60, 120, 300, 600)]
"""Lengths of frames, ns."""
BEGIN, END = "begin_run", "end_run"


class SuiteSimulation:
    """One simulation of a plan, recorded in a run folder below `base`; `began` is when virtual time begins (now).

    Raises SuiteError for a plan with anything real in it, before anything is written.
    """

    def __init__(self, plan: Plan, base: Path, stop: Stop | None = None, began: int | None = None) -> None:
        refuse(plan)
        self._plan, self._stop = plan, stop or Stop()
        self._seen = StopMode.NONE
        self._run = SimulatedRun(plan, base, began, frame_length(plan))
        self.folder = self._run.folder
        self.reports: list[Path] = []
        """Files for people to look at, once it has run."""
        self._suite = SuiteMachine(plan)
        self._machines = Machines(plan, self._run.clock)
        self._ledger = SimulatedLedger(self._run.clock)
        self._active: dict[int, Clients] = {}
        """Clients of the cases under way."""
        self._ended_roles: set[int] = set()
        """Roles that are to begin nothing more."""
        self._tasks: dict[int, asyncio.Task[CaseEnded]] = {}
        """Roles, and cases beside others."""
        self._begun: dict[tuple[str, str], tuple[Test | None, str, str]] = {}
        """Tests that have begun, by name, options and targets: with the text that they gave, and what went wrong."""

    def run(self) -> RunResults:
        """Simulate to the end and return the results. Raises RecordError when the disk refuses."""
        loop = VirtualLoop(self._run.clock, self._look, self._give_up)
        try:
            with routed(), seldom_collected():
                self._guarded(lambda: loop.run_until_complete(self._carry_out()))
                self._guarded(lambda: loop.run_until_complete(_cancel_all()))
        finally:
            loop.close()
        self._run.book.stopped(self._stop.by, self._stop.reason)
        results, self.reports = self._run.finish_with_reports()
        return results

    def _guarded(self, act: Callable[[], object]) -> None:
        try:
            act()
        except PileupError as problem:
            self._run.book.failed(str(problem))
        except Exception as problem:
            self._run.book.failed(f"{type(problem).__name__}: {problem}", traceback.format_exc())

    def _look(self) -> None:
        """Follow a wish to stop: called whenever the loop would wait."""
        if self._stop.haste is not self._seen:
            self._seen = self._stop.haste
            for number, clients in self._active.items():
                self._run.book.cut(self._plan.case(number))
                if self._seen is StopMode.IN_ORDER:
                    clients.end()
                else:
                    clients.end_at_once()

    def _give_up(self) -> None:
        """End the cases under way, which wait for something that is never due. Raises PluginError when none is left."""
        waiting = [clients for clients in self._active.values() if not clients.given_up]
        if not waiting:
            raise stuck()
        for clients in waiting:
            clients.give_up(str(stuck()))

    async def _carry_out(self) -> None:
        self._enter(None, "1")
        while not isinstance(instruction := self._next(), Finish):
            await self._do(instruction)
        await self._end_tests()

    def _next(self) -> Instruction:
        if self._stop.haste:
            self._suite.take(StopAsked(f"stopped before: {self._stop.reason}"))
        return self._suite.next()

    async def _do(self, instruction: Instruction) -> None:
        match instruction:
            case EnterPoint(visit):
                case = next(case for case in self._plan.cases if case.visit == visit)
                turn = f"{case.repeat}" if case.loop == 1 else f"{case.repeat}~{case.loop}"
                if problem := self._enter(instruction, turn):
                    self._suite.take(VisitFailed(visit, problem))
            case BeginCase(case, _, beside=True):
                self._tasks[case.id] = asyncio.create_task(self._carry(case))
            case BeginCase(case, roles):
                self._suite.take(await self._carry(case, roles))
            case EndRoles(roles):
                for role in roles:
                    self._suite.take(await self._end_role(role))
            case Skip(case, reason, outcome):
                self._run.skip(case, outcome, reason)
            case Wait():
                done, _ = await asyncio.wait(self._tasks.values(), return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    ended = task.result()
                    del self._tasks[ended.case]
                    self._suite.take(ended)

    def _enter(self, point: EnterPoint | None, turn: str) -> str:
        """Bring the machines to the settings of a point; return what went wrong."""
        try:
            self._machines.enter(point, turn)
        except PileupError as problem:
            return str(problem)
        return ""

    async def _end_role(self, role: Case) -> CaseEnded:
        self._ended_roles.add(role.id)
        if role.id in self._active:
            self._active[role.id].end()
        if role.id in self._tasks:
            return await self._tasks.pop(role.id)
        reason = "the load that it runs alongside did not begin"
        self._run.book.end(role, NOT_RUN, reason)
        return CaseEnded(role.id, NOT_RUN, reason)

    async def _carry(self, case: Case, roles: tuple[Case, ...] = ()) -> CaseEnded:
        """Simulate a case or a role, whatever happens."""
        outcome: CaseOutcome
        try:
            outcome, reason = await self._case(case, roles)
        except Exception as problem:
            told = f"{type(problem).__name__}: {problem}"
            self._run.book.failed(f"case {case.name}: {told}", traceback.format_exc())
            outcome, reason = ERROR, f"an internal error of pileup: {problem}"
            self._run.book.end(case, outcome, reason)
        return CaseEnded(case.id, outcome, reason)

    async def _case(self, case: Case, roles: tuple[Case, ...]) -> tuple[CaseOutcome, str]:
        for name in case.test.aims:
            if problem := self._machines.problem(name):
                return self._not_pressed(case, UNAVAILABLE, problem)
        if law := case.load.delay or self._plan.suite.delay:
            await asyncio.sleep(draw(law, case_seed(self._plan.suite.seed, f"{case.name}/delay")) / 1e9)
        text, problem = await self._begin_run(case)
        if problem:
            return self._not_pressed(case, FAILED, f"set-up failed: {problem}")
        data = shared.from_text(text)

        def make(client: int) -> Test:
            test = instances.make_test(self._plan, case, self._machines.get, client, data)
            test.stamp = f"{case_seed(self._plan.suite.seed, case.name):010x}"[:10]
            return test

        self._remark(case, make(0))
        output = self.folder.output(case.name)
        with self._run.case(case) as load:
            clients = Clients(self._run, load, make, self._ledger, output)
            self._active[case.id] = clients
            for role in roles:
                self._tasks[role.id] = asyncio.create_task(self._carry(role))
            if case.id in self._ended_roles or self._stop.haste:
                clients.end()
            try:
                await clients.press()
            finally:
                del self._active[case.id]
        entry = self._run.book.case(case)
        return entry.outcome or ERROR, entry.reason

    def _not_pressed(self, case: Case, outcome: CaseOutcome, reason: str) -> tuple[CaseOutcome, str]:
        self._run.book.begin(case)
        self._run.book.end(case, outcome, reason)
        return outcome, reason

    def _remark(self, case: Case, test: Test) -> None:
        for remark in test.remarks():
            self._run.book.remark(case, remark)
        if lack := test.lacks():
            self._run.book.lacks(Uncovered("test", case.test.name, lack, whole=False))

    async def _begin_run(self, case: Case) -> tuple[str, str]:
        """Call `begin_run` of the test, unless that was done; return what it gave as text, and what went wrong."""
        key = case.test.name, json.dumps([case.test.options, case.test.aim], sort_keys=True, default=str)
        if key not in self._begun:
            test: Test | None = None
            text = problem = ""
            try:
                test = instances.make_test(self._plan, case, self._machines.get, 0)
                text = shared.to_text(await finished(test.begin_run()))
            except Exception as raised:
                problem = f"{BEGIN}() of {case.test.use}: {Judge(test)(raised)[1]}"
            self._begun[key] = None if problem else test, text, problem
        return self._begun[key][1:]

    async def _end_tests(self) -> None:
        """Call `end_run` of every test that has begun, the last one first; what goes wrong is an event."""
        for test, _, _ in reversed(self._begun.values()):
            if test is not None:
                try:
                    end: Callable[[], object] = test.end_run
                    await finished(end())
                except Exception as problem:
                    self.folder.event(END, f"{END}() of {test.context.name}: {Judge(test)(problem)[1]}")


def frame_length(plan: Plan) -> int:
    """Return how long the frames of a simulation are, ns: a second, or more if it may take many hours."""
    longest = sum(case.longest for case in plan.cases if not case.role)
    return next((each for each in STEPS if longest <= each * FRAMES), STEPS[-1])


async def _cancel_all() -> None:
    """End what still goes on: tasks that tests have made and left."""
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
