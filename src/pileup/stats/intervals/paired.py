"""Means over repeats and paired differences with intervals at 95 %: pure arithmetic on a few numbers.

Times and rates are compared by the ratio in each pair: what a busy machine does to both comes as a factor, and takes
itself away. What it does to one alone makes single ratios that are far off, so from eight pairs on the mean of their
logarithms is the biweight, to which those count less and less, with 0.7 (n - 1) degrees of freedom (F. Mosteller,
J. W. Tukey, Data Analysis and Regression, 1977, chapter 10; K. Kafadar, J. Am. Stat. Assoc. 77 (1982) 416). What may be
zero is compared by plain differences.

Sources: Student, Biometrika 6 (1908) 1 (mean, paired difference); E. C. Fieller, J. R. Stat. Soc. B 16 (1954) 175
(ratio of two means); S. Holm, Scand. J. Stat. 6 (1979) 65 (several comparisons). All take repeats as independent of
each other; pairs take away what changes both alike, such as a drift from repeat to repeat.

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

from pileup.model import student
from pileup.model.figures import Figure, Interval
from pileup.stats.frames.distribution import TOO_FEW
from pileup.stats.intervals.confidence import LEVEL

ENOUGH = 8
"""Pairs from which on it can be said that one is far off."""
REACH = 9.0
"""Median absolute deviations (six standard deviations of the normal law) beyond which a value does not count at all."""
FREEDOM = 0.7
STEPS = 50
"""The biweight is found in a few of these."""
FARTHEST = 50.0
"""Logarithm of a ratio that says nothing."""
Values = Sequence[float | None]
"""One number per repeat, None where there is none."""


@dataclass(frozen=True, slots=True)
class Paired:
    """One point against another over the repeats that have both."""

    difference: Figure
    """`relative` times the mean of the baseline; mean of the differences where a value may be zero."""
    relative: Figure
    """Mean of the ratios in pairs less one, as a fraction; ratio of the means where a value may be zero."""
    p: float | None
    """How probable such a difference is by chance where the ratio differs from one by no more than `smallest` (where a
    value may be zero: where there is none); None for less than two pairs."""


def mean(values: Values, dimension: str = "", step: float = 0.0) -> Figure:
    """Return the mean over repeats; its interval shows how repeats vary, and is missing below two of them."""
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


def compare(
    values: Values,
    baseline: Values,
    dimension: str = "",
    steps: tuple[float, float] = (0.0, 0.0),
    smallest: float = 0.0,
) -> Paired:
    """Return `values` less `baseline`, pair by pair, and their ratio. Both have one entry per repeat, in one order.

    `steps` are the steps in which the two come, `smallest` is the relative difference that is not looked for.
    """
    pairs = [(a, b) for a, b in zip(values, baseline, strict=True) if a is not None and b is not None]
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    if _by_factors(left, right):
        return _compared_by_factors(left, right, dimension, steps, smallest)
    gaps, step = [a - b for a, b in pairs], math.hypot(*steps)
    return Paired(mean(gaps, dimension, step), ratio(left, right, steps), probability(gaps, step))


def _by_factors(left: Sequence[float], right: Sequence[float]) -> bool:
    """Return whether pairs can be compared by their ratios."""
    return len(left) > 1 and min(*left, *right) > 0


def _compared_by_factors(
    left: Sequence[float], right: Sequence[float], dimension: str, steps: tuple[float, float], smallest: float
) -> Paired:
    found = factor(left, right, steps)
    relative, base = _less_one(found), math.fsum(right) / len(right)
    limits = relative.interval and replace(
        relative.interval, low=base * relative.interval.low, high=base * relative.interval.high
    )
    change = Figure(base * math.expm1(found.middle), dimension, limits, found.n)
    return Paired(change, relative, found.beyond(smallest))


@dataclass(frozen=True, slots=True)
class Factor:
    """The logarithm of the ratio in pairs: its mean, the standard error of that, its degrees of freedom."""

    middle: float
    error: float
    freedom: int
    n: int

    def beyond(self, smallest: float) -> float:
        """Return how probable a ratio this far from one is by chance, where the true one is within `smallest` of it.

        At the edge of that range it may be found as far on either side. Where the range is narrow beside the error both
        sides count alike, where it is wide the other one is out of reach (the least favourable case of an interval
        hypothesis: E. L. Lehmann, J. P. Romano, Testing Statistical Hypotheses, 3rd ed., 2005, section 3.7).
        """
        edge = math.log1p(smallest)
        if abs(self.middle) <= edge:
            return 1.0
        if self.error == 0:
            return 0.0
        near, far = ((abs(self.middle) + side * edge) / self.error for side in (-1, 1))
        return (student.two_sided(near, self.freedom) + student.two_sided(far, self.freedom)) / 2


def factor(left: Sequence[float], right: Sequence[float], steps: tuple[float, float] = (0.0, 0.0)) -> Factor:
    """Return how many times `right` at least two values of `left` are, all above zero, pair by pair."""
    n = len(left)
    logs = np.log(np.asarray(left, dtype=float) / np.asarray(right, dtype=float))
    rounding = ((steps[0] / (math.fsum(left) / n)) ** 2 + (steps[1] / (math.fsum(right) / n)) ** 2) / 12
    middle, variance, freedom = _biweight(logs) if n >= ENOUGH else _plain(logs)
    return Factor(middle, math.sqrt((variance + rounding) / n), freedom, n)


def _plain(values: NDArray[np.float64]) -> tuple[float, float, int]:
    """Return mean, variance and degrees of freedom."""
    return float(np.mean(values)), float(np.var(values, ddof=1)), len(values) - 1


def _biweight(values: NDArray[np.float64]) -> tuple[float, float, int]:
    """Return the biweight, n times the variance of it, and degrees of freedom; the mean where half are the same."""
    n, middle = len(values), float(np.median(values))
    reach = REACH * float(np.median(np.abs(values - middle)))
    if reach == 0:
        return _plain(values)
    for _ in range(STEPS):
        weights = np.clip(1 - ((values - middle) / reach) ** 2, 0, None) ** 2
        before, middle = middle, float(np.sum(weights * values) / np.sum(weights))
        if abs(middle - before) < 1e-9 * reach:
            break
    squares = ((values - middle) / reach) ** 2
    near = np.clip(1 - squares, 0, None)
    slope = float(np.sum(near * (1 - 5 * squares)))
    variance = n * float(np.sum((values - middle) ** 2 * near**4)) / (slope * max(1.0, slope - 1))
    return middle, variance, round(FREEDOM * (n - 1))


def _less_one(found: Factor) -> Figure:
    half = student.quantile(found.freedom) * found.error
    low, high = found.middle - half, found.middle + half
    limits = Interval(math.expm1(low), math.expm1(high), LEVEL) if high - low < FARTHEST else None
    return Figure(math.expm1(min(found.middle, FARTHEST)), "fraction", limits, found.n)


def probability(gaps: Sequence[float], step: float = 0.0) -> float | None:
    """Return the two-sided probability of a mean difference this large by chance; None for less than two pairs."""
    if len(gaps) < 2:
        return None
    middle, error = math.fsum(gaps) / len(gaps), _error(gaps, step)
    if error == 0:
        return 1.0 if middle == 0 else 0.0
    return student.two_sided(middle / error, len(gaps) - 1)


def ratio(left: Sequence[float], right: Sequence[float], steps: tuple[float, float] = (0.0, 0.0)) -> Figure:
    """Return how many times `right` `left` is, less one.

    By the ratios in pairs (`factor`); where a value is zero or below mean(left) / mean(right) with Fieller's interval,
    which holds every r for which the paired differences left - r x right are not shown to differ from zero. None where
    the mean of `right` is not known to be positive: then no bound holds.
    """
    if _by_factors(left, right):
        return _less_one(factor(left, right, steps))
    n = len(left)
    if n == 0 or math.fsum(right) <= 0:
        return Figure(None, "fraction", None, n, "no ratio to zero")
    x, y = math.fsum(right) / n, math.fsum(left) / n
    if n < 2:
        return Figure(y / x - 1, "fraction", None, n, f"{TOO_FEW}: 1 repeat carries no interval")
    widening = student.quantile(n - 1) ** 2 / n
    covariance = np.cov(np.asarray([right, left], dtype=float), ddof=1)
    rounding = np.diag([steps[1] ** 2, steps[0] ** 2]) / 12
    return Figure(y / x - 1, "fraction", _fieller(x, y, (covariance + rounding) * widening), n)


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
