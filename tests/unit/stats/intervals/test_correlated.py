"""Dependence of neighbours, against series whose dependence is known."""

import math

import numpy as np
import pytest

from pileup.stats.intervals import correlated
from pileup.stats.intervals.confidence import quantile_ranks
from pileup.stats.intervals.correlated import Blocks, Dependence, Inflation


def memory(share, n=20_000, seed=1):
    """A series in which each value keeps so much of the one before, of variance 1."""
    noise = np.random.default_rng(seed).normal(size=n)
    series = np.empty(n)
    series[0] = noise[0]
    for place in range(1, n):
        series[place] = share * series[place - 1] + math.sqrt(1 - share**2) * noise[place]
    return series


def blocks(values, below=(0.5, 0.9, 0.99), ended=None, timed=None):
    """One value per block."""
    ones = np.ones(len(values))
    limits = {share: np.sort(values)[math.ceil(share * len(values)) - 1] for share in below}
    under = {share: (values <= limit).astype(float) for share, limit in limits.items()}
    return Blocks(ones if ended is None else ended, ones, values, ones, ones, under, timed or len(values))


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9, -0.5])
def test_the_variance_of_a_sum_is_that_of_the_law(share):
    found = [correlated.spread(memory(share, seed=seed)).variance for seed in range(20)]
    assert np.mean(found) == pytest.approx(20_000 * (1 + share) / (1 - share), rel=0.1)


def test_longer_memory_means_less_freedom():
    free, bound = correlated.spread(memory(0.0)), correlated.spread(memory(0.95))
    assert free.window < bound.window
    assert free.freedom > 5 * bound.freedom
    assert free.factor < bound.factor


def test_what_never_changes_has_no_spread():
    assert correlated.spread(np.zeros(100)).variance == 0
    assert correlated.spread(np.ones(1)).variance == 0
    assert correlated.dependence(blocks(np.ones(1))) is None
    found = correlated.dependence(blocks(np.full(50, 7.0)))
    assert found.mean == (0, 0)
    assert found.factor(0.99) == Inflation()


def test_independent_values_need_no_factor_and_dependent_ones_do():
    rng = np.random.default_rng(2)
    free = correlated.dependence(blocks(rng.exponential(size=20_000)))
    assert all(1 <= each.factor == each.careful < 1.5 for each in free.factors.values())
    bound = correlated.dependence(blocks(np.exp(memory(0.9))))
    assert 8 < bound.factor(0.5).factor < 20
    assert bound.factor(0.5).factor <= bound.factor(0.9).factor <= bound.factor(0.99).factor
    assert 3 * bound.factor(0.5).factor < bound.factor(0.99).careful < 5 * bound.factor(0.5).factor
    assert bound.factor(0.7) == bound.factor(0.9)
    assert bound.factor(0.9999) == bound.factor(0.99)
    assert bound.error > 2.5 * free.error


def test_a_skewed_mean_has_a_skewed_interval():
    low, high = correlated.dependence(blocks(np.random.default_rng(3).exponential(size=300) ** 2)).mean
    assert 0 < -low < high
    interval = correlated.mean_interval(0.5, Dependence(mean=(-0.7, 0.9)))
    assert (interval.low, interval.high) == (0.0, 1.4)


def test_failures_in_bursts_tell_less_than_single_ones():
    ended = np.full(2000, 10.0)
    single, burst = ended.copy(), ended.copy()
    single[::40] -= 10
    burst[1000:1050] -= 10
    made = [Blocks(ended, passed, passed, passed, passed, {}, 2000) for passed in (single, burst)]
    found = [correlated.dependence(each).not_passed for each in made]
    assert found[0].factor < 15
    assert found[1].factor > 100
    assert found[1].shown


def test_a_steady_count_is_known_to_its_edges():
    found = correlated.dependence(blocks(np.arange(1000.0)))
    assert 0 < found.count < 1.5
    poisson = np.random.default_rng(4).poisson(5, 1000).astype(float)
    loose = correlated.dependence(Blocks(poisson, poisson, poisson, poisson, poisson * 7, {}, 1000))
    assert loose.moved == pytest.approx(7 * loose.count, rel=1e-9)
    assert loose.count == pytest.approx(1.96 * math.sqrt(5000), rel=0.2)


@pytest.mark.parametrize(("share", "n"), [(0.5, 30), (0.9, 100), (0.99, 1000), (0.5, 6), (0.99, 368)])
def test_without_dependence_ranks_are_the_exact_ones(share, n):
    low, high = correlated.ranks(share, n)
    exact = quantile_ranks(share, n)
    assert (low, high) == exact


@pytest.mark.parametrize(("share", "n"), [(0.5, 5), (0.99, 367), (0.999, 3000)])
def test_too_few_have_no_ranks(share, n):
    assert correlated.ranks(share, n) is None
    assert correlated.ranks(share, n * 10, Inflation(10.0, 10.0)) is None
    # what may be decides, so that a run with luck is reported no more than others
    assert correlated.ranks(share, n * 20, Inflation(10.0, 30.0)) is None


def test_dependence_widens_ranks_as_fewer_values_would():
    low, high = correlated.ranks(0.5, 100_000, Inflation(10.0, 10.0))
    assert (high - low) / 100_000 == pytest.approx(2 * 1.96 * 0.5 / math.sqrt(10_000), rel=0.02)
    assert low < 50_000 < high
    for n in (3690, 4000, 123_457):
        low, high = correlated.ranks(0.99, n, Inflation(9.7, 9.7))
        assert 1 <= low < 0.99 * n < high <= n


def test_close_to_the_edge_values_are_taken_to_tell_less_than_they_seem_to():
    def width(n, careful):
        low, high = correlated.ranks(0.5, n, Inflation(10.0, careful))
        return (high - low) / n

    assert width(180, 30.0) / width(180, 10.0) > 1.3
    assert width(100_000, 30.0) / width(100_000, 10.0) < 1.01
    low, high = correlated.ranks(0.99, 12_000, Inflation(30.0, 32.0))
    assert low < correlated.ranks(0.99, 12_000, Inflation(30.0, 30.0))[0] < 0.99 * 12_000 < high <= 12_000


@pytest.mark.parametrize(("n", "most"), [(30, 5.0), (60, 3.0), (200, 2.2)])
def test_t16_few_values_have_an_interval_that_is_not_twelve_standard_errors(n, most):
    rng = np.random.default_rng(6)
    limits = [correlated.dependence(blocks(rng.normal(10, 1, n))).mean for _ in range(200)]
    assert 1.8 < np.median([(high - low) / 2 for low, high in limits]) * math.sqrt(n) < most


def test_t16_amounts_have_intervals_above_zero_that_hold_them():
    for value in (1e-3, 1.4, 1e9):
        for share in (1e-9, 0.01, 0.3, 1.0, 2.5, 13.0, 1e6):
            found = correlated.amount_interval(value, share * value)
            assert 0 < found.low < value < found.high < 5 * value
    near = correlated.amount_interval(1000.0, 10.0)
    assert (near.low, near.high) == pytest.approx((990, 1010), abs=0.1)
    assert correlated.amount_interval(0.0, 3.0).high == 3.0


@pytest.mark.parametrize("count", [10, 40, 1000])
def test_an_amount_with_the_variance_of_a_count_has_the_interval_of_a_count(count):
    from scipy import stats

    found = correlated.amount_interval(count, 1.959964 * math.sqrt(count))
    law = stats.gamma(count + 0.5)  # half an event more: between the two limits of Garwood
    assert (found.low, found.high) == pytest.approx((law.ppf(0.025), law.ppf(0.975)), rel=0.01)


def paused(seed, clients=2, pause=0.002, seconds=3.0, blocks=4096):
    """Ends of clients that pause for a fixed time, by block; the system is slower or quicker for tenths of a second."""
    rng = np.random.default_rng(seed)
    level = np.exp(0.25 * memory(0.9, n=400, seed=seed))  # one each 25 ms, in memory for ten of them
    ends = []
    for client in range(clients):
        at = 4.0 + pause * client / clients
        while at < 4.0 + seconds + 1:
            at += pause + 0.0005 * level[int(at / 0.025)] * rng.uniform(0.9, 1.1)
            ends.append(at)
    return np.histogram(ends, bins=blocks, range=(5.0, 5.0 + seconds))[0].astype(float)


def test_clients_that_pause_for_a_fixed_time_do_not_make_their_rate_look_exact():
    """Blocks shorter than a pause avoid each other: all that was left of the interval was how counts are rounded."""
    counts = [paused(seed) for seed in range(60)]
    truth = float(np.mean([count.sum() for count in counts]))
    halves = [correlated.dependence(amounts(count)).count for count in counts]
    held = [abs(count.sum() - truth) <= half for count, half in zip(counts, halves, strict=True)]
    assert np.mean(held) >= 0.8
    assert np.median(halves) < 0.1 * truth


def test_a_steady_rate_is_known_as_exactly_as_its_edges():
    steady = np.histogram(np.arange(0, 3, 1 / 700), bins=4096, range=(0.0, 3.0))[0].astype(float)
    assert correlated.dependence(amounts(steady)).count < 1


def amounts(counted):
    """Blocks of which only the number of ends matters."""
    return Blocks(counted, counted, counted, counted, counted, {}, len(counted))
