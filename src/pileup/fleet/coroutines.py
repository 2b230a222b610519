"""Runs an async Python test: one event loop in a thread of its own, one task per client."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, cast

from pileup._core._native import Op, Press
from pileup.fleet import loop_lag
from pileup.fleet.client import Bracket, Desk, PythonExecutor, tear_down
from pileup.model.errors import Ambiguous
from pileup.model.record import Outcome
from pileup.model.units import format_time
from pileup.plugin import Test
from pileup.plugin.verdict import verdict_of, verdict_on


class CoroutineExecutor(PythonExecutor):
    """One asyncio loop over one press. What is under way at the end is cancelled."""

    def __init__(self, press: Press, desk: Desk, make: Callable[[int], Test]) -> None:
        super().__init__(press, desk, make)
        self._idle: dict[int, asyncio.Future[Op]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
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
        loop.add_reader(self.press.fileno(), self._pump, over)
        self._pump(over)
        await over.wait()
        loop.remove_reader(self.press.fileno())
        for task in (ticking, *self._tasks):
            task.cancel()
        await asyncio.gather(ticking, *self._tasks, return_exceptions=True)

    def _pump(self, over: asyncio.Event) -> None:
        """Hand every start that is due to its client."""
        for client, op in self.press.ready():
            waiting = self._idle.pop(client, None)
            if waiting is None:
                task = asyncio.get_running_loop().create_task(self._serve(client, op, over))
                self._tasks.add(task)
            else:
                waiting.set_result(op)
        if self.press.over:
            over.set()

    async def _serve(self, client: int, op: Op, over: asyncio.Event) -> None:
        test = self.set_up(client)
        try:
            while True:
                await self._bracket(test, op)
                following = asyncio.get_running_loop().create_future()
                self._idle[client] = following
                self._pump(over)
                op = await following
        finally:
            if test:
                tear_down(test, self.desk.output)

    async def _bracket(self, test: Test | None, op: Op) -> None:
        bracket = Bracket(op, self.desk)
        bracket.end(*(await self._iterate(test, op) if test else (Outcome.FAILED, self.mistake)))

    async def _iterate(self, test: Test, op: Op) -> tuple[Outcome, str]:
        try:
            async with asyncio.timeout(self.desk.order.timeout / 1e9):
                return verdict_of(await cast(Coroutine[Any, Any, object], test.run(op)))
        except TimeoutError:
            return verdict_on(Ambiguous(f"no answer within {format_time(self.desk.order.timeout)}"))
        except asyncio.CancelledError:
            return Outcome.UNFINISHED, "still going at the end"
        except BaseException as problem:
            return verdict_on(problem)
