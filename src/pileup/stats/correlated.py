"""Intervals for values whose neighbours depend on each other, such as response times at a queue.

A case is cut into many short blocks of time. The sum of what is in them has a variance that is estimated from their
autocovariances up to a lag of several autocorrelation times (A. D. Sokal, in: Functional Integration, 1997, p. 131;
bias and precision: N. Madras, A. D. Sokal, J. Stat. Phys. 50 (1988) 109). Compared with independent values that gives
an effective number of values:

* quantiles: order statistics (David, Nagaraja, Order Statistics, 3rd ed., section 7.1) of that many, with interpolated
  ranks (J. L. Nyblom, Stat. Probab. Lett. 14 (1992) 129). The dependence is that of "is it at or below the quantile".
  In the tail there are few bursts to learn from, so a quantile takes at least the dependence of those nearer to the
  median.
* means: Student's interval, adjusted for skewness (R. Willink, Commun. Stat. Theory Methods 34 (2005) 1).

How often they cover the truth is measured by `benchmarks/coverage.py`; docs/compare.md has its result.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pileup.model.results import Interval
from pileup.stats import student
from pileup.stats.intervals import LEVEL, TAIL, Z, binomial

Floats = NDArray[np.float64]
WINDOW = 8.0
"""Autocovariances are taken up to this many autocorrelation times; beyond that they are noise alone."""
FEWEST_BATCHES = 8
"""Batches below which nothing is said of their skewness."""
STEPS = 1 / 6
"""Variance of a count between two edges that know nothing of it: two roundings of 1/12."""
MOST_FREEDOM = 5000


@dataclass(frozen=True, slots=True)
class Blocks:
    """A case in blocks of equal length, one after another: arrays with one entry per block."""

    ended: Floats
    """How many of those to be measured ended, whatever their outcome."""
    passed: Floats
    sums: Floats
    """Sum of the values of what passed."""
    counted: Floats
    """How many passed, also of those that began before the measured time."""
    moved: Floats
    """Their bytes."""
    below: Mapping[float, Floats]
    """Share -> how many of what passed lie at or below that quantile of the whole."""
    timed: int
    """How many of the first blocks lie in the measured time; later ones hold what was still to end."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Variance of the sum of a series, the degrees of freedom of that estimate, and its window in entries."""

    variance: float
    freedom: int
    window: int

    @property
    def factor(self) -> float:
        """Quantile of Student's law at 95 %."""
        return student.quantile(self.freedom)


@dataclass(frozen=True, slots=True)
class Dependence:
    """What is known of an operation of a case about how its values depend on their neighbours."""

    mean: tuple[float, float] = (0.0, 0.0)
    """Limits of the interval of the mean, less the mean."""
    error: float = 0.0
    """Standard error of the mean. This and those below are widened by Student's law for how well they are known."""
    factors: Mapping[float, float] = field(default_factory=dict)
    """Share -> variance of the share at or below that quantile over that of as many independent values; at least 1,
    rising with the share."""
    not_passed: float = 1.0
    """The same of the share that did not pass."""
    count: float | None = None
    """Half of the interval of how many passed in the measured time."""
    moved: float | None = None
    """Half of the interval of their bytes."""

    def factor(self, share: float) -> float:
        """Return the inflation for any quantile: of the next known one above it."""
        above = [factor for known, factor in self.factors.items() if known >= share]
        return min(above, default=max(self.factors.values(), default=1.0))


def spread(series: Floats) -> Spread:
    """Return how the sum of a series of mean zero varies when neighbours may depend on each other."""
    n = len(series)
    transformed = np.fft.rfft(series - series.mean(), 2 * n)
    covariances = np.fft.irfft(transformed * np.conj(transformed))[:n]
    if n < 2 or covariances[0] <= 0:
        return Spread(0.0, max(1, n - 1), 1)
    times = 0.5 + np.cumsum(covariances[1:] / covariances[0])
    lags = np.arange(1, n)
    # Neighbours that avoid each other would end the sum too early without a least window.
    enough = np.nonzero(lags >= WINDOW * np.maximum(times, 1.0))[0]
    window = int(lags[enough[0]]) if len(enough) else n - 1
    width = 2 * window + 1
    # The mean was taken from the series itself: that takes away about width / n of the variance.
    variance = 2 * float(times[window - 1]) * float(covariances[0]) * (1 + width / n)
    return Spread(max(0.0, variance), min(MOST_FREEDOM, max(1, n // width)), window)


def dependence(blocks: Blocks) -> Dependence | None:
    """Return how what is in these blocks depends on its neighbours; None for less than two values."""
    n, ended = float(blocks.passed.sum()), float(blocks.ended.sum())
    if n < 2:
        return None
    residuals = blocks.sums - blocks.sums.sum() / n * blocks.passed
    found = spread(residuals)
    error, shape = math.sqrt(found.variance) / n, skewness(residuals, found.window)
    return Dependence(
        mean=(-_skewed(found.factor, shape) * error, -_skewed(-found.factor, shape) * error),
        error=error * found.factor / Z,
        factors=_factors(blocks, n),
        not_passed=_factor(blocks.ended - blocks.passed, blocks.ended, ended),
        count=_half(blocks.counted[: blocks.timed], 1.0),
        moved=_half(blocks.moved[: blocks.timed], float(blocks.moved.sum() / max(1.0, blocks.counted.sum()))),
    )


def skewness(series: Floats, window: int) -> float:
    """Return the skewness of batches as long as the window over six times the root of their number: Willink's beta."""
    length = 2 * window + 1
    number = len(series) // length
    if number < FEWEST_BATCHES:
        return 0.0
    sums = series[: number * length].reshape(number, length).sum(axis=1)
    sums = sums - sums.mean()
    deviation = float(sums.std())
    if deviation == 0:
        return 0.0
    third = float(np.mean(sums**3)) / deviation**3 * number**2 / ((number - 1) * (number - 2))
    return third / (6 * math.sqrt(number))


def _skewed(quantile: float, shape: float) -> float:
    """Return a quantile of Student's law adjusted for skewness (Willink 2005, equation 5)."""
    if abs(shape) < 1e-3:
        return quantile
    return float(np.cbrt(1 + 6 * shape * (quantile - shape)) - 1) / (2 * shape)


def _factors(blocks: Blocks, n: float) -> dict[float, float]:
    found, largest = {}, 1.0
    for share, below in sorted(blocks.below.items()):
        own, noise = _inflation(below, blocks.passed, n)
        found[share] = max(1.0, own, largest)
        if own > 1 + noise:
            largest = found[share]
    return found


def _factor(hits: Floats, of: Floats, n: float) -> float:
    """Return the variance of a share over that of as many independent values, at least 1."""
    return max(1.0, _inflation(hits, of, n)[0])


def _inflation(hits: Floats, of: Floats, n: float) -> tuple[float, float]:
    """Return the variance of a share over that of as many independent values, and how far that may be off by chance."""
    share = float(hits.sum()) / n if n else 0.0
    if not 0 < share < 1:
        return 1.0, 0.0
    found = spread(hits - share * of)
    inflation = found.variance / (n * share * (1 - share)) * (found.factor / Z) ** 2
    return inflation, Z * math.sqrt(2 / found.freedom)


def _half(amounts: Floats, step: float) -> float | None:
    """Return half of the interval of a sum of amounts that come in steps."""
    if len(amounts) < 2:
        return None
    found = spread(amounts)
    return found.factor * math.sqrt(found.variance + STEPS * step**2)


def ranks(share: float, n: int, factor: float) -> tuple[int, int] | None:
    """Return the ranks (1 is the smallest) of the two of `n` values that enclose a quantile.

    None when there is no such value: `n / factor` independent ones are too few to tell.
    """
    effective = int(n / max(1.0, factor))
    if effective < 1 or share**effective > TAIL or (1 - share) ** effective > TAIL:
        return None
    first, below = binomial(effective, share)
    low, high = (_rank(first, below, level) for level in (TAIL, 1 - TAIL))
    # Of so many values one stands for several: their middles are laid on each other.
    scale = n / effective
    return max(1, math.floor((low - 0.5) * scale + 0.5)), min(n, math.ceil((high - 0.5) * scale + 0.5))


def _rank(first: int, below: Floats, level: float) -> float:
    """Return the rank, not whole, that a binomial count falls short of with probability `level`."""
    place = int(np.searchsorted(below, level, side="right"))
    before = float(below[place - 1]) if place else 0.0
    step = float(below[place]) - before if place < len(below) else 1.0
    return first + place + (level - before) / step if step > 0 else float(first + place)


def mean_interval(mean: float, found: Dependence) -> Interval:
    """Return the interval of a mean that cannot be below zero."""
    return Interval(max(0.0, mean + found.mean[0]), mean + found.mean[1], LEVEL)


def pooled_factor(share: float, parts: Sequence[tuple[int, Dependence | None]]) -> float:
    """Return the inflation for a quantile of several cases together: n of each, and what is known of it."""
    effective = sum(n / (found.factor(share) if found else 1.0) for n, found in parts)
    return sum(n for n, _ in parts) / effective if effective else 1.0


def pooled_error(parts: Sequence[tuple[int, Dependence | None]]) -> float | None:
    """Return the standard error of the mean of several cases together; None where it is not known of one of them."""
    n = sum(count for count, _ in parts)
    if n == 0 or any(found is None for count, found in parts if count):
        return None
    return math.hypot(*(count * found.error for count, found in parts if found)) / n
