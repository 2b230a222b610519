"""The clients of one case in virtual time: a task each, which begin iterations when the engine's arithmetic says so."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from heapq import heappop, heappush
from typing import Any

from pileup.fleet.artefacts import ArtefactFolder
from pileup.fleet.python.capture import Capture
from pileup.fleet.python.tracebacks import Tracebacks
from pileup.model.ending import Ending, EndingKind
from pileup.model.errors import VerdictException
from pileup.model.record import ERROR, FAILED, Outcome, Sample
from pileup.model.units import format_time
from pileup.plugin import Test
from pileup.plugin.verdict import Judge, Verdict, verdict_of
from pileup.record import Output
from pileup.run.simulation.load import SimulatedIteration, SimulatedLoad
from pileup.run.simulation.op import SimulatedLedger, SimulatedOp
from pileup.run.simulation.rows import PLACE
from pileup.run.simulation.session import ENGINE, SimulatedRun

GRACE = 10**9
"""Time that a load may take beyond its longest possible time, ns: what times out then does so first."""
Make = Callable[[int], Test]


class Clients:
    """Those of one case, whose load has begun."""

    def __init__(
        self, run: SimulatedRun, load: SimulatedLoad, make: Make, ledger: SimulatedLedger, output: Output
    ) -> None:
        self._run, self._load, self._make, self._ledger, self._output = run, load, make, ledger, output
        self._clock = run.clock
        self._last = load.begun + run.plan.case(load.order.case).longest + GRACE
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._tests: dict[int, Test] = {}
        self._judges: dict[int, Judge] = {}
        self._artefacts = ArtefactFolder()
        self._tracebacks = Tracebacks(output)
        self._over: asyncio.Future[None] = self._loop.create_future()
        self._problem: BaseException | None = None
        """An internal error: the disk does not take a row."""
        self._started = 0
        self._no_more = False
        self.given_up = False
        """Whether they were ended because they wait for what is never due."""
        self._wakes: set[asyncio.Future[None]] = set()
        """Of those who wait for their next iteration."""
        self._free: list[int] = []
        self._room: asyncio.Future[None] | None = None
        """Of an open load that waits for a client."""

    async def press(self) -> None:
        """Let the clients do what the load says, until it is over or takes longer than it possibly may."""
        self._clock.at(self._last, partial(_wake, self._over), alone=False)
        self._begin(self._open() if self._load.order.load.open else self._closed())
        try:
            await self._over
        finally:
            await self._finish()
        if self._problem is not None:
            raise self._problem

    def end(self) -> None:
        """Begin nothing more; what is under way goes on."""
        self._no_more = True
        self._load.no_more()
        for wake in (*self._wakes, *filter(None, (self._room,))):
            _wake(wake)

    def end_at_once(self) -> None:
        """The same, and what is under way is unfinished."""
        self.end()
        self._load.close()
        for task in self._tasks:
            task.cancel()

    def give_up(self, reason: str) -> None:
        """The same, as an error of the case."""
        self.given_up = True
        self._load.ended = ERROR, reason
        self.end_at_once()

    def fail(self, client: int, problem: BaseException) -> None:
        """End the load: a client could not be set up."""
        judge = self._judges.get(client, Judge())
        self._tracebacks.keep(f"setup of client {client}", problem, judge)
        self._load.ended = FAILED, str(Ending(EndingKind.SET_UP_FAILED, judge(problem)[1]))
        self.end()

    async def _finish(self) -> None:
        self._load.close()  # before tasks are cancelled: what is under way is unfinished, not ended by them
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for client, test in self._tests.items():
            try:
                await finished(test.teardown())
            except Exception as problem:
                judge = self._judges[client]
                self._tracebacks.keep(f"teardown of client {client}", problem, judge)
                self._output.note(f"teardown failed: {judge(problem)[1]}")
        self._tracebacks.close()
        self._artefacts.bring_home(partial(self._output.keep, PLACE), self._output.note)

    def _begin(self, work: Any) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            self._problem = self._problem or task.exception()
        if not self._tasks or self._problem is not None:
            _wake(self._over)

    async def _until(self, time: int) -> None:
        """Wait until a time, the end of the load, or until nothing more is to begin."""
        end = self._load.end
        time = time if end is None else min(time, end)
        if time <= self._clock.now() or self._no_more:
            return
        wake = self._loop.create_future()
        self._wakes.add(wake)
        self._clock.at(time, partial(_wake, wake))
        try:
            await wake
        finally:
            self._wakes.discard(wake)

    def _may_begin(self) -> bool:
        load = self._load
        within = load.end is None or self._clock.now() < load.end
        return not self._no_more and within and (load.limit is None or self._started < load.limit)

    async def _closed(self) -> None:
        for client in range(self._load.clients or 1):
            self._begin(self._go_on(client))
        if self._load.end is not None and self._load.limit is None:
            await self._until(self._load.end)

    async def _go_on(self, client: int) -> None:
        """Let a client of a closed load do one iteration after another."""
        due, turn = self._load.birth(client), 0
        while due is not None:
            await self._until(due)
            if not self._may_begin():
                return
            self._started += 1
            await self._iterate(client, due)
            due, turn = self._load.again(client, turn), turn + 1

    async def _open(self) -> None:
        """Begin what is due of an open load, by a client that is free; what finds none until the end is missed."""
        most, made = self._load.clients, 0
        for due in self._load.arrivals():
            await self._until(due)
            while most is not None and made == most and not self._free and self._may_begin():
                self._room = self._loop.create_future()
                if self._load.end is not None:
                    self._clock.at(max(self._load.end, self._clock.now()), partial(_wake, self._room))
                await self._room
            if self._no_more:
                return
            if not self._may_begin():
                self._load.missed += 1
                continue
            client = heappop(self._free) if self._free else made
            made = max(made, client + 1)
            self._started += 1
            self._begin(self._serve(client, due))
        if self._load.end is not None:
            await self._until(self._load.end)

    async def _serve(self, client: int, due: int) -> None:
        await self._iterate(client, due)
        heappush(self._free, client)
        if self._room is not None:
            _wake(self._room)

    async def _iterate(self, client: int, due: int) -> None:
        number = self._started - 1
        test = self._tests.get(client) or await self._set_up(client)
        if test is None or self._no_more:
            return
        begun = self._load.begin(due, client)
        judge, capture = self._judges[client], Capture()
        op = SimulatedOp(begun, number, self._ledger, judge)
        test.under_way = op
        try:
            verdict, cause = await self._verdict(test, op, begun, judge)
        finally:
            for stream, text in capture.take():
                self._output.append(stream, f"iteration {number}, client {client}", text)
        op.end(*verdict, cause=cause)

    async def _verdict(
        self, test: Test, op: SimulatedOp, begun: SimulatedIteration, judge: Judge
    ) -> tuple[Verdict, int]:
        """Run one iteration; return how it ended, and why if more is known."""
        timeout, result = self._load.order.timeout, None
        try:
            async with asyncio.timeout(timeout / 1e9) as limit:
                result = await finished(test.run(op))
        except BaseException as problem:
            if isinstance(problem, TimeoutError) and limit.expired():
                return (Outcome.AMBIGUOUS, f"no answer within {format_time(timeout)}"), 0
            if isinstance(problem, asyncio.CancelledError) and not begun.under_way:
                raise  # it was ended at once, and is in the record as unfinished
            self._tracebacks.keep(f"iteration {op.number}, client {op.client}", problem, judge)
            cause = int(problem.cause) if isinstance(problem, VerdictException) else 0
            return judge(problem), cause
        return verdict_of(result), 0

    async def _set_up(self, client: int) -> Test | None:
        """Make the test of a client; None ends the load."""
        try:
            test = self._make(client)
            keep_in = self._artefacts.path
            test.context = replace(test.context, place=PLACE, place_name=ENGINE, keep_in=keep_in)
            test.reporter = partial(self._report, self._run.plan.case(self._load.order.case).test.name)
            test.stamp = self._load.order.stamp or test.stamp
            test.ledger = self._ledger
            self._judges[client] = Judge(test)
            await finished(test.setup())
        except Exception as problem:
            self.fail(client, problem)
            return None
        self._tests[client] = test
        return test

    def _report(self, name: str, sample: Sample, iteration: int) -> None:
        self._run.sample(name, sample, iteration=iteration)


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


async def finished(result: Any) -> Any:
    """Return what a method gave, plain or async."""
    return await result if inspect.isawaitable(result) else result
