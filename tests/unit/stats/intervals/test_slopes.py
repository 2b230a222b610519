"""How fast samples grow: known lines are found, and intervals hold what is true as often as they say."""

from __future__ import annotations

import numpy as np
import pytest

from pileup.stats.intervals.slopes import FEWEST, slope

SECOND = 10**9
MIB = 2**20


def seconds(n: int) -> np.ndarray:
    return np.arange(n, dtype=np.int64) * SECOND


def test_a_line_is_found_exactly() -> None:
    found = slope(seconds(600), 100.0 * MIB + np.arange(600) * 300.0, "size")
    assert found.value == pytest.approx(300.0)
    assert (found.dimension, found.n) == ("bandwidth", 600)
    assert found.interval is not None
    assert found.interval.low == pytest.approx(300.0)
    assert found.interval.high == pytest.approx(300.0)


def test_what_stays_the_same_does_not_grow() -> None:
    found = slope(seconds(60), np.full(60, 12.0), "")
    assert (found.value, found.dimension) == (0.0, "rate")
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (0.0, 0.0)


@pytest.mark.parametrize("n", [1, 2, FEWEST - 1])
def test_of_too_few_nothing_is_said(n: int) -> None:
    found = slope(seconds(n), np.arange(n, dtype=float), "")
    assert (found.value, found.note, found.n) == (None, "too few", n)
    assert slope(seconds(0), np.empty(0), "").value is None
    assert slope(np.zeros(50, dtype=np.int64), np.arange(50.0), "").value is None, "all at one time"


def test_a_time_that_grows_with_time_is_a_share() -> None:
    found = slope(seconds(100), np.arange(100) * 0.01 * SECOND, "time")
    assert found.value == pytest.approx(0.01)
    assert found.dimension == "fraction"


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.9])
def test_intervals_hold_the_true_slope_though_neighbours_depend_on_each_other(memory: float) -> None:
    """An autoregressive series around a line, 600 samples, 400 times: 95 % of the intervals hold its slope."""
    random, held, true = np.random.default_rng(7), 0, 0.02
    for _ in range(400):
        noise, value = np.empty(600), 0.0
        for at, shock in enumerate(random.normal(size=600)):
            value = memory * value + shock
            noise[at] = value
        found = slope(seconds(600), true * np.arange(600) + noise, "").interval
        assert found is not None
        held += found.low <= true <= found.high
    assert 0.91 <= held / 400 <= 0.985
