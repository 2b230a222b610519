"""Shares whose outcomes come in bursts, against the F law and Wilson's interval."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as exact

from pileup.stats.intervals import correlated, shares
from pileup.stats.intervals.confidence import wilson
from pileup.stats.intervals.correlated import Blocks
from pileup.stats.intervals.shares import Bursts


def known(outcomes):
    """How these come, one a block."""
    ones = np.ones(len(outcomes))
    passed = 1.0 - outcomes
    return correlated.dependence(Blocks(ones, passed, passed, passed, passed, {}, len(ones))).not_passed


@pytest.mark.parametrize("number", [1, 1.5, 4, 40, 99.5, 101, 5000])
def test_the_quantile_is_that_of_the_f_law(number):
    assert shares.of_odds(number) == pytest.approx(exact.f.ppf(0.975, 2 * number, 2 * number), rel=5e-3)


def test_single_outcomes_have_the_interval_of_wilson():
    assert shares.interval(60, 6000) == wilson(60, 6000)
    assert shares.interval(60, 6000, Bursts(2.0)) == wilson(30, 3000)
    assert shares.interval(0, 0) is None


def test_t16_with_none_seen_there_are_at_most_about_four_whatever_else_came_in_bursts():
    """Told before: 0 % (0-98.3 %) of 148,894."""
    found = shares.interval(0, 148_894, Bursts(2e6, shown=True))
    assert (found.low, found.high) == (0.0, pytest.approx(3.84 / 148_894, rel=0.01))
    # as the report says what would show it
    assert shares.interval(0, 3839).high < 0.001 < shares.interval(0, 3836).high
    assert shares.interval(500, 500, Bursts(2e6, shown=True)).low == pytest.approx(1 - 3.84 / 500, rel=0.01)


def test_t16_one_burst_is_one_turn_and_gives_bounds():
    """Told before: 35.2 % (0.217-99.3)."""
    half = np.zeros(4000)
    half[1000:2408] = 1
    bursts = known(half)
    found = shares.interval(1408, 4000, bursts)
    assert 0.01 < found.low < 0.2
    assert 0.6 < found.high < 0.96
    rare = np.zeros(4000)
    rare[1000:1008] = 1
    found = shares.interval(8, 4000, known(rare))
    assert 0.002 / 45 < found.low < 0.002 / 3
    assert 0.002 * 3 < found.high < 0.002 * 45


@given(st.integers(1, 10**6), st.floats(1e-6, 1 - 1e-6), st.floats(1, 1e9), st.booleans())
def test_t16_a_share_always_lies_in_its_interval(n, share, factor, shown):
    count = round(share * n)
    found = shares.interval(count, n, Bursts(factor, shown))
    assert 0 <= found.low <= count / n <= found.high <= 1
    if 0 < count < n:
        assert found.low < count / n < found.high
        odds = count / (n - count)
        assert not shown or found.high / (1 - found.high) < 40 * odds * (1 + 1e-9)


def test_cases_together_tell_as_much_as_their_parts():
    found = shares.pooled([(1000, Bursts(10.0, shown=True)), (1000, None)])
    assert found == Bursts(pytest.approx(2000 / 1100), shown=True)
    assert shares.pooled([]) == shares.SINGLY
    assert not shares.pooled([(0, Bursts(10.0, shown=True)), (10, None)]).shown


def test_turns_of_single_outcomes_are_twice_those_of_the_rarer_kind():
    assert shares.turns(10, 10_000, 1.0) == pytest.approx(20, rel=0.01)
    assert shares.turns(10, 10_000, 1e9) == 1
    assert math.isclose(shares.turns(50, 100, 5.0), 10)
