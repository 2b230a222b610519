"""Intervals cover the truth as often as they say: fast simulations with fixed seeds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pileup.model.check import parse, resolve
from pileup.stats.intervals.confidence import batch_means, poisson, quantile_ranks, wilson

TRIES = 2000


def covered(intervals, truth):
    return float(np.mean([each.low <= truth <= each.high for each in intervals]))


@pytest.mark.parametrize(("n", "share"), [(50, 0.05), (400, 0.01), (100, 0.5)])
def test_wilson_covers(n, share):
    counts = np.random.default_rng(1).binomial(n, share, TRIES)
    assert covered([wilson(int(count), n) for count in counts], share) > 0.92


@pytest.mark.parametrize("mean", [1.0, 7.0, 40.0])
def test_poisson_covers(mean):
    counts = np.random.default_rng(2).poisson(mean, TRIES)
    assert covered([poisson(int(count)) for count in counts], mean) > 0.94


@pytest.mark.parametrize("memory", [0.0, 0.6])
def test_batches_cover_although_neighbours_depend_on_each_other(memory):
    noise = np.random.default_rng(3).normal(size=(TRIES // 2, 250))
    series = np.zeros_like(noise)
    for place in range(1, 250):
        series[:, place] = memory * series[:, place - 1] + noise[:, place]
    rate = covered([batch_means((100 + row[50:]).tolist()) for row in series], 100)
    assert 0.90 < rate < 0.98
    naive = np.abs(series[:, 50:].mean(1)) <= 1.96 * series[:, 50:].std(1) / np.sqrt(200)
    assert memory == 0.0 or naive.mean() < 0.8


@pytest.mark.parametrize(("share", "n"), [(0.5, 30), (0.9, 100), (0.99, 1000)])
def test_ranks_cover_a_quantile(share, n):
    values = np.sort(np.random.default_rng(4).exponential(size=(TRIES, n)), axis=1)
    low, high = quantile_ranks(share, n)
    truth = -np.log(1 - share)
    inside = (values[:, low - 1] <= truth) & (truth < values[:, high - 1])
    assert 0.945 < inside.mean() < 0.99


@given(st.floats(0.001, 0.9999), st.integers(0, 10**9))
def test_ranks_exist_or_are_none(share, n):
    ranks = quantile_ranks(share, n)
    assert ranks is None or 1 <= ranks[0] < ranks[1] <= n


@given(st.integers(0, 10**6), st.integers(1, 10**6))
def test_a_fraction_lies_in_its_interval(count, n):
    count = min(count, n)
    found = wilson(count, n)
    assert 0 <= found.low <= count / n <= found.high <= 1


WORDS = st.sampled_from(
    [
        "rate",
        "p99",
        "p99.9",
        "(",
        ")",
        "copy",
        ".",
        "bytes",
        "[",
        "]",
        "=",
        ",",
        "<",
        ">=",
        "!=",
        "1",
        "1e3",
        "MB/s",
        "%",
        " ",
        "é",
    ]
)


@given(st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=14).map("".join)))
def test_a_check_is_read_or_refused(text):
    try:
        check = parse(text)
        resolve(check, {"copy"}, {"node"})
    except ValueError as problem:
        assert "; expected " in str(problem)
    else:
        assert check.path[0] == "copy"
