"""The mean of samples and reported numbers has an interval that holds what it says."""

import numpy as np
import pytest

from pileup.model import check
from pileup.stats.intervals.sample_mean import mean_of
from pileup.stats.verdicts.resolve import of_values

RUNS = 1000


@pytest.mark.parametrize(("n", "least"), [(3, 0.93), (8, 0.93), (10, 0.93), (50, 0.93), (400, 0.93)])
def test_t25_the_interval_holds_the_mean_of_independent_values(n: int, least: float) -> None:
    draw = np.random.default_rng(n)
    held = 0
    for _ in range(RUNS):
        found = mean_of(draw.normal(20.0, 3.0, n), "").interval
        assert found is not None
        held += found.low <= 20 <= found.high
    assert least <= held / RUNS <= 0.975


def test_t25_the_interval_holds_the_mean_of_a_series_whose_neighbours_are_alike() -> None:
    """An autoregressive series: taken as independent, its mean would be held in about half of the runs."""
    draw, held = np.random.default_rng(5), 0
    for _ in range(400):
        noise, value, values = draw.normal(0, 1, 600), 0.0, np.empty(600)
        for place, step in enumerate(noise):
            value = 0.7 * value + step
            values[place] = 50 + value
        found = mean_of(values, "").interval
        assert found is not None
        held += found.low <= 50 <= found.high
    assert held / 400 > 0.88


def test_t25_a_mean_in_a_check_has_the_interval() -> None:
    asked = check.parse("mean(copy.entries) < 5")
    found = of_values(asked, np.array([2.0, 4.0, 3.0, 5.0, 1.0]), "")
    assert (found.value, found.n) == (3.0, 5)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (pytest.approx(1.037, abs=1e-3), pytest.approx(4.963, abs=1e-3))


def test_an_interval_stays_where_values_can_be() -> None:
    shares = mean_of(np.array([0.0, 1.0, 1.0, 1.0]), "fraction").interval
    assert shares is not None
    assert (shares.low, shares.high) == (0.0, 1.0)
    below = mean_of(np.array([-1.0, 1.0, 0.5]), "").interval
    assert below is not None
    assert below.low < 0


def test_one_value_has_no_interval() -> None:
    assert mean_of(np.array([3.0]), "time").interval is None


def test_equal_values_are_their_mean() -> None:
    found = mean_of(np.full(30, 0.1), "").interval
    assert found is not None
    assert found.low <= 0.1 <= found.high
    assert found.high - found.low < 1e-9
