"""Means and straight fits: known values, and intervals that cover as often as they say."""

import numpy as np
import pytest

from pileup.plugin.fits import least_squares, mean_of


def test_a_mean_has_the_interval_of_students_law():
    found = mean_of([1.0, 2.0, 3.0, 4.0])
    assert found.value == 2.5
    assert found.half == pytest.approx(3.18244630528 * np.sqrt(5 / 3 / 4))
    assert mean_of([7.0]).half is None


def test_a_line_without_noise_is_found():
    fit = least_squares([[1, 1, 1, 1], [0, 1, 2, 3]], [2, 2.5, 3, 3.5])
    assert fit.values == pytest.approx((2, 0.5))
    assert fit.of(1).half == pytest.approx(0, abs=1e-9)
    assert fit.ratio(1, 0).value == pytest.approx(0.25)


def test_as_many_values_as_coefficients_leave_no_interval():
    assert least_squares([[1, 1], [0, 1]], [2, 3]).of(1).half is None


def test_intervals_cover_the_truth_as_often_as_they_say():
    random = np.random.default_rng(4)
    sizes = np.repeat([1, 2, 4, 8], 4)
    hits = {"slope": 0, "ratio": 0}
    for _ in range(1000):
        fit = least_squares([np.ones(16), sizes - 1.0], 10 + 0.3 * (sizes - 1) + random.normal(0, 0.5, 16))
        hits["slope"] += abs(fit.of(1).value - 0.3) < fit.of(1).half
        hits["ratio"] += abs(fit.ratio(1, 0).value - 0.03) < fit.ratio(1, 0).half
    assert all(930 <= number <= 970 for number in hits.values()), hits
