"""The beat of a fleet: asks each place for the time, and whether it is there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

from pileup.model.errors import RecordError
from pileup.model.record import SampleRow
from pileup.record import RunFolder

BEAT = 1.0
"""Seconds between pings."""
SAMPLED = 10
"""Beats between samples of clock offsets in the record."""


class HasClock(Protocol):
    """What can be asked for the time."""

    def beat(self) -> None:
        """Ask for the time, and look whether it is there."""

    def sample(self) -> list[SampleRow]:
        """Return what is known of its clock."""


class HeartbeatThread:
    """A thread that serves places until it is closed."""

    def __init__(self, places: Callable[[], Sequence[HasClock]], folder: RunFolder) -> None:
        self._places = places
        self._folder = folder
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heart of the fleet", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        count = 0
        while not self._end.wait(BEAT):
            count += 1
            for place in self._places():
                place.beat()
            if count % SAMPLED == 1:
                with suppress(RecordError):  # a full disk is noticed where it ends the run
                    self._folder.append_samples([row for place in self._places() for row in place.sample()])

    def close(self) -> None:
        """End the beat."""
        self._end.set()
        self._thread.join(2)
