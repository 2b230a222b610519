"""The request to stop, from a signal, a limit or an error: first in order, then at once."""

from __future__ import annotations

import time
from enum import IntEnum

from pileup.model.ending import StoppedBy

LOOK = 0.05
"""Seconds between two looks of who waits."""


class StopMode(IntEnum):
    """Whether a run should go on, and how."""

    NONE = 0
    IN_ORDER = 1
    AT_ONCE = 2


class Stop:
    """Set from anywhere, also from a signal handler; read by the runner.

    It has no lock and no Event: the handler runs in the thread that waits, which may hold that lock.
    """

    def __init__(self) -> None:
        self.haste = StopMode.NONE
        self.by: StoppedBy | None = None
        """Who has asked first."""
        self.reason = ""
        """The same in words: `user: Ctrl-C`."""
        self.since: float | None = None
        """When the user first asked for the stop, s (monotonic); a limit waits for nothing."""

    def ask(self, by: StoppedBy, why: str, haste: StopMode | None = None) -> None:
        """Ask to stop; a second request is urgent. The first reason stays. `haste` is for callers that are not a
        person.
        """
        if self.by is None:
            self.by, self.reason = by, f"{by}: {why}"
        if haste is None and self.since is None:
            self.since = time.monotonic()
        following = StopMode(min(self.haste + 1, StopMode.AT_ONCE))
        self.haste = max(self.haste, following if haste is None else haste)

    def late(self, seconds: float) -> bool:
        """Whether work that may take so long after the request to stop must end now: that time is over, or it is
        urgent.
        """
        asked = self.since is not None and time.monotonic() - self.since >= seconds
        return asked or self.haste is StopMode.AT_ONCE

    def wait(self, seconds: float) -> bool:
        """Sleep that long, or until asked to stop, which is noticed within LOOK; True when asked."""
        until = time.monotonic() + seconds
        while not self.haste and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, LOOK))
        return bool(self.haste)
