"""The offset of a place's clock from ours, from the times of pings. Pure arithmetic over nanoseconds."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

DRIFT = 50e-6
"""How much a clock may run fast or slow: 50 parts in a million is more than the oscillators of computers do."""
WINDOW = 64
"""Pings that are remembered."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Clock of the place minus ours, ns, and the bound of its error, ns; `time` is ours when it was measured."""

    time: int
    offset: int
    error: int

    def error_at(self, moment: int) -> int:
        """Return the bound of the error at a later time: the clocks may have drifted apart since."""
        return self.error + int(abs(moment - self.time) * DRIFT)


def estimate(sent: int, received: int, answered: int, returned: int) -> Estimate:
    """Return what one ping says: sent and returned by our clock, received and answered by that of the place.

    As NTP does (RFC 5905, section 8): were both ways equally long, the offset would be exact; the error is at most half
    of the time on the way, when all of it was spent one way.
    """
    offset = ((received - sent) + (answered - returned)) // 2
    way = max(0, (returned - sent) - (answered - received))
    return Estimate((sent + returned) // 2, offset, way // 2 + 1)


class Offset:
    """The best of many pings: the one that was shortest on the way, an older one counting for less."""

    def __init__(self) -> None:
        self._pings: deque[Estimate] = deque(maxlen=WINDOW)
        self.corrected = 0
        """Total correction of the clock of the place, ns."""

    def add(self, sent: int, received: int, answered: int, returned: int, corrected: int | None = None) -> None:
        """Take the four times of a ping, ns. `corrected` is what `corrected` was when it was sent: the clock of the
        place may have been moved since.
        """
        moved = 0 if corrected is None else self.corrected - corrected
        self._pings.append(estimate(sent, received + moved, answered + moved, returned))

    def best(self, moment: int) -> Estimate | None:
        """Return the estimate with the smallest error at `moment`; None before any ping."""
        return min(tuple(self._pings), key=lambda ping: ping.error_at(moment), default=None)

    def correct(self, by: int) -> None:
        """Note that the place moves its clock by so many ns: what was measured before is moved as well."""
        self.corrected += by
        self._pings = deque(
            (Estimate(each.time, each.offset + by, each.error) for each in tuple(self._pings)), maxlen=WINDOW
        )

    def original(self, moment: int) -> tuple[int, int]:
        """Return offset and error, ns, of the clock that the place came with; (0, 0) before any ping."""
        best = self.best(moment)
        return (best.offset - self.corrected, best.error_at(moment)) if best else (0, 0)
