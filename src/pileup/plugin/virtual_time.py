"""Virtual time, as a simulated system sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class VirtualTime(Protocol):
    """The time of a simulation, ns since the epoch. It stands still until the next thing is due."""

    @property
    def seed(self) -> int:
        """Seed of everything random in a system: another one in each repeat, the same at all points of a repeat."""

    def now(self) -> int:
        """Return the time, ns since the epoch."""

    def at(self, time: int, act: Callable[[], object]) -> None:
        """Have something done at a time, within the event loop of the tests. Raises ValueError for a time that is over.

        What is due at the same time is done in the order in which it was added. What the system wakes, such as a future
        that a test awaits, goes on before time does.
        """
