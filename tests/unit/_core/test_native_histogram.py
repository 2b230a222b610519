"""The histogram against numpy: what 3 digits promise."""

import numpy as np
import pytest

from pileup._core._native import Histogram

LONGEST = 2 * 24 * 3600 * 10**9


def filled(values: np.ndarray) -> Histogram:
    histogram = Histogram()
    for value in values:
        histogram.record(int(value))
    return histogram


@pytest.fixture(scope="module")
def values() -> np.ndarray:
    return np.sort(np.random.default_rng(2004).lognormal(17, 1, 20_000).astype(np.int64))


@pytest.fixture(scope="module")
def histogram(values: np.ndarray) -> Histogram:
    return filled(values)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0])
def test_quantiles_are_numpys_to_three_digits(values: np.ndarray, histogram: Histogram, share: float) -> None:
    exact = int(np.quantile(values, share, method="inverted_cdf"))
    assert exact <= histogram.quantile(share) <= exact * 1.001
    assert histogram.quantile(share) <= histogram.max


def test_every_rank_is_the_sorted_value(values: np.ndarray, histogram: Histogram) -> None:
    for rank in range(1, len(values), 997):
        assert values[rank - 1] <= histogram.at_rank(rank) <= values[rank - 1] * 1.001


def test_shares_count_what_is_at_or_below(values: np.ndarray, histogram: Histogram) -> None:
    for value in np.linspace(values[0], values[-1], 50).astype(np.int64):
        low, high = np.mean(values <= value), np.mean(values <= value * 1.001)
        assert low <= histogram.share_at(int(value)) <= high
    assert histogram.share_at(-1) == 0.0


def test_count_mean_and_extremes(values: np.ndarray, histogram: Histogram) -> None:
    assert histogram.count == len(values)
    assert histogram.mean == pytest.approx(values.mean(), rel=1e-3)
    assert histogram.min <= values[0] <= histogram.min * 1.001
    assert values[-1] <= histogram.max <= values[-1] * 1.001


def test_bins_hold_every_value_once(values: np.ndarray, histogram: Histogram) -> None:
    lows, highs, counts = (np.array(column) for column in histogram.bins())
    assert (lows[1:] > highs[:-1]).all()
    assert (highs >= lows).all()
    found = np.searchsorted(values, highs, side="right") - np.searchsorted(values, lows, side="left")
    assert (found == counts).all()


def test_merging_parts_gives_the_whole(values: np.ndarray, histogram: Histogram) -> None:
    merged, added = Histogram(), Histogram()
    for part in np.array_split(values, 7):
        merged.merge(filled(part).encode())
        added.add(filled(part))
    merged.merge(b"")
    assert merged.encode() == added.encode() == histogram.encode()
    assert Histogram.decode(histogram.encode()).bins() == histogram.bins()


def test_adding_itself_doubles() -> None:
    histogram = filled(np.array([5, 5, 7]))
    histogram.add(histogram)
    assert histogram.bins() == ([5, 7], [5, 7], [4, 2])


def test_an_empty_one_is_zero() -> None:
    empty = Histogram()
    assert (empty.count, empty.min, empty.max, empty.mean) == (0, 0, 0, 0.0)
    assert (empty.quantile(0.5), empty.at_rank(1), empty.share_at(1)) == (0, 0, 0.0)
    assert empty.bins() == ([], [], [])


def test_bounds_saturate() -> None:
    histogram = Histogram()
    histogram.record(-5)
    histogram.record(2**62, count=3)
    assert histogram.count == 4
    assert histogram.at_rank(1) == 0
    assert LONGEST <= histogram.max <= LONGEST * 1.001


@pytest.mark.parametrize("data", [b"x", b"no histogram at all, but long enough for the header", bytes(60)])
def test_foreign_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"not a histogram: .*; expected HDR V2 .*\("):
        Histogram.decode(data)


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), 99])
def test_a_share_is_between_0_and_1(share: float) -> None:
    with pytest.raises(ValueError, match=r"expected 0 to 1"):
        Histogram().quantile(share)
