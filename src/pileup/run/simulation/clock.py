"""Virtual time: it stands still until the next thing is due."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count


class VirtualClock:
    """Time of a simulation, ns since the epoch, with what is due in it. Things that are due at the same time come in
    the order in which they were added, so that a simulation with the same seed is the same to the nanosecond.
    """

    def __init__(self, begin: int) -> None:
        self._now = begin
        self._due: list[tuple[int, int, Callable[[], object]]] = []
        self._numbers = count()

    def now(self) -> int:
        """Return the time, ns since the epoch."""
        return self._now

    def at(self, time: int, act: Callable[[], object]) -> None:
        """Have something done at a time. Raises ValueError for one that is over."""
        if time < self._now:
            raise ValueError(f"{time} is {self._now - time} ns ago; expected a time from {self._now} on")
        heappush(self._due, (time, next(self._numbers), act))

    def step(self) -> bool:
        """Go on to what is due next and do it; False when nothing is."""
        if not self._due:
            return False
        self._now, _, act = heappop(self._due)
        act()
        return True

    def go_on(self, nanoseconds: int) -> None:
        """Let so much time go by; what is due in it is done."""
        end = self._now + nanoseconds
        while self._due and self._due[0][0] <= end:
            self.step()
        self._now = max(self._now, end)
