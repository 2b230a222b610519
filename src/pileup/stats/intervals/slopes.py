"""How fast samples grow: the slope of the line through them by least squares, with an interval.

Neighbouring samples depend on each other: memory that was high a second ago is high now. So the samples are put
together to batches of equal number, one after another, and the line goes through the means of the batches, which hardly
depend on each other where batches are long (batch means: Law, Simulation Modeling and Analysis, 9.5.3). The interval is
that of ordinary least squares, by Student's t (Draper and Smith, Applied Regression Analysis, 1.4), widened by what
neighbouring batches still have in common: by the square root of (1 + r) / (1 - r) for their correlation r.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pileup.model import student
from pileup.model.figure_words import NOTHING
from pileup.model.figures import Figure, Interval, Note

BATCHES = 10
FEWEST = 20
"""Samples; with fewer nothing is said."""
MOST = 0.8
"""Largest correlation of neighbouring batches that is taken for real, of so few."""
SECOND = 1e9
PER_TIME = {"size": "bandwidth", "count": "rate", "": "rate", "fraction": "rate", "time": "fraction"}
"""Dimension -> that of its slope; a time by a time is a share."""


def slope(times: NDArray[np.int64], values: NDArray[np.float64], dimension: str) -> Figure:
    """Return how fast values grow: `times` in ns, values in the base unit of their dimension.

    The figure is by second (of a time: s/s). It has no value for fewer than 20 samples, or all of one time.
    """
    of = PER_TIME.get(dimension, "rate")
    n = len(values)
    if n == 0:
        return Figure(None, of, None, 0, NOTHING)
    if n < FEWEST:
        return Figure(None, of, None, n, Note.TOO_FEW)
    order = np.argsort(times, kind="stable")
    x = _batched((times[order] - times[order[0]]) / (1.0 if dimension == "time" else SECOND))
    y = _batched(values[order])
    spread = float(((x - x.mean()) ** 2).sum())
    if spread == 0:
        return Figure(None, of, None, n, Note.TOO_FEW)
    found = float(((x - x.mean()) * (y - y.mean())).sum()) / spread
    residual = y - y.mean() - found * (x - x.mean())
    half = student.quantile(len(x) - 2) * float(np.sqrt((residual**2).sum() / (len(x) - 2) / spread))
    half *= _widened(residual)
    return Figure(found, of, Interval(found - half, found + half), n)


def _widened(residual: NDArray[np.float64]) -> float:
    """Return by how much residuals that follow each other widen an interval; at least 1."""
    total = float((residual**2).sum())
    if total == 0:
        return 1.0
    common = float((residual[:-1] * residual[1:]).sum()) / total
    common = min(MOST, max(0.0, common))
    return float(np.sqrt((1 + common) / (1 - common)))


def _batched(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([part.mean() for part in np.array_split(values, BATCHES)])
