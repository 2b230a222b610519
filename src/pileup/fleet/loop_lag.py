"""How late the event loops of this process are: each async load ticks, and the self-watch takes the worst value.

All loops of a process share one interpreter, so one figure for all of them says what there is to say.
"""

from __future__ import annotations

import asyncio
import threading
import time

TICK = 0.05
"""Seconds between the ticks of a loop."""


class _Worst:
    """The worst lateness since it was last taken, of any loop of the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._late: int | None = None

    def add(self, late: int) -> None:
        with self._lock:
            self._late = max(late, self._late or 0)

    def take(self) -> int | None:
        with self._lock:
            taken, self._late = self._late, None
        return taken


_worst = _Worst()


def take() -> int | None:
    """Return how late the latest tick of any loop was since the last call, ns; None when no loop ticked."""
    return _worst.take()


async def tick() -> None:
    """Note the lateness of the running loop at each tick, until it is cancelled."""
    while True:
        begin = time.monotonic_ns()
        await asyncio.sleep(TICK)
        _worst.add(max(0, time.monotonic_ns() - begin - int(TICK * 1e9)))
