"""Operations by label against time: what the values of a label add up to, second by second."""

from dataclasses import replace

import pytest

from pileup.stats.frames import label_lines
from pileup.stats.frames.label_lines import with_lines
from pileup.stats.frames.labels import breakdowns

MS = 10**6
ITERATION = ("iteration", True)


def lines(frames, places=None):
    """Return label -> value -> its line."""
    found = breakdowns(frames, places or {}, 10.0)[ITERATION]
    return {
        by.label: {value.value: value.line for value in by.values}
        for by in with_lines(ITERATION, found, frames, places or {})
    }


def test_each_place_has_its_own_seconds(row, frame):
    frames = [
        frame(second, row([(2 + place) * MS] * 8 * (place + 1)), place=place)
        for second in (1, 2, 3)
        for place in (0, 1)
    ]
    found = lines(frames, {0: ("one",), 1: ("two",)})["place"]
    assert found["one"].passed == (8, 8, 8)
    assert found["two"].passed == (16, 16, 16)
    assert found["two"].p50[0] == pytest.approx(3 * MS, rel=0.01)
    assert [b - a for a, b in zip(found["one"].begins, found["one"].ends, strict=True)] == [10**9] * 3


def test_values_of_a_label_share_a_second_and_lose_nothing(row, frame, monkeypatch):

    monkeypatch.setattr(label_lines, "INTERVALS", 2)
    kinds = {"kind=a": 6, "kind=b": 12}
    frames = [
        frame(second, *(replace(row([MS] * n, failed=1), labels=label) for label, n in kinds.items()))
        for second in (1, 2, 3, 4)
    ]
    found = lines(frames)["kind"]
    assert [len(found[kind].ends) for kind in "ab"] == [2, 2]
    assert found["a"].passed == (6, 6)
    assert found["b"].passed == (12, 12)


def test_a_second_in_which_half_did_not_pass_has_no_median(row, frame):
    frames = [frame(s, row([MS] * 10, failed=30 * place), place=place) for s in (1, 2) for place in (0, 1)]
    found = lines(frames)["place"]
    assert found["0"].p50[0] is not None
    assert found["1"].p50 == (None, None)
