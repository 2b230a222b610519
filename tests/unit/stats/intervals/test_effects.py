"""Difference and ratio out of intervals, against formulas worked out another way."""

import math

import numpy as np
import pytest
from scipy import stats as reference

from pileup.model.figures import Figure, Interval
from pileup.stats.intervals import effects
from pileup.stats.intervals.effects import Estimate
from tests.unit.stats.contrasts import near


def test_a_difference_adds_errors_in_quadrature():
    found = effects.difference(Estimate(10, 7, 14), Estimate(20, 16, 25))
    assert near(found, -10 - math.hypot(3, 5), -10 + math.hypot(4, 4))


def test_shares_differ_as_newcombe_says():
    # Newcombe 1998, table II (a): 56/70 against 48/80, method 10 gives 0.0524 to 0.3339.
    first = Estimate(56 / 70, 0.691849, 0.876871)
    second = Estimate(48 / 80, 0.490330, 0.700417)
    found = effects.difference(first, second)
    assert found.low == pytest.approx(0.0524, abs=2e-4)
    assert found.high == pytest.approx(0.3339, abs=2e-4)


@pytest.mark.parametrize("bounds", [(9, 12), (2, 12), (8, 25)])
def test_the_limits_of_a_ratio_are_where_the_difference_to_a_multiple_ends_at_zero(bounds):
    one, other = Estimate(30, 24, 40), Estimate(10, *bounds)
    found = effects.ratio(one, other)
    assert found.low < 3 < found.high
    for limit, side in ((found.low, "low"), (found.high, "high")):
        scaled = Estimate(limit * other.value, limit * other.low, limit * other.high)
        assert getattr(effects.difference(one, scaled), side) == pytest.approx(0, abs=1e-9)


def test_a_ratio_to_what_may_be_zero_has_no_interval():
    assert effects.ratio(Estimate(1, 0.5, 2), Estimate(0.1, 0.0, 0.3)) is None
    assert effects.ratio(Estimate(0.1, 0.0, 0.3), Estimate(1, 0.5, 2)).low == 0


def test_a_difference_is_improbable_just_where_its_interval_leaves_out_zero():
    base = Estimate(10, 9, 11)
    for gap in (math.sqrt(2) - 1e-9, math.sqrt(2) + 1e-9):
        other = Estimate(10 + gap, 9 + gap, 11 + gap)
        found = effects.difference(other, base)
        assert (effects.probability(other, base) < 0.05) == (found.low > 0)
        assert effects.probability(other, base) == pytest.approx(0.05, abs=1e-6)
    assert effects.probability(base, base) == 1.0


def test_runs_are_compared_as_two_samples_of_student():
    one, other = [10.0, 12.0, 11.0], [14.0, 17.0]
    first, second = effects.over_runs([one, other], step=0.0, proportional=False)
    theirs = reference.ttest_ind(other, one)
    limits = theirs.confidence_interval(0.95)
    found = effects.difference(second, first)
    assert (found.low, found.high) == pytest.approx((limits.low, limits.high), rel=1e-6)
    assert effects.probability(second, first) == pytest.approx(theirs.pvalue, rel=1e-6)


def test_a_single_run_takes_the_spread_of_the_other_side():
    first, second = effects.over_runs([[100.0, 110.0], [50.0]], step=0.0, proportional=True)
    assert (second.high - second.value) / second.value == pytest.approx(
        (first.high - first.value) / first.value * math.sqrt(2)
    )
    assert effects.over_runs([[1.0], [2.0]], 0.0, True) is None


def test_equal_values_do_not_prove_anything_closer_than_their_step():
    first, second = effects.over_runs([[5.0, 5.0], [5.0, 5.0]], step=0.1, proportional=True)
    assert second.high - second.low > 0.1
    assert effects.difference(first, second).low < 0


def test_figures_without_interval_are_no_estimates():
    assert effects.of_figure(Figure(1.0)) is None
    assert effects.of_figure(Figure(None, interval=Interval(1, 2))) is None
    assert effects.of_figure(Figure(1.0, interval=Interval(1.1, 2))) == Estimate(1.0, 1.0, 2.0)


@pytest.mark.parametrize("sizes", [(2, 2), (4, 4), (1, 5)])
def test_intervals_over_runs_cover_the_truth(sizes):
    rng, hits, tries = np.random.default_rng(5), np.zeros(2), 1000
    for _ in range(tries):
        values = [
            100 * scale * rng.lognormal(-(0.02**2) / 2, 0.02, n) for n, scale in zip(sizes, (1.0, 1.3), strict=True)
        ]
        first, second = effects.over_runs([each.tolist() for each in values], 0.0, True)
        gap, ratio = effects.difference(second, first), effects.ratio(second, first)
        hits += (gap.low <= 30 <= gap.high, ratio.low <= 1.3 <= ratio.high)
    assert np.all((hits / tries > 0.93) & (hits / tries < 0.97))


def test_a_limit_that_is_not_known_is_infinite_and_nothing_is_nonsense():
    plain = Estimate(10, 9, 11)
    for open_one in (Estimate(20, 15, math.inf), Estimate(20, 0, math.inf)):
        gap, times = effects.difference(open_one, plain), effects.ratio(open_one, plain)
        assert (gap.high, times.high) == (math.inf, math.inf)
        assert gap.low < 10
        assert 0 <= times.low < 2
        back = effects.ratio(plain, open_one)
        assert back is None or (back.low == 0 and 0.5 < back.high < 1)
    assert effects.probability(Estimate(20, 15, math.inf), plain) < 0.001
    assert effects.probability(plain, Estimate(20, 15, math.inf)) < 0.001
    assert effects.probability(Estimate(8, 7, math.inf), plain) == 1.0
