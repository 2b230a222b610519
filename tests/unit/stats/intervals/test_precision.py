"""How precisely repeats tell a figure, and how often the interval holds the truth when they end by it."""

import math

import numpy as np
import pytest

from pileup.stats.intervals.precision import half_width


def test_half_of_the_interval_as_a_share_of_the_mean() -> None:
    # mean 10, standard deviation 1, t(4) = 2.776: 2.776 / sqrt(5) / 10
    assert half_width([9.0, 9.0, 10.0, 11.0, 11.0]) == pytest.approx(0.12415, rel=1e-3)


@pytest.mark.parametrize(("values", "half"), [([], math.inf), ([3.0], math.inf), ([0.0, 0.0], 0.0), ([5.0, 5.0], 0.0)])
def test_few_or_equal_values(values: list[float], half: float) -> None:
    assert half_width(values) == half


def test_nothing_is_known_of_a_mean_of_zero() -> None:
    assert half_width([-1.0, 1.0]) == math.inf


@pytest.mark.long
@pytest.mark.parametrize(("spread", "within"), [(0.05, 0.05), (0.05, 0.02)])
def test_the_interval_holds_the_truth_although_it_ends_the_repeats(spread: float, within: float) -> None:
    source = np.random.default_rng(7)
    held = 0
    for _ in range(500):
        values = [float(value) for value in source.normal(1, spread, 4)]
        in_a_row = 0
        while in_a_row < 2 and len(values) < 100:
            values.append(float(source.normal(1, spread)))
            in_a_row = in_a_row + 1 if half_width(values) <= within else 0
        held += abs(np.mean(values) - 1) <= half_width(values) * np.mean(values)
    assert 0.91 <= held / 500 <= 0.98
