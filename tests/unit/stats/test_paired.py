"""Means over repeats and paired differences: known values, and how often the intervals hold the truth."""

import numpy as np
import pytest
from scipy import stats

from pileup.stats import paired

RUNS = 2000
"""Simulated experiments: the share that holds the truth then has a standard deviation of half a per cent."""


def holds(interval, truth):
    return interval is not None and interval.low <= truth <= interval.high


@pytest.mark.parametrize("repeats", [2, 3, 4, 8])
def test_the_interval_of_a_mean_covers_the_truth(repeats):
    draw = np.random.default_rng(1908 + repeats)
    hit = sum(holds(paired.mean(list(draw.normal(10, 2, repeats))).interval, 10) for _ in range(RUNS))
    assert 0.93 < hit / RUNS < 0.97


@pytest.mark.parametrize("repeats", [2, 4, 8])
def test_differences_and_ratios_cover_the_truth_whatever_both_share(repeats):
    draw = np.random.default_rng(1954 + repeats)
    difference = ratio = 0
    for _ in range(RUNS):
        drift = draw.normal(0, 1, repeats)  # what a repeat does to both points
        base, other = 30 + drift + draw.normal(0, 0.3, repeats), 33 + drift + draw.normal(0, 0.3, repeats)
        found = paired.compare(list(other), list(base))
        difference += holds(found.difference.interval, 3)
        ratio += holds(found.relative.interval, 0.1)
    assert 0.93 < difference / RUNS < 0.97
    assert 0.93 < ratio / RUNS < 0.975


def test_what_is_never_below_nothing_has_no_interval_there():
    assert paired.mean([34.0, 100.0]).interval.low < 0
    found = paired.amount([34.0, 100.0], "rate")
    assert (found.value, found.dimension, found.interval.low) == (67, "rate", 0)
    assert found.interval.high == paired.mean([34.0, 100.0]).interval.high
    assert paired.amount([1.0]).interval is None


def test_pairs_see_what_a_shared_drift_would_hide():
    base = [10.0, 14.0, 9.0, 17.0]
    other = [value + 1 + small for value, small in zip(base, (0.05, -0.04, 0.02, -0.01), strict=True)]
    found = paired.compare(other, base)
    assert found.difference.value == pytest.approx(1.005)
    assert 0.9 < found.difference.interval.low < found.difference.interval.high < 1.1
    assert found.p == pytest.approx(stats.ttest_rel(other, base).pvalue, rel=1e-6)
    assert stats.ttest_ind(other, base).pvalue > 0.5


def test_ratio_and_difference_leave_out_nothing_together():
    draw = np.random.default_rng(7)
    seen = set()
    for _ in range(300):
        base, other = draw.normal(20, 1, 4), draw.normal(20.8, 1, 4)
        found = paired.compare(list(other), list(base))
        shown = found.p < 0.05
        seen.add(shown)
        assert shown != holds(found.difference.interval, 0)
        assert shown != holds(found.relative.interval, 0)
    assert seen == {True, False}


def test_one_repeat_is_too_few():
    found = paired.compare([12.0], [10.0], "time")
    assert (found.difference.value, found.difference.interval, found.p) == (2.0, None, None)
    assert found.relative.value == pytest.approx(0.2)
    assert "too few" in found.difference.note
    assert "too few" in found.relative.note


def test_only_repeats_that_have_both_are_pairs():
    found = paired.compare([12.0, None, 16.0], [10.0, 11.0, None])
    assert (found.difference.value, found.difference.n) == (2.0, 1)
    nothing = paired.compare([None], [1.0])
    assert (nothing.difference.value, nothing.relative.value, nothing.p) == (None, None, None)


def test_there_is_no_ratio_to_zero():
    found = paired.compare([0.1, 0.2], [0.0, 0.0])
    assert (found.relative.value, found.relative.note) == (None, "no ratio to zero")
    unsure = paired.compare([1.0, 2.0, 3.0], [0.1, 5.0, -3.0])
    assert unsure.relative.interval is None


def test_agreement_closer_than_the_steps_of_the_values_proves_nothing():
    sharp = paired.compare([10.03, 10.03], [10.02, 10.02])
    assert sharp.p < 1e-6
    rounded = paired.compare([10.03, 10.03], [10.02, 10.02], steps=(0.01, 0.01))
    assert rounded.p > 0.05
    assert holds(rounded.difference.interval, 0)
    assert holds(rounded.relative.interval, 0)
    far = paired.compare([40.0] * 4, [10.0] * 4, steps=(0.04, 0.01))
    assert far.p < 1e-6
    assert paired.compare([5.0, 5.0], [5.0, 5.0]).p == 1.0


def test_holm():
    assert paired.holm([0.01, 0.04, 0.03, None]) == pytest.approx([0.03, 0.06, 0.06, None])
    assert paired.holm([0.5, 0.9]) == [1.0, 1.0]
    assert paired.holm([]) == []


def test_holm_keeps_the_chance_of_one_false_alarm():
    draw = np.random.default_rng(1979)
    alarms = 0
    for _ in range(1000):
        rows = draw.normal(0, 1, (6, 4))
        p = [paired.probability(list(row - rows[0])) for row in rows[1:]]
        alarms += min(paired.holm(p)) < 0.05
    assert alarms / 1000 < 0.065
