"""The mean of numbers in the order of their times: samples of monitors, numbers that tests report.

Neighbours may depend on each other, so the interval comes from batch means where there are enough values, and from
Student's law where there are few (`stats/intervals/confidence.py`, `model/student.py` name the sources).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pileup.model import student
from pileup.model.figures import Figure, Interval
from pileup.stats.intervals.confidence import LEVEL, batch_means


def mean_of(values: NDArray[np.float64], dimension: str) -> Figure:
    """Return the mean of at least one value with its interval; one value has none.

    The interval stays where the values can be: what is never below zero has no mean there, a fraction none above one.
    """
    n, middle = len(values), math.fsum(values) / len(values)
    if n < 2:
        return Figure(middle, dimension, None, n)
    found = batch_means(values.tolist()) or _few(values.tolist())
    low, high = min(found.low, middle), max(found.high, middle)
    if float(np.min(values)) >= 0:
        low = max(0.0, low)
    if dimension == "fraction" and float(np.max(values)) <= 1:
        high = min(1.0, high)
    return Figure(middle, dimension, Interval(low, high, LEVEL), n)


def _few(values: Sequence[float]) -> Interval:
    n, middle = len(values), math.fsum(values) / len(values)
    half = student.quantile(n - 1) * math.sqrt(float(np.var(values, ddof=1)) / n)
    return Interval(middle - half, middle + half, LEVEL)
