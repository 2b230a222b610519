"""The wish to stop, from a signal, a limit or a fault: first in order, then at once."""

from __future__ import annotations

import threading
import time
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
        self.since: float | None = None
        """When somebody who waits has asked first, s (monotonic); a limit waits for nothing."""
        self._asked = threading.Event()

    def ask(self, reason: str, haste: Haste | None = None) -> None:
        """Ask to stop; asked again, it becomes urgent. The first reason stays. `haste` is for who is no person."""
        self.reason = self.reason or reason
        if haste is None and self.since is None:
            self.since = time.monotonic()
        following = Haste(min(self.haste + 1, Haste.AT_ONCE))
        self.haste = max(self.haste, following if haste is None else haste)
        self._asked.set()

    def late(self, seconds: float) -> bool:
        """Whether what may take so long after somebody asked must end now: that is over, or it is urgent."""
        asked = self.since is not None and time.monotonic() - self.since >= seconds
        return asked or self.haste is Haste.AT_ONCE

    def wait(self, seconds: float) -> bool:
        """Sleep that long, or until asked to stop; True when asked."""
        return self._asked.wait(seconds)
