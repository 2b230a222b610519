"""Distributions out of histograms."""

import math

import numpy as np
import pytest

from pileup._core._native import Histogram
from pileup.model.figure_words import words
from pileup.model.figures import Interval
from pileup.stats.frames.distribution import DueDurations, distribution, mean, merged, quantile, quantiles_of
from pileup.stats.intervals.correlated import Inflation


def histogram(values):
    made = Histogram()
    for value in values:
        made.record(int(value))
    return made


@pytest.fixture(scope="module")
def values():
    return np.sort(np.random.default_rng(7).lognormal(np.log(20e6), 0.5, 5000).astype(int))


def test_quantiles_are_those_of_the_values_to_three_digits(values):
    made = distribution(histogram(values))
    for share in (0.5, 0.9, 0.99, 0.999):
        figure = made.quantiles[share]
        assert figure.value == pytest.approx(np.quantile(values, share, method="inverted_cdf"), rel=2e-3)
        assert figure.interval.low <= figure.value <= figure.interval.high
        assert figure.n == 5000
    assert (made.quantiles[0.9999].value, made.quantiles[0.9999].note) == (None, "too few")
    assert made.n == 5000
    assert made.mean == pytest.approx(values.mean(), rel=1e-3)


def test_no_quantile_is_above_the_maximum():
    made = histogram([1_000_000] * 400 + [1_234_567])
    figure = quantile(DueDurations(made), 0.99)
    assert figure.value <= made.max
    assert figure.interval.high <= made.max


def test_drawings_hold_every_value(values):
    made = distribution(histogram(values))
    assert sum(made.counts) == 5000
    assert len(made.edges) == len(made.counts) + 1 <= 61
    assert all(low < high for low, high in zip(made.edges, made.edges[1:], strict=False))
    assert made.edges[0] <= values[0] * 1.001
    assert made.edges[-1] >= values[-1] * 0.999
    shares = [share for _, share in made.ecdf]
    assert len(made.ecdf) <= 300
    assert shares == sorted(shares)
    assert made.ecdf[-1] == (made.largest, 1.0)
    assert list(made.box) == sorted(made.box)


def test_one_value_is_drawn():
    made = distribution(histogram([5_000_000]))
    assert made.counts == (1,)
    assert made.quantiles[0.5].note == "too few"
    assert made.box[0] == made.box[4] == made.largest
    assert mean(histogram([5_000_000])).interval is None


def test_an_empty_one_is_none():
    assert distribution(Histogram()) is None
    assert mean(Histogram()).value is None
    assert quantiles_of(b"", [0.5]) == [None]


def test_parts_merge_to_the_whole(values):
    parts = [histogram(values[place::3]).encode() for place in range(3)]
    assert merged([*parts, b""]).bins() == histogram(values).bins()


def test_the_mean_has_an_interval(values):
    found = mean(histogram(values))
    half = 1.96 * values.std(ddof=1) / np.sqrt(5000)
    assert found.interval.high - found.value == pytest.approx(half, rel=0.01)


def test_t05_what_did_not_pass_is_slower_than_any():
    due = DueDurations(histogram([1_000_000] * 290), timed_out=500, unanswered=210, timeout=1e9)
    times, bound, none = (quantile(due, share) for share in (0.25, 0.5, 0.9))
    assert times.value == pytest.approx(1_000_000, rel=0.002)
    assert times.interval.high == pytest.approx(1_000_000, rel=0.002), "rank 278 of 1000, of which 290 passed"
    assert (bound.value, bound.above, bound.note) == (None, 1e9, "71 % had no answer by then")
    assert (none.value, none.above, none.note) == (None, math.inf, "71 % had no answer")
    assert words(bound) == "> 1 s (71 % had no answer by then)"
    assert words(none) == "no answer (71 % had no answer)"


def test_t05_an_interval_that_reaches_what_had_no_answer_has_no_end():
    figure = quantile(DueDurations(histogram([1_000_000] * 910), unanswered=90), 0.9)
    assert figure.value == pytest.approx(1_000_000, rel=0.002)
    assert figure.interval.high == math.inf
    assert words(figure).endswith("to no answer)")


def test_nothing_that_passed_needs_no_number_to_be_no_answer():
    assert quantile(DueDurations(histogram([]), unanswered=2), 0.5).above == math.inf
    assert quantile(DueDurations(histogram([]), timed_out=2, timeout=6e10), 0.5).above == 6e10
    assert quantile(DueDurations(histogram([]), timed_out=2), 0.5).above == math.inf, "nobody knows the timeout"
    assert quantile(DueDurations(histogram([5, 6]), unanswered=2), 0.99).note == "too few"


@pytest.mark.parametrize(("share", "rank"), [(0.5, 5), (0.9, 9), (0.91, 10)])
def test_a_quantile_is_the_value_of_its_rank(share, rank):
    values = [n * 1000 for n in range(1, 11)] * 100
    assert quantile(DueDurations(histogram(values)), share).value == pytest.approx(rank * 1000, rel=0.002)


def test_where_surely_too_few_passed_a_quantile_surely_had_no_answer():
    """However the values depend on each other: 36 % of 1,157 were refused."""
    known = Inflation(5.0, 60.0)
    figure = quantile(DueDurations(histogram([1_000_000] * 737), unanswered=420), 0.9, known)
    assert (figure.above, figure.interval) == (math.inf, Interval(math.inf, math.inf))
    late = quantile(DueDurations(histogram([1_000_000] * 737), timed_out=420, timeout=1e9), 0.9, known)
    assert (late.above, late.interval.low) == (1e9, 1e9)
    near = quantile(DueDurations(histogram([1_000_000] * 89), unanswered=11), 0.9)
    assert near.above == math.inf
    assert near.interval.low == pytest.approx(1_000_000, rel=0.002), "ten of a hundred might have been enough"
