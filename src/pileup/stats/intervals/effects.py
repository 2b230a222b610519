"""Difference and ratio of two independent figures, out of their intervals alone.

MOVER, the method of variance estimates recovery: the distance of each limit from its estimate stands for the spread on
that side, so intervals that are skewed (quantiles, shares) or widened by dependence stay so. Sources: G. Y. Zou,
A. Donner, Stat. Med. 27 (2008) 1693 (difference); A. Donner, G. Y. Zou, Stat. Methods Med. Res. 21 (2012) 347 (ratio);
for shares the difference is that of R. G. Newcombe, Stat. Med. 17 (1998) 873. Both leave out "no change" together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pileup.model import student
from pileup.model.figures import Figure, Interval
from pileup.stats.intervals.confidence import LEVEL, Z

MANY = 10_000
"""Degrees of freedom that are as good as any number of them."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval at 95 %, and the degrees of freedom behind that. `high` may be infinite."""

    value: float
    low: float
    high: float
    freedom: int = MANY


def of_figure(figure: Figure) -> Estimate | None:
    """Return a figure as an estimate; None where it has no value or no interval."""
    if figure.value is None or figure.interval is None:
        return None
    low, high = min(figure.interval.low, figure.value), max(figure.interval.high, figure.value)
    return Estimate(figure.value, low, high)


def over_runs(sides: Sequence[Sequence[float]], step: float, proportional: bool) -> list[Estimate] | None:
    """Return the mean of each side over its runs; None where all sides together have no run more than sides.

    How runs vary is a property of system and place, so all sides report on it together (Student's two-sample interval):
    as a share of the mean where `proportional`, which fits times and rates. A side of one run then has an interval too.
    Values come in a `step`, whose rounding is part of the variance (W. F. Sheppard, 1898; `intervals/paired.py`).
    """
    freedom = sum(len(values) - 1 for values in sides)
    means = [math.fsum(values) / len(values) for values in sides]
    if freedom < 1:
        return None
    scales = [abs(mean) if proportional and mean else 1.0 for mean in means]
    squares = sum(
        float(np.sum((np.asarray(values) - mean) ** 2)) / scale**2
        for values, mean, scale in zip(sides, means, scales, strict=True)
    )
    factor, found = student.quantile(min(freedom, MANY)), []
    for values, mean, scale in zip(sides, means, scales, strict=True):
        half = factor * math.sqrt((squares / freedom * scale**2 + step * step / 12) / len(values))
        found.append(Estimate(mean, mean - half, mean + half, freedom))
    return found


def difference(one: Estimate, other: Estimate) -> Interval:
    """Return the interval of `one` less `other`."""
    gap = one.value - other.value
    low = gap - math.hypot(one.value - one.low, other.high - other.value)
    high = gap + math.hypot(one.high - one.value, other.value - other.low)
    return Interval(low, high, LEVEL)


def ratio(one: Estimate, other: Estimate) -> Interval | None:
    """Return the interval of `one` / `other`; None where `other` is not known to be positive: then no bound holds.

    A ratio r is in it when zero is in the interval of `one` less r x `other`. A limit that is not known is infinite.
    """
    if other.low <= 0 or one.value < 0:
        return None
    high = math.inf if math.isinf(one.high) else _highest(one, other)
    return Interval(0.0 if math.isinf(other.high) else max(0.0, _lowest(one, other)), high, LEVEL)


def _lowest(one: Estimate, other: Estimate) -> float:
    product = one.value * other.value
    lowest = one.low * (2 * one.value - one.low)
    under = product + math.sqrt(max(0.0, product**2 - lowest * other.high * (2 * other.value - other.high)))
    return lowest / under if under > 0 else 0.0


def _highest(one: Estimate, other: Estimate) -> float:
    product = one.value * other.value
    least = other.low * (2 * other.value - other.low)
    return (product + math.sqrt(max(0.0, product**2 - one.high * (2 * one.value - one.high) * least))) / least


def probability(one: Estimate, other: Estimate) -> float:
    """Return how probable a difference as large as this is when there is none, by the interval of the difference.

    The half of the interval on the side of zero is taken for so many standard errors as its level asks for.
    """
    gap, found = one.value - other.value, difference(one, other)
    half = gap - found.low if gap > 0 else found.high - gap
    freedom = min(one.freedom, other.freedom)
    if half <= 0:
        return 1.0 if gap == 0 else 0.0
    if freedom >= MANY:
        return math.erfc(abs(gap) / half * Z / math.sqrt(2))
    return student.two_sided(gap / half * student.quantile(freedom), freedom)
