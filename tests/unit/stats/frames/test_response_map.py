"""Response times by time: nothing is lost or made up on the grid."""

from itertools import pairwise

import pytest

from pileup.model.response_map import PER_DECADE
from pileup.stats.frames import response_map
from pileup.stats.frames.timeline import timeline

MS = 10**6


def test_each_second_has_all_that_passed_in_the_bins_of_their_times(row, frame):
    found = timeline([frame(1, row([2 * MS] * 4 + [900 * MS], failed=3)), frame(2, row([2 * MS] * 7))]).responses
    assert [sum(each) for each in found.counts] == [5, 7]
    assert found.not_passed == (3, 0)
    assert [end - begin for begin, end in zip(found.begins, found.ends, strict=True)] == [10**9, 10**9]
    bins = list(pairwise(found.edges))
    assert len(bins) == len(found.counts[0])
    for (low, high), number in zip(bins, found.counts[0], strict=True):
        expected = 4 if low <= 2 * MS < high else 1 if low <= 900 * MS < high else 0
        assert number == expected


def test_bins_are_of_one_width_in_every_case(row, frame):
    edges = timeline([frame(1, row([3 * MS, 70 * MS]))]).responses.edges
    assert all(high / low == pytest.approx(10 ** (1 / PER_DECADE)) for low, high in pairwise(edges))
    others = timeline([frame(1, row([1 * MS, 7000 * MS]))]).responses.edges
    assert set(edges) <= set(others)


def test_long_cases_have_longer_intervals_and_lose_nothing(row, frame, monkeypatch):
    monkeypatch.setattr(response_map, "MOST", 4)
    found = timeline([frame(second, row([second * MS])) for second in range(1, 11)]).responses
    assert len(found.begins) == 4
    assert [sum(each) for each in found.counts] == [3, 3, 3, 1]
    assert found.begins[1:] == found.ends[:-1]


def test_nothing_that_passed_makes_no_map(row, frame):
    assert timeline([frame(1, row(failed=5))]).responses is None
