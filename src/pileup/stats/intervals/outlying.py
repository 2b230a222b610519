"""Rows of a linear model that lie above what all others lead to expect, and counts that are larger than elsewhere.

Rows: the mean-shift outlier test. Each row is predicted by a fit to the others; the distance over its standard error
follows Student's law, and Bonferroni's inequality bounds the chance that any row is so far off (R. D. Cook,
S. Weisberg, Residuals and Influence in Regression, 1982, 2.2.2). Rows are set aside one by one, the farthest first, and
all of those up to the last that is beyond chance are outlying: a row cannot hide behind another one (B. Rosner,
Technometrics 25 (1983) 165; for linear models S. R. Paul, K. Y. Fung, Technometrics 33 (1991) 339). Step i looks at all
ordered choices of i rows, n (n - 1) ... (n - i + 1) of them, and has an equal part of the 5 %: the bound holds for any
number of rows, where the critical values of these papers need many.

Counts: Fisher's exact test of one row against all others (R. A. Fisher, J. R. Stat. Soc. 98 (1935) 39), adjusted for
the number of rows (S. Holm, Scand. J. Stat. 6 (1979) 65).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pileup.model import student
from pileup.stats.intervals.paired import holm

CHANCE = 0.05
"""Probability that any row is called outlying where none is."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Fit:
    """A least-squares fit: its coefficients, their covariance per unit of `variance`, and degrees of freedom."""

    coefficients: Floats
    inverse: Floats
    """Inverse of X'X."""
    variance: float
    """Of one value around the fit; 0 without a degree of freedom."""
    freedom: int

    def error(self, row: Floats) -> float:
        """Return the standard error of a linear combination of the coefficients."""
        return math.sqrt(max(0.0, self.variance * float(row @ self.inverse @ row)))


def fit(design: Floats, values: Floats) -> Fit | None:
    """Return the fit of values to rows of a design; None where the rows do not determine every coefficient."""
    rows, columns = design.shape
    if rows < columns or np.linalg.matrix_rank(design) < columns:
        return None
    inverse: Floats = np.linalg.inv(design.T @ design).astype(np.float64)
    coefficients: Floats = inverse @ design.T @ values
    freedom = rows - columns
    rest = float(((values - design @ coefficients) ** 2).sum())
    return Fit(coefficients, inverse, rest / freedom if freedom else 0.0, freedom)


@dataclass(frozen=True, slots=True)
class Above:
    """A row and how probable it is that any row is by chance so far above what is expected."""

    row: int
    chance: float


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a design, their values, and the standard errors of these by themselves, which count beside the fit's."""

    design: Floats
    values: Floats
    errors: Floats


def above(rows: Rows, most: int, room: float) -> list[Above]:
    """Return the rows whose values are beyond chance more than `room` (a share) above what the others lead to expect.

    At most `most` rows are looked for. They come in the order in which they were set aside.
    """
    left, choices = list(range(len(rows.values))), 1.0
    found: list[Above] = []
    for _ in range(min(most, len(rows.values))):
        choices *= len(left)
        t, row, freedom = max(_shift(rows, row, left, room) for row in left)
        if row < 0:
            break
        found.append(Above(row, min(1.0, most * choices * student.two_sided(t, freedom) / 2 if t > 0 else 1.0)))
        left.remove(row)
    last = max((place for place, each in enumerate(found) if each.chance < CHANCE), default=-1)
    return found[: last + 1]


def _shift(rows: Rows, row: int, left: Sequence[int], room: float) -> tuple[float, int, int]:
    """Return how many standard errors a row is above what the others lead to expect, the row, degrees of freedom.

    The row is -1 where the others do not determine what to expect.
    """
    others = [each for each in left if each != row]
    known = fit(rows.design[others], rows.values[others])
    if known is None or known.freedom < 1:
        return -math.inf, -1, 0
    here = rows.design[row]
    expected = (1 + room) * max(0.0, float(here @ known.coefficients))
    error = math.sqrt(((1 + room) * known.error(here)) ** 2 + known.variance + float(rows.errors[row]) ** 2)
    distance = float(rows.values[row]) - expected
    return (distance / error if error else math.copysign(math.inf, distance)), row, known.freedom


def larger_shares(
    counts: Sequence[int], numbers: Sequence[int], others: Sequence[tuple[int, int]]
) -> list[float | None]:
    """Return for each row how probable it is that any has by chance so many more `counts` in its `numbers`.

    `others` are, for each row, how many of the same kind all other rows have, and in how many.
    """
    rows = zip(counts, numbers, others, strict=True)
    return holm([_fisher(count, n, count + more, n + beside) if n else None for count, n, (more, beside) in rows])


def _fisher(count: int, n: int, whole: int, total: int) -> float:
    """Return the chance of at least `count` of `whole` among `n` of `total`: the tail of the hypergeometric law."""

    def log_choose(a: int, b: int) -> float:
        return math.lgamma(a + 1) - math.lgamma(b + 1) - math.lgamma(a - b + 1)

    bottom = log_choose(total, n)
    likely = range(max(count, n + whole - total, 0), min(n, whole) + 1)
    terms = (math.exp(log_choose(whole, k) + log_choose(total - whole, n - k) - bottom) for k in likely)
    return min(1.0, math.fsum(terms))
