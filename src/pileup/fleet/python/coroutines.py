"""Runs an async Python test: one event loop in a thread of its own, one task per client."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, cast

from pileup._core._native import Op, Press
from pileup.fleet import loop_lag
from pileup.fleet.iteration_timeout import IterationTimeout
from pileup.fleet.python.client import IterationScope, LoadContext, PythonExecutor, tear_down
from pileup.model.errors import Ambiguous
from pileup.model.record import Outcome
from pileup.model.units import format_time
from pileup.plugin import Test
from pileup.plugin.verdict import Verdict, verdict_of, verdict_on

TURNS = 16
"""Iterations that a client may do before others of its loop get a turn."""


class CoroutineExecutor(PythonExecutor):
    """One asyncio loop over one press. What is under way at the end is cancelled."""

    def __init__(self, press: Press, desk: LoadContext, make: Callable[[int], Test]) -> None:
        super().__init__(press, desk, make)
        self._idle: dict[int, asyncio.Future[Op]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._early: dict[int, Test | None] = {}
        """Clients set up before the load began that had nothing to do yet."""
        self._thread = threading.Thread(target=self._main, name=f"{desk.order.name} loop", daemon=True)

    def start(self) -> None:
        """Begin the loop."""
        self._thread.start()

    def close(self) -> None:
        """Wait a moment for the loop to end."""
        self._thread.join(2)

    def _main(self) -> None:
        asyncio.run(self._serve_all())

    async def _serve_all(self) -> None:
        loop = asyncio.get_running_loop()
        over = asyncio.Event()
        ticking = loop.create_task(loop_lag.tick())
        self._early = {client: self.set_up(client) for client in self.early()}
        loop.add_reader(self.press.fileno(), self._pump, over)
        self._pump(over)
        await over.wait()
        loop.remove_reader(self.press.fileno())
        for task in (ticking, *self._tasks):
            task.cancel()
        await asyncio.gather(ticking, *self._tasks, return_exceptions=True)
        for test in filter(None, self._early.values()):
            tear_down(test, self.desk.output)

    def _pump(self, over: asyncio.Event, asking: int | None = None) -> Op | None:
        """Hand every start that is due to its client; return that of the one who asks, who need not be woken."""
        own = None
        for client, op in self.press.ready():
            if client == asking:
                own = op
            elif waiting := self._idle.pop(client, None):
                waiting.set_result(op)
            else:
                task = asyncio.get_running_loop().create_task(self._serve(client, op, over))
                self._tasks.add(task)
        if self.press.over:
            over.set()
        return own

    async def _serve(self, client: int, first: Op, over: asyncio.Event) -> None:
        test = self._early.pop(client) if client in self._early else self.set_up(client)
        self.name(test)
        bracket = IterationScope(self.desk)
        limit = IterationTimeout(self.desk.order.timeout)
        op: Op | None = first
        try:
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
            bracket.close()
            if test is not None:
                tear_down(test, self.desk.output)

    def _wait(self, client: int) -> asyncio.Future[Op]:
        following = self._idle[client] = asyncio.get_running_loop().create_future()
        return following

    @staticmethod
    async def _iterate(test: Test, op: Op, limit: IterationTimeout) -> Verdict | None:
        limit.begin()
        try:
            test.iteration = op.number
            result = await cast(Coroutine[Any, Any, object], test.run(op))
        except asyncio.CancelledError:
            if limit.was_it():
                return verdict_on(Ambiguous(f"no answer within {format_time(limit.nanoseconds)}"))
            return Outcome.UNFINISHED, "still going at the end"
        except BaseException as problem:
            return verdict_on(problem)
        finally:
            limit.end()
        return None if result is None else verdict_of(result)
