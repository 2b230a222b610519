"""Means and straight fits with their intervals, for reports and charts: 95 %, by Student's law."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pileup.model.student import quantile

if TYPE_CHECKING:
    import numpy


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with half of its interval; None: it has none, as there are too few values."""

    value: float
    half: float | None = None


def mean_of(values: Sequence[float]) -> Estimate:
    """Return the mean of values of one law, at least one."""
    number = len(values)
    mean = sum(values) / number
    if number < 2:
        return Estimate(mean)
    variance = sum((value - mean) ** 2 for value in values) / (number - 1)
    return Estimate(mean, quantile(number - 1) * math.sqrt(variance / number))


@dataclass(frozen=True)
class Fit:
    """Coefficients of a least-squares fit with constant variance, and their covariance; None: nothing is left over."""

    values: tuple[float, ...]
    covariance: numpy.ndarray | None
    freedom: int

    def of(self, number: int) -> Estimate:
        """Return a coefficient."""
        return self._estimate(self.values[number], [float(each == number) for each in range(len(self.values))])

    def ratio(self, number: int, by: int) -> Estimate:
        """Return a coefficient divided by another one; its interval by the first derivatives (delta method)."""
        ratio = self.values[number] / self.values[by]
        slopes = [0.0] * len(self.values)
        slopes[number], slopes[by] = 1 / self.values[by], -ratio / self.values[by]
        return self._estimate(ratio, slopes)

    def _estimate(self, value: float, slopes: Sequence[float]) -> Estimate:
        import numpy  # noqa: PLC0415  what plug-ins import is light

        if self.covariance is None:
            return Estimate(value)
        variance = float(numpy.asarray(slopes) @ self.covariance @ numpy.asarray(slopes))
        return Estimate(value, quantile(self.freedom) * math.sqrt(max(0.0, variance)))


def least_squares(columns: Sequence[Sequence[float]], values: Sequence[float]) -> Fit:
    """Return the coefficients of `columns`, one for each, whose sum is nearest to `values`.

    The columns must be independent. Source: any text, e.g. G. A. F. Seber, A. J. Lee, Linear Regression Analysis, 2003,
    3.1 to 3.3.
    """
    import numpy  # noqa: PLC0415

    design, wanted = numpy.asarray(columns, float).T, numpy.asarray(values, float)
    found = numpy.linalg.lstsq(design, wanted, rcond=None)[0]
    freedom = len(values) - len(columns)
    covariance = None
    if freedom > 0:
        left = wanted - design @ found
        covariance = numpy.linalg.inv(design.T @ design) * float(left @ left) / freedom
    return Fit(tuple(map(float, found)), covariance, freedom)
