"""Confidence intervals at 95 % from counts, order statistics and batches: pure arithmetic.

Sources: H. A. David, H. N. Nagaraja, Order Statistics, 3rd ed., 2003, section 7.1 (quantiles); E. B. Wilson, JASA 22
(1927) 209 (fractions); F. Garwood, Biometrika 28 (1936) 437 with the chi-square quantile of Wilson and Hilferty, PNAS
17 (1931) 684 (counts); B. Schmeiser, Operations Research 30 (1982) 556 (batch means, 10 to 30 batches).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import count

import numpy as np

from pileup.model.figures import Interval

LEVEL = 0.95
TAIL = (1 - LEVEL) / 2
Z = 1.959963984540054
"""Quantile of the normal law at 1 - TAIL."""
BATCHES = 20
FEWEST_BATCHES = 10


def wilson(count: float, n: float) -> Interval | None:
    """Interval of a fraction of which `count` of `n` were seen; None for n = 0. Always within 0 and 1."""
    if n <= 0:
        return None
    share, square = count / n, Z * Z
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = Z / (1 + square / n) * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    low = 0.0 if count == 0 else max(0.0, middle - half)
    high = 1.0 if count == n else min(1.0, middle + half)
    return Interval(low, high, LEVEL)


def poisson(count: int) -> Interval:
    """Interval of the expected number of independent events of which `count` were seen."""
    above = count + 1
    high = above * (1 - 1 / (9 * above) + Z / (3 * math.sqrt(above))) ** 3
    low = count * (1 - 1 / (9 * count) - Z / (3 * math.sqrt(count))) ** 3 if count else 0.0
    return Interval(max(0.0, low), high, LEVEL)


def batch_means(values: Sequence[float]) -> Interval | None:
    """Interval of the mean of a series whose neighbours may depend on each other, such as counts per second.

    The series is cut into 10 to 20 batches of equal length, longer than the dependence reaches; their means are nearly
    independent, and Student's law with one degree of freedom less than batches holds for them. None for a short series.
    """
    if len(values) < FEWEST_BATCHES:
        return None
    number = min(BATCHES, max(FEWEST_BATCHES, len(values) // 3))
    length = len(values) // number
    kept = np.asarray(values[len(values) - number * length :], dtype=float)
    means = kept.reshape(number, length).mean(axis=1)
    middle = float(means.mean())
    half = student(number - 1) * float(means.std(ddof=1)) / math.sqrt(number)
    return Interval(middle - half, middle + half, LEVEL)


def student(freedom: int) -> float:
    """Quantile at 97.5 % of Student's law, from 9 degrees of freedom on (Cornish and Fisher, within 1e-4)."""
    terms = (
        (Z**3 + Z) / 4,
        (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96,
        (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / 384,
        (79 * Z**9 + 776 * Z**7 + 1482 * Z**5 - 1920 * Z**3 - 945 * Z) / 92160,
    )
    return Z + sum(term / float(freedom) ** power for power, term in enumerate(terms, 1))


def quantile_ranks(share: float, n: int) -> tuple[int, int] | None:
    """Ranks (1 is the smallest) of the two order statistics that enclose a quantile, whatever the law.

    With B binomial (n, share): the largest low with P(B < low) <= 2.5 %, the smallest high with P(B < high) >= 97.5 %.
    None when n is too small for one of them to exist.
    """
    if n < 1 or share**n > TAIL or (1 - share) ** n > TAIL:
        return None
    first, below = binomial(n, share)
    low = first + int(np.searchsorted(below, TAIL, side="right"))
    high = first + 1 + int(np.searchsorted(below, 1 - TAIL, side="left"))
    return (low, high) if low >= 1 and high <= n else None


@cache
def fewest(share: float) -> int:
    """Return how many values a quantile takes at least, to have such ranks; so many and more always do."""
    known = max(1, math.floor(math.log(TAIL) / math.log(max(share, 1 - share))))
    return next(n for n in count(known) if quantile_ranks(share, n) is not None)


def binomial(n: int, share: float) -> tuple[int, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Return k and P(B <= k), P(B <= k + 1), ... of a binomial count over all that matters (12 standard deviations)."""
    spread = int(12 * math.sqrt(n * share * (1 - share))) + 40
    mode = min(n, int((n + 1) * share))
    first, last = max(0, mode - spread), min(n, mode + spread)
    k = np.arange(first, last, dtype=float)
    steps = np.log((n - k) / (k + 1)) + math.log(share / (1 - share))
    start = math.lgamma(n + 1) - math.lgamma(first + 1) - math.lgamma(n - first + 1)
    start += first * math.log(share) + (n - first) * math.log1p(-share)
    weights = np.exp(start + np.concatenate([[0.0], np.cumsum(steps)]))
    return first, np.cumsum(weights / weights.sum())
