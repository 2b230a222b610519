"""The wish to stop, from a signal, a limit or a fault: first in order, then at once."""

from __future__ import annotations

import threading
from enum import IntEnum


class Haste(IntEnum):
    """How a run shall go on."""

    NONE = 0
    IN_ORDER = 1
    AT_ONCE = 2


class Stop:
    """Set from anywhere, also from a signal handler; read by the runner."""

    def __init__(self) -> None:
        self.haste = Haste.NONE
        self.reason = ""
        self._asked = threading.Event()

    def ask(self, reason: str, haste: Haste | None = None) -> None:
        """Ask to stop; asked again, it becomes urgent. The first reason stays."""
        self.reason = self.reason or reason
        following = Haste(min(self.haste + 1, Haste.AT_ONCE))
        self.haste = max(self.haste, following if haste is None else haste)
        self._asked.set()

    def wait(self, seconds: float) -> bool:
        """Sleep that long, or until asked to stop; True when asked."""
        return self._asked.wait(seconds)
