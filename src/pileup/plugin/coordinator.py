"""What answers the clients of a load at all places, where pileup was started: it hands out work, and adds results up.

A test that has one returns it from `coordinator()`; its clients call `ask`. A coordinator is a state machine without a
clock: it gets what was asked and the time, and returns answers, each of them at once or as late as it likes. Nothing
else runs in it meanwhile. What is asked and answered is plain data (JSON), with bytes beside the questions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Plain = Mapping[str, object]
"""What is asked or answered: what JSON can hold."""
Answered = Mapping[str, Any]
"""The same as who asked reads it."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What a client asks, by its number over the whole case. It asks nothing more until it has its answer."""

    client: int
    told: Plain
    blob: bytes = b""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to what a client has asked."""

    client: int
    told: Plain


class Coordinator:
    """Answers the clients of one load. Times are ns since the epoch, on the clock of all places."""

    wake: int | None = None
    """When `tick` is to be called, if nothing happens before; None: not at all."""

    def take(self, asks: Sequence[Ask], now: int) -> Iterable[Reply]:
        """Take what clients ask; return the answers that are due now, to these clients or to others.

        What it raises ends the wait of all clients: their iterations fail with it.
        """
        raise NotImplementedError

    def leave(self, clients: Collection[int], lost: bool, now: int) -> Iterable[Reply]:
        """Take note that clients ask nothing more, because they are done or their place is `lost`; as `take`.

        They may have asked nothing, and the same client may leave more than once.
        """
        return ()

    def tick(self, now: int) -> Iterable[Reply]:
        """Do what is due at `wake`; as `take`."""
        return ()

    def close(self) -> None:
        """End: the load is over everywhere."""
