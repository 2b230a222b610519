"""The timeout of the iterations of one task, with one timer for many of them: most end long before it."""

from __future__ import annotations

import asyncio
import threading
import time

from pileup._core._native import Op
from pileup.fleet.python.stacks import Stack, stack_of_task


class IterationTimeout:
    """Cancels the task that made it when an iteration takes longer than so many ns."""

    __slots__ = ("_cancelling", "_fired", "_loop", "_seconds", "_since", "_timer", "hung", "nanoseconds", "op", "task")

    def __init__(self, nanoseconds: int) -> None:
        task = asyncio.current_task()
        assert task is not None  # it belongs to a task by its nature  # noqa: S101
        self.nanoseconds = nanoseconds
        self._seconds = nanoseconds / 1e9
        self.task = task
        self._loop = task.get_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._since: float | None = None
        self._fired = False
        self._cancelling = task.cancelling()
        self.op: Op | None = None
        """The iteration under way."""
        self.hung: tuple[str | None, Stack] = None, Stack()
        """The open operation, and where the task was, when it was cut off the last time."""

    def begin(self, op: Op | None = None) -> None:
        """Begin an iteration now."""
        self.op = op
        self._since = time.monotonic()
        if self._timer is None:
            self._timer = self._loop.call_at(self._loop.time() + self._seconds, self._look)

    def end(self) -> None:
        """End it, as it ended; the timer goes on until it has nothing to look at."""
        self._since = self.op = None
        self.was_it()

    def was_it(self) -> bool:
        """Whether the cancellation came from this timeout, and from nothing else."""
        fired, self._fired = self._fired, False
        return fired and self.task.uncancel() <= self._cancelling

    def close(self) -> None:
        """Forget the timer."""
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        self._timer = None
        if self._since is None:
            return
        left = self._since + self._seconds - time.monotonic()
        if left > 0:
            self._timer = self._loop.call_at(self._loop.time() + left, self._look)
        else:
            self._fired = True
            operation = self.op.operation if self.op is not None else None
            self.hung = operation, stack_of_task(self.task, threading.get_ident())
            self.task.cancel()
