"""Runs an async Python test: one event loop in a thread of its own, one task per client."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any, cast

from pileup._core._native import Op, Press
from pileup.fleet import loop_lag
from pileup.fleet.iteration_timeout import IterationTimeout
from pileup.fleet.python.client import STILL_GOING, IterationScope, LoadContext, PythonExecutor
from pileup.fleet.python.stacks import Stack, stack_of_task
from pileup.fleet.python.threads import OPENING
from pileup.model.record import Outcome
from pileup.model.units import format_time
from pileup.plugin import Test
from pileup.plugin.verdict import Verdict, verdict_of

TURNS = 16
"""Iterations that a client may do before others of its loop get a turn."""
CLOSING = 2.0
"""Longest time that giving back what clients took may delay what comes next, s."""


class CoroutineExecutor(PythonExecutor):
    """One asyncio loop over one press. What is under way at the end is cancelled."""

    def __init__(self, press: Press, desk: LoadContext, make: Callable[[int], Test]) -> None:
        super().__init__(press, desk, make)
        self._idle: dict[int, asyncio.Future[Op]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._served: dict[int, IterationTimeout] = {}
        self._opening: dict[int, asyncio.Event] = {}
        """Clients set up before the load began, with whether they are."""
        self._given: dict[int, Op] = {}
        """First iterations of those that are not set up yet."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped = False
        self._thread = threading.Thread(target=self._main, name=f"{desk.order.name} loop", daemon=True)

    def start(self) -> None:
        """Begin the loop."""
        self._thread.start()

    def under_way(self) -> Iterator[tuple[Op, Stack]]:
        """Yield the iterations under way, with what their tasks wait for."""
        for limit in list(self._served.values()):
            if (op := limit.op) is not None:
                yield op, stack_of_task(limit.task, self._thread.ident or 0)

    def stop(self) -> None:
        """Wait no more for clients that are set up before the load begins."""
        self._stopped = True
        if self._loop is not None:
            for event in list(self._opening.values()):
                self._loop.call_soon_threadsafe(event.set)

    def close(self) -> None:
        """Wait a moment for the loop to end."""
        self._thread.join(CLOSING)
        if self._thread.is_alive():
            self.desk.output.note(f"teardown still goes on after {CLOSING:g} s; what comes next does not wait for it")
        self.tracebacks.close()

    def _main(self) -> None:
        asyncio.run(self._serve_all())

    async def _serve_all(self) -> None:
        self._loop = loop = asyncio.get_running_loop()
        over = asyncio.Event()
        ticking = loop.create_task(loop_lag.tick())
        await self._set_up_early(over)
        loop.add_reader(self.press.fileno(), self._pump, over)
        self._pump(over)
        await over.wait()
        loop.remove_reader(self.press.fileno())
        for task in (ticking, *self._tasks):
            task.cancel()
        await asyncio.gather(ticking, *self._tasks, return_exceptions=True)

    async def _set_up_early(self, over: asyncio.Event) -> None:
        """Set clients up that the load will want at once, all at a time."""
        self._opening = {client: asyncio.Event() for client in self.early()}
        for client in self._opening:
            self._begin(client, None, over)
        if self._opening and not self._stopped:
            ready = [asyncio.ensure_future(event.wait()) for event in self._opening.values()]
            _, late = await asyncio.wait(ready, timeout=min(OPENING, self.desk.order.timeout / 1e9))
            for each in late:
                each.cancel()

    def _begin(self, client: int, first: Op | None, over: asyncio.Event) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(client, first, over))
        self._tasks.add(task)

    def _pump(self, over: asyncio.Event, asking: int | None = None) -> Op | None:
        """Pass every due start to its client; return that of the calling client, which need not be woken."""
        own = None
        for client, op in self.press.ready():
            if client == asking:
                own = op
            elif waiting := self._idle.pop(client, None):
                waiting.set_result(op)
            elif client in self._opening:
                self._given[client] = op
            else:
                self._begin(client, op, over)
        if self.press.over:
            over.set()
        return own

    async def _serve(self, client: int, first: Op | None, over: asyncio.Event) -> None:
        bracket = IterationScope(self.desk)
        limit = IterationTimeout(self.desk.order.timeout)
        test: Test | None = None
        try:
            test = await self._set_up(client, bracket, limit.task)
            op: Op | None = first or self._given.pop(client, None) or await self._wait(client)
            self._served[client] = limit
            self.name(test)
            while True:
                for _ in range(TURNS):
                    if op is None:
                        op = await self._wait(client)
                    if bracket.notes:
                        bracket.begin(op)
                    told = (
                        await self._iterate(test, op, limit) if test is not None else (Outcome.FAILED, str(self.ending))
                    )
                    bracket.end(op, told)
                    op = self._pump(over, client)
                if op is not None:  # else it gives others their turn while it waits
                    await asyncio.sleep(0)
        finally:
            limit.close()
            if test is not None:
                await self._tear_down(client, test, bracket)
            self.left(client)
            bracket.close()

    def _wait(self, client: int) -> asyncio.Future[Op]:
        following = self._idle[client] = asyncio.get_running_loop().create_future()
        return following

    async def _set_up(self, client: int, bracket: IterationScope, task: asyncio.Task[Any]) -> Test | None:
        """Make the test of a client; None ends the load, `ending` says why."""
        self.setting_up[client] = partial(stack_of_task, task, self._thread.ident or 0)
        try:
            test = self.made(client)
            await _finished(test.setup())
        except BaseException as problem:
            if isinstance(problem, asyncio.CancelledError) and self.press.over:
                raise
            self.set_up_failed(client, problem)
            return None
        finally:
            del self.setting_up[client]
            bracket.write(f"setup of client {client}")
            if client in self._opening:
                self._opening.pop(client).set()
        return test

    async def _tear_down(self, client: int, test: Test, bracket: IterationScope) -> None:
        try:
            await _finished(test.teardown())
        except Exception as problem:
            self.tear_down_failed(client, problem)
        bracket.write(f"teardown of client {client}")

    async def _iterate(self, test: Test, op: Op, limit: IterationTimeout) -> Verdict | None:
        limit.begin(op)
        try:
            test.under_way = op
            result = await cast(Awaitable[object], test.run(op))
        except asyncio.CancelledError:
            if limit.was_it():
                within = f"no answer within {format_time(limit.nanoseconds)}"
                return Outcome.AMBIGUOUS, self.hangs(op, within, *limit.hung)
            return Outcome.UNFINISHED, STILL_GOING
        except BaseException as problem:
            return self.failed(op, problem)
        finally:
            limit.end()
        return None if result is None else verdict_of(result)


async def _finished(result: object) -> None:
    """Wait for what an async method gave."""
    if inspect.isawaitable(result):
        await result
