"""An asyncio event loop whose time is virtual: it never waits, it goes on to what is due next."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from pileup.model.errors import PluginError
from pileup.run.simulation.clock import VirtualClock

SECOND = 10**9


class VirtualSelector(selectors.BaseSelector):
    """What the loop waits with: `select` does what is due next in the clock, or lets its time go by.

    `look` is called before, `stuck` when tasks wait and nothing is due that could wake them: it must wake one.
    """

    def __init__(self, clock: VirtualClock, look: Callable[[], object], stuck: Callable[[], object]) -> None:
        self._clock, self._look, self._stuck = clock, look, stuck
        self._own: dict[int, selectors.SelectorKey] = {}

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """Take the loop's own pipe, of which nothing is ever read; raises PluginError for everything else."""
        if self._own:
            _refuse("a socket or a pipe")
        number = fileobj if isinstance(fileobj, int) else fileobj.fileno()
        key = self._own[number] = selectors.SelectorKey(fileobj, number, events, data)
        return key

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        """Give the loop's own pipe back."""
        return self._own.pop(fileobj if isinstance(fileobj, int) else fileobj.fileno())

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Do what is due next, within `timeout` (s; None: whenever that is). No file is ever ready."""
        self._look()
        if timeout is None:
            if self._clock.stands:
                self._stuck()
            else:
                self._clock.step()
        elif timeout > 0:
            now, following = self._clock.now(), self._clock.next
            end = now + round(timeout * SECOND)
            if following is not None and following <= end:
                self._clock.step()
            else:
                self._clock.go_on(end - now)
        return []

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        """Return the loop's own pipe."""
        return self._own


class VirtualLoop(asyncio.SelectorEventLoop):
    """The loop over a clock. What its tasks sleep is virtual; threads, sockets and processes are refused."""

    def __init__(
        self, clock: VirtualClock, look: Callable[[], object] = lambda: None, stuck: Callable[[], object] | None = None
    ) -> None:
        self._virtual, self._began = clock, clock.now()
        super().__init__(VirtualSelector(clock, look, stuck or _raise_stuck))

    def time(self) -> float:
        """Return the virtual time since the loop was made, s."""
        return (self._virtual.now() - self._began) / SECOND

    def run_in_executor(self, *_: object, **__: object) -> Any:
        """Refuse. Raises PluginError."""
        _refuse("a thread")


def stuck() -> PluginError:
    """Return what to raise when tasks wait, and nothing is due that could wake them."""
    return PluginError(
        "the simulation is stuck: a test waits, and nothing is due in virtual time that could wake it",
        "a target that answers, or a sleep",
        "look at the methods of the target that it awaits",
    )


def _raise_stuck() -> NoReturn:
    raise stuck()


def _refuse(what: str) -> NoReturn:
    raise PluginError(
        f"the test waits for {what}, which takes real time",
        "in a simulation only asyncio.sleep and the methods of its target",
        "run it with `pileup run`",
    )
