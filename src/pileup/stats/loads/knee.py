"""Where a load begins to fail a criterion, from trials at several levels: a Bayesian psychometric function.

A trial at level x passes with probability LAPSE + (1 - 2 LAPSE) / (1 + (x / knee)^(1 / width)): surely far below the
knee, hardly ever far above it, and half of the time at the knee itself. How wide the range is in between, where one
trial says yes and the next one no, is not known and is learned with the knee (Kontsevich and Tyler 1999). All trials
count, each by what it says; one that went wrong by chance is outvoted. To try next at the median of what is known is
probabilistic bisection (Horstein 1963; Waeber, Frazier and Henderson 2013).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pileup.stats.intervals.confidence import LEVEL

LAPSE = 0.02
"""Share of trials with a wrong result, however far from the knee."""
WIDTHS = np.geomspace(0.004, 0.4, 9)
"""Widths in units of the logarithm of the level."""
USUAL_WIDTH = 0.06
"""Before anything is known widths are log-normal around this one, with a standard deviation of a factor of e. With all
of them as likely as another few trials that agree by chance would look like a system without chance, and intervals too
short: `tests/simulation/test_find.py` holds them to the truth of simulated queues."""
BEYOND = 1.5
"""The knee is looked for so many times beyond the bounds of the levels, so that it may be found to lie there."""
STEP = 0.002
"""Relative distance of the points of the grid, at least."""
LEAST_POINTS, MOST_POINTS = 200, 3000

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Knee:
    """The highest level that meets the criterion, by the median, and the interval that holds it by `LEVEL`."""

    level: float
    low: float
    high: float
    below: float
    """How probable it is that even the lowest level does not meet it."""
    above: float
    """How probable it is that the highest level still meets it."""

    def within(self, share: float) -> bool:
        """Whether the interval lies within so large a share of the level on both sides."""
        return self.high <= self.level * (1 + share) and self.low >= self.level * (1 - share)


class Evidence:
    """What trials say; all levels lie between `low` and `high`, above zero."""

    def __init__(self, low: float, high: float, trials: Iterable[tuple[float, bool]] = ()) -> None:
        self._bounds = np.log(low), np.log(high)
        first, last = np.log(low / BEYOND), np.log(high * BEYOND)
        self._points = np.linspace(first, last, int(min(MOST_POINTS, max(LEAST_POINTS, (last - first) / STEP))))
        self._weights = np.repeat(_prior()[:, None], len(self._points), axis=1)
        for level, passed in trials:
            self.add(level, passed)

    def add(self, level: float, passed: bool) -> None:
        """Take the outcome of a trial at a level."""
        self._weights += _likelihood(self._points, float(np.log(level)), passed)

    def at(self, share: float) -> float:
        """Return the level below which the knee lies with that probability."""
        return float(np.exp(np.interp(share, self._shares(), self._points)))

    def knee(self) -> Knee:
        """Return what is known."""
        shares = self._shares()
        tail = (1 - LEVEL) / 2
        levels = np.exp(np.interp((0.5, tail, 1 - tail), shares, self._points))
        below, above = np.interp(self._bounds, self._points, shares)
        return Knee(float(levels[0]), float(levels[1]), float(levels[2]), float(below), float(1 - above))

    def _shares(self) -> Numbers:
        """Return how probable it is that the knee lies below each point."""
        chance = np.exp(self._weights - self._weights.max()).sum(axis=0)
        return np.asarray(np.cumsum(chance) / chance.sum())


def _prior() -> Numbers:
    """Return the logarithm of how probable each width is before anything is known."""
    return np.asarray(-0.5 * np.log(WIDTHS / USUAL_WIDTH) ** 2)


def _likelihood(points: Numbers, at: float, passed: bool) -> Numbers:
    """Return the logarithm of how probable the outcome of one trial is, for each width and each place of the knee."""
    distance = (at - points[None, :]) / WIDTHS[:, None]
    chance = LAPSE + (1 - 2 * LAPSE) / (1 + np.exp(np.clip(distance, -40, 40)))
    return np.asarray(np.log(chance if passed else 1 - chance))
