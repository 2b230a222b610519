"""Intervals against exact figures of scipy and of tables."""

import math

import pytest
from scipy import stats as exact

from pileup.stats.intervals.confidence import TAIL, batch_means, fewest, poisson, quantile_ranks, student, wilson


@pytest.mark.parametrize(("count", "n"), [(0, 10), (1, 10), (5, 10), (10, 10), (3, 1000), (999, 1000)])
def test_wilson(count, n):
    reference = exact.binomtest(count, n).proportion_ci(0.95, "wilson")
    found = wilson(count, n)
    assert (found.low, found.high) == pytest.approx((reference.low, reference.high), abs=1e-9)


def test_nothing_has_no_interval():
    assert wilson(0, 0) is None
    assert batch_means([1.0] * 9) is None


@pytest.mark.parametrize("count", [0, 1, 2, 5, 30, 1000])
def test_poisson(count):
    low = exact.chi2.ppf(TAIL, 2 * count) / 2 if count else 0
    high = exact.chi2.ppf(1 - TAIL, 2 * count + 2) / 2
    found = poisson(count)
    assert found.low == pytest.approx(low, rel=0.03, abs=0.05)
    assert found.high == pytest.approx(high, rel=0.01)


@pytest.mark.parametrize("freedom", [9, 12, 19, 29])
def test_student(freedom):
    assert student(freedom) == pytest.approx(exact.t.ppf(1 - TAIL, freedom), abs=1e-4)


@pytest.mark.parametrize("share", [0.01, 0.5, 0.9, 0.99, 0.9999])
@pytest.mark.parametrize("n", [6, 59, 1000, 54_321, 10_000_000])
def test_ranks_cover_as_the_binomial_law_says(share, n):
    ranks = quantile_ranks(share, n)
    law = exact.binom(n, share)
    if ranks is None:
        assert share**n > TAIL or (1 - share) ** n > TAIL
        return
    low, high = ranks
    assert 1 <= low < high <= n
    assert law.cdf(low - 1) <= TAIL < law.cdf(low)
    assert law.cdf(high - 2) < 1 - TAIL <= law.cdf(high - 1)


@pytest.mark.parametrize(("share", "fewest"), [(0.5, 6), (0.9, 36), (0.99, 368), (0.999, 3688), (0.9999, 36_887)])
def test_a_quantile_needs_so_many_values(share, fewest):
    assert quantile_ranks(share, fewest - 1) is None
    assert quantile_ranks(share, fewest)[1] == fewest
    assert fewest == math.ceil(math.log(TAIL) / math.log(share))


@pytest.mark.parametrize("share", [0.001, 0.07, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999])
def test_from_the_fewest_values_on_there_always_are_ranks(share):
    least = fewest(share)
    assert [n for n in range(max(1, least - 300), least) if quantile_ranks(share, n) is not None] == []
    assert [n for n in range(least, least + 300) if quantile_ranks(share, n) is None] == []


def test_batches_of_a_constant_have_no_width():
    found = batch_means([5.0] * 100)
    assert (found.low, found.high) == (5.0, 5.0)


def test_batches_are_whole_and_drop_the_oldest():
    found = batch_means([1000.0, *([1.0, 3.0] * 30)])
    assert (found.low + found.high) / 2 == pytest.approx(2.0)
