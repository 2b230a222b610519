"""Means over repeats and paired differences with intervals at 95 %: pure arithmetic on a few numbers.

Sources: Student, Biometrika 6 (1908) 1 (mean, paired difference); E. C. Fieller, J. R. Stat. Soc. B 16 (1954) 175
(ratio of two means); S. Holm, Scand. J. Stat. 6 (1979) 65 (several comparisons). All take repeats as independent of
each other and as roughly normal; pairs take away what changes both alike, such as a drift from repeat to repeat.

Values come in steps: quantiles have three digits, counts are whole. Equal values are not known to be equal closer than
that, so the variance of rounding, step^2 / 12 (W. F. Sheppard, Proc. Lond. Math. Soc. 29 (1898) 353), is part of every
variance here. Without it two repeats that happen to agree would prove anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pileup.model.results import Figure, Interval
from pileup.stats import student
from pileup.stats.distribution import TOO_FEW
from pileup.stats.intervals import LEVEL

Values = Sequence[float | None]
"""One number per repeat, None where there is none."""


@dataclass(frozen=True, slots=True)
class Paired:
    """One point against another over the repeats that have both."""

    difference: Figure
    relative: Figure
    """Ratio of the means less one, as a fraction."""
    p: float | None
    """How probable such a difference is by chance alone; None for less than two pairs."""


def mean(values: Values, dimension: str = "", step: float = 0.0) -> Figure:
    """Return the mean over repeats; its interval tells how repeats vary, and is missing below two of them."""
    found = [value for value in values if value is not None]
    if not found:
        return Figure(None, dimension, None, 0, "no figure")
    middle = math.fsum(found) / len(found)
    if len(found) < 2:
        return Figure(middle, dimension, None, len(found), f"{TOO_FEW}: 1 repeat carries no interval")
    half = student.quantile(len(found) - 1) * _error(found, step)
    return Figure(middle, dimension, Interval(middle - half, middle + half, LEVEL), len(found))


def amount(values: Values, dimension: str = "", step: float = 0.0) -> Figure:
    """Return the mean of what is never below nothing (a rate, a time, a count): its interval is not either."""
    found = mean(values, dimension, step)
    if found.interval is None:
        return found
    return replace(found, interval=replace(found.interval, low=max(0.0, found.interval.low)))


def compare(values: Values, baseline: Values, dimension: str = "", steps: tuple[float, float] = (0.0, 0.0)) -> Paired:
    """Return `values` less `baseline`, pair by pair, and their ratio. Both have one entry per repeat, in one order.

    `steps` are the steps in which the two come.
    """
    pairs = [(a, b) for a, b in zip(values, baseline, strict=True) if a is not None and b is not None]
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    gaps, step = [a - b for a, b in pairs], math.hypot(*steps)
    return Paired(mean(gaps, dimension, step), ratio(left, right, steps), probability(gaps, step))


def probability(gaps: Sequence[float], step: float = 0.0) -> float | None:
    """Return the two-sided probability of a mean difference this large by chance; None for less than two pairs."""
    if len(gaps) < 2:
        return None
    middle, error = math.fsum(gaps) / len(gaps), _error(gaps, step)
    if error == 0:
        return 1.0 if middle == 0 else 0.0
    return student.two_sided(middle / error, len(gaps) - 1)


def ratio(left: Sequence[float], right: Sequence[float], steps: tuple[float, float] = (0.0, 0.0)) -> Figure:
    """Return mean(left) / mean(right) - 1 with Fieller's interval.

    The interval holds every r for which the paired differences left - r x right are not shown to differ from zero: it
    leaves out zero just where the interval of the differences does. None where the mean of `right` is not known to be
    positive: then no bound holds.
    """
    n = len(left)
    if n == 0 or math.fsum(right) <= 0:
        return Figure(None, "fraction", None, n, "no ratio to zero")
    x, y = math.fsum(right) / n, math.fsum(left) / n
    if n < 2:
        return Figure(y / x - 1, "fraction", None, n, f"{TOO_FEW}: 1 repeat carries no interval")
    factor = student.quantile(n - 1) ** 2 / n
    covariance = np.cov(np.asarray([right, left], dtype=float), ddof=1)
    rounding = np.diag([steps[1] ** 2, steps[0] ** 2]) / 12
    return Figure(y / x - 1, "fraction", _fieller(x, y, (covariance + rounding) * factor), n)


def _fieller(x: float, y: float, spread: NDArray[np.float64]) -> Interval | None:
    a, b, c = x * x - spread[0, 0], x * y - spread[0, 1], y * y - spread[1, 1]
    inside = b * b - a * c
    if a <= 0 or inside < 0:
        return None
    root = math.sqrt(inside)
    return Interval(float((b - root) / a) - 1, float((b + root) / a) - 1, LEVEL)


def holm(found: Sequence[float | None]) -> list[float | None]:
    """Return probabilities adjusted for how many are looked at (Holm): below 5 % one may be believed among all."""
    known = sorted((p, place) for place, p in enumerate(found) if p is not None)
    adjusted: list[float | None] = [None] * len(found)
    largest = 0.0
    for rank, (p, place) in enumerate(known):
        largest = max(largest, min(1.0, p * (len(known) - rank)))
        adjusted[place] = largest
    return adjusted


def _error(found: Sequence[float], step: float) -> float:
    """Return the standard error of the mean of at least two values that come in steps."""
    return math.sqrt((float(np.var(found, ddof=1)) + step * step / 12) / len(found))
