"""Student's law (Student, Biometrika 6 (1908) 1) for any whole number of degrees of freedom: exact sums, no tables.

Formulas 26.7.3 and 26.7.4 of M. Abramowitz, I. A. Stegun, Handbook of Mathematical Functions, 1964.
"""

from __future__ import annotations

import math
from functools import cache


def within(t: float, freedom: int) -> float:
    """Return the probability that a variable of Student's law with `freedom` >= 1 lies between -t and t, for t >= 0."""
    angle = math.atan2(t, math.sqrt(freedom))
    sine, square = math.sin(angle), math.cos(angle) ** 2
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(2 + odd, freedom - 1, 2):
        term *= square * (k - 1) / k
        total += term
    share = (angle + sine * total) * 2 / math.pi if odd else sine * total
    return min(1.0, max(0.0, share))


@cache
def quantile(freedom: int, level: float = 0.95) -> float:
    """Return the t for which a share of `level` lies between -t and t: 12.706 for one degree of freedom and 95 %."""
    low, high = 0.0, 1.0
    while within(high, freedom) < level:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle, freedom) < level else (low, middle)
    return high


def two_sided(t: float, freedom: int) -> float:
    """Return how probable a value at least as far from zero as `t` is when nothing but chance is at work."""
    return max(0.0, 1.0 - within(abs(t), freedom))
