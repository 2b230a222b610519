"""How many iterations took how long, time by time: what a heat map of response times draws."""

from __future__ import annotations

from dataclasses import dataclass

PER_DECADE = 20
"""Bins of a decade: one is 12 % wide. They are the same in every case, so that maps can be added and compared."""


@dataclass(frozen=True, slots=True)
class ResponseMap:
    """Iterations of a case by the time at which they ended and by their response time, over all places."""

    begins: tuple[int, ...]
    """Of each interval, ns since the epoch. Intervals are of one length, but where a load was cut."""
    ends: tuple[int, ...]
    first: int
    """Number of the lowest bin: bin k is from 10^(k/20) to 10^((k+1)/20) ns."""
    counts: tuple[tuple[int, ...], ...]
    """For each interval, how many passed with a response time in each bin from `first` on."""
    not_passed: tuple[int, ...]
    """For each interval, how many ended and did not pass: they have no response time."""

    @property
    def edges(self) -> tuple[float, ...]:
        """Return the edges of the bins, ns: one more than there are bins."""
        several = range(self.first, self.first + len(self.counts[0]) + 1 if self.counts else self.first)
        return tuple(10 ** (number / PER_DECADE) for number in several)
