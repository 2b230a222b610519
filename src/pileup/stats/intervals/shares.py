"""Intervals at 95 % of shares, such as those that failed, whose outcomes may come in bursts.

Where bursts are shown, the interval is that of an alternating renewal process: good and bad times take turns, each of
random length. The odds of a share are then the ratio of two sums of as many lengths as there were turns, and follow the
F law, with twice the number of turns for each of its two degrees of freedom (exponential lengths: R. E. Barlow,
F. Proschan, Statistical Theory of Reliability, 1975). The effective number of turns follows from the variance of the
share (D. R. Cox, Renewal Theory, 1962, 7.3), as its neighbours show it: single outcomes count as many turns as there
are of the rarer kind, twice over. There has been one turn at least, so even one burst gives bounds: a factor of 39.

Where no bursts are shown it is Wilson's (JASA 22 (1927) 209). Where nothing of a kind was seen, there is nothing to
learn from how it comes: it is taken to come singly, which gives 3.84 / n as the upper bound.

`tests/simulation/test_coverage_bursts.py` has how often they hold the truth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pileup.model import student
from pileup.model.figures import Interval
from pileup.stats.intervals.confidence import LEVEL, Z, wilson

MANY = 200
"""Degrees of freedom from which on the logarithm of the odds is normal."""


@dataclass(frozen=True, slots=True)
class Bursts:
    """How outcomes of a kind come: `factor` that come together say as much as a single one (at least 1)."""

    factor: float = 1.0
    shown: bool = False
    """Whether it is shown that they depend on their neighbours."""


SINGLY = Bursts()


def interval(count: float, n: float, bursts: Bursts = SINGLY) -> Interval | None:
    """Return the interval of a share of which `count` of `n` were seen; None for n = 0. It holds count / n."""
    if n <= 0:
        return None
    if not 0 < count < n:
        return wilson(count, n)
    if not bursts.shown:
        return wilson(count / bursts.factor, n / bursts.factor)
    odds, factor = count / (n - count), of_odds(turns(count, n, bursts.factor))
    return Interval(odds / factor / (1 + odds / factor), odds * factor / (1 + odds * factor), LEVEL)


def turns(count: float, n: float, factor: float) -> float:
    """Return how many good and bad times have taken turns, effectively; at least 1. `count` of `n`, none of them 0."""
    return max(1.0, 2 * count * (1 - count / n) / factor)


def of_odds(number: float) -> float:
    """Return the quantile at 97.5 % of the F law with twice this number for both degrees of freedom.

    By Student's law: a symmetric beta variable is one of Student's with as many degrees of freedom (N. L. Johnson,
    S. Kotz, N. Balakrishnan, Continuous Univariate Distributions 2, 1995, 27.3 and 28.7).
    """
    freedom = max(2, int(2 * number))
    if freedom > MANY:
        return math.exp(Z * math.sqrt(2 / number))
    t = student.quantile(freedom)
    root = math.sqrt(freedom + t * t)
    return (root + t) / (root - t)


def pooled(parts: Sequence[tuple[float, Bursts | None]]) -> Bursts:
    """Return how outcomes of several cases come together: n of each, and what is known of it."""
    n = sum(count for count, _ in parts)
    effective = sum(count / (found.factor if found else 1.0) for count, found in parts)
    shown = any(found is not None and found.shown for count, found in parts if count)
    return Bursts(max(1.0, n / effective) if effective else 1.0, shown)
