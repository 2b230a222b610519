"""The timeout of the iterations of one task, with one timer for many of them: most end long before it."""

from __future__ import annotations

import asyncio
import time


class IterationTimeout:
    """Cancels the task that made it when an iteration takes longer than so many ns."""

    __slots__ = ("_cancelling", "_fired", "_loop", "_seconds", "_since", "_task", "_timer", "nanoseconds")

    def __init__(self, nanoseconds: int) -> None:
        task = asyncio.current_task()
        assert task is not None  # it belongs to a task by its nature  # noqa: S101
        self.nanoseconds = nanoseconds
        self._seconds = nanoseconds / 1e9
        self._task = task
        self._loop = task.get_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._since: float | None = None
        self._fired = False
        self._cancelling = task.cancelling()

    def begin(self) -> None:
        """Begin an iteration now."""
        self._since = time.monotonic()
        if self._timer is None:
            self._timer = self._loop.call_at(self._loop.time() + self._seconds, self._look)

    def end(self) -> None:
        """End it, as it ended; the timer goes on until it has nothing to look at."""
        self._since = None
        self.was_it()

    def was_it(self) -> bool:
        """Whether the cancellation that has arrived was its own, and nobody else wants the task to end."""
        fired, self._fired = self._fired, False
        return fired and self._task.uncancel() <= self._cancelling

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
            self._task.cancel()
