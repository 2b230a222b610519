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
        self._due: list[tuple[int, int, Callable[[], object], bool]] = []
        self._numbers = count()
        self._expected = 0

    def now(self) -> int:
        """Return the time, ns since the epoch."""
        return self._now

    def at(self, time: int, act: Callable[[], object], *, alone: bool = True) -> None:
        """Have something done at a time; with `alone` False only if something else lets time come so far.

        Raises ValueError for a time that is over.
        """
        if time < self._now:
            raise ValueError(f"{time} is {self._now - time} ns ago; expected a time from {self._now} on")
        self._expected += alone
        heappush(self._due, (time, next(self._numbers), act, alone))

    @property
    def next(self) -> int | None:
        """When the next thing is due; None when nothing is."""
        return self._due[0][0] if self._due else None

    @property
    def stands(self) -> bool:
        """Whether nothing is due for whose sake time goes on."""
        return not self._expected

    def step(self) -> bool:
        """Go on to what is due next and do it; False when nothing is."""
        if not self._due:
            return False
        self._now, _, act, alone = heappop(self._due)
        self._expected -= alone
        act()
        return True

    def go_on(self, nanoseconds: int) -> None:
        """Let so much time go by; what is due in it is done."""
        end = self._now + nanoseconds
        while self._due and self._due[0][0] <= end:
            self.step()
        self._now = max(self._now, end)
