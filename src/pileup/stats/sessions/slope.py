"""How the time of a session grows with the round trip: the line whose slope must be the k that was counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pileup.model import student
from pileup.plugin.sessions.session import Session

AGREES = 0.02
"""How far the slope may be from what was counted, as a share of that."""
FEWEST = 3
"""Sessions of a line with an interval."""


@dataclass(frozen=True, slots=True)
class Line:
    """`time = slope x added RTT + intercept`, by least squares; interval of 95 %. The intercept in ns."""

    slope: float
    low: float
    high: float
    intercept: float

    def agrees(self, counted: float) -> bool | None:
        """Whether the slope is what was counted, within 2 %; None where its interval leaves both open."""
        room = AGREES * max(1.0, counted)
        if abs(self.slope - counted) <= room:
            return True
        return None if self.low - room <= counted <= self.high + room else False


def line(sessions: Sequence[Session]) -> Line | None:
    """Return the line through sessions at several distances; None where there are too few, or all at one distance.

    Their times are from their first connect to their last byte, and only the quicker half at each distance counts:
    what disturbs a session adds to its time. Ordinary least squares with Student's t for the interval (Draper and
    Smith, Applied Regression Analysis, 1.4).
    """
    quick = list(_quicker(sessions))
    x = np.array([each.added for each in quick], dtype=float)
    y = np.array([each.connected for each in quick], dtype=float)
    n = len(x)
    if n < FEWEST or np.ptp(x) == 0:
        return None
    spread = float(((x - x.mean()) ** 2).sum())
    slope = float(((x - x.mean()) * (y - y.mean())).sum()) / spread
    intercept = float(y.mean() - slope * x.mean())
    residual = y - intercept - slope * x
    half = student.quantile(n - 2) * float(np.sqrt((residual**2).sum() / (n - 2) / spread))
    return Line(slope, slope - half, slope + half, intercept)


def _quicker(sessions: Sequence[Session]) -> Iterator[Session]:
    for added in sorted({each.added for each in sessions}):
        found = sorted((each for each in sessions if each.added == added), key=lambda each: each.connected)
        yield from found[: (len(found) + 1) // 2]
