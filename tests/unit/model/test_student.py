"""Student's law against an independent implementation."""

import pytest
from scipy import stats

from pileup.model import student


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 7, 9, 10, 31, 100, 1001])
def test_quantiles_and_probabilities(freedom):
    assert student.quantile(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-9)
    assert student.quantile(freedom, 0.99) == pytest.approx(stats.t.ppf(0.995, freedom), rel=1e-9)
    for t in (0.0, 0.01, 1.0, 4.0, 60.0):
        assert student.two_sided(-t, freedom) == pytest.approx(2 * stats.t.sf(t, freedom), abs=1e-12)


def test_an_infinite_distance_is_no_chance():
    assert student.two_sided(float("inf"), 3) == 0
