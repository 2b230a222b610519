"""Figures by label, and values that stand out."""

from dataclasses import replace

import pytest

from pileup.model.figure_words import apart_words
from pileup.stats.frames.labels import Moments, apart, breakdowns, chosen

PLACES = {0: ("n1", "host1", "0"), 1: ("n2", "host2", "1")}


def test_rows_are_added_up_by_each_value_of_each_label(row, frame):
    read = [
        replace(row([1000, 3000], "read", False), labels="disk=a"),
        replace(row([10_000], "read", False, failed=1), labels="disk=b,kind=x"),
        row([5000], "copy", True),
    ]
    found = breakdowns([frame(1, *read), frame(2, *read, place=1)], PLACES, seconds=2.0)
    by = {each.label: {value.value: value for value in each.values} for each in found["read", False]}
    assert set(by) == {"place", "disk", "kind"}
    assert [by["disk"]["a"].counts.passed, by["disk"]["b"].counts.passed, by["disk"]["b"].counts.failed] == [4, 2, 2]
    assert by["disk"]["a"].mean.value == pytest.approx(2000, rel=1e-3)
    assert by["disk"]["a"].deviation == pytest.approx((4 * 1000**2 / 3) ** 0.5, rel=1e-2)
    assert by["disk"]["a"].rate.value == 2
    assert [by["place"][name].counts.passed for name in ("n1", "n2")] == [3, 3]
    assert set(by["kind"]) == {"x", "(none)"}
    assert [each.label for each in found["copy", True]] == ["place"]


def test_what_each_value_took_is_counted_on_one_grid(row, frame):
    read = [
        replace(row([1000, 1010, 3000], "read", False), labels="disk=a"),
        replace(row([90_000], "read", False), labels="disk=b"),
        replace(row([], "read", False, failed=1), labels="disk=c"),
    ]
    (by,) = breakdowns([frame(1, *read)], PLACES, seconds=2.0)["read", False]
    assert by.edges[0] <= 1000
    assert by.edges[-1] >= 90_000
    found = {value.value: value.bins for value in by.values}
    assert found["c"] == ()
    assert (sum(found["a"]), sum(found["b"])) == (3, 1)
    assert len(found["a"]) == len(found["b"]) == len(by.edges) - 1
    place = next(place for place, edge in enumerate(by.edges) if edge > 2900) - 1
    assert sum(found["a"][:place]) == 2, "what took about a microsecond is below what took three"
    assert found["b"][-1] == 1


def test_one_place_and_no_labels_are_not_broken_down(row, frame):
    assert breakdowns([frame(1, row([1000]))], PLACES, 1.0) == {}


def test_rows_are_chosen_by_place_target_and_label(row, frame):
    frames = [
        frame(1, replace(row([1000], "read", False), labels="disk=a,kind=x"), row([7]), missed=3),
        frame(1, replace(row([9000], "read", False), labels="disk=b"), place=1),
    ]
    assert [each.place for each in chosen(frames, (("place", "n2"),), PLACES)] == [1]
    assert [each.place for each in chosen(frames, (("place", "host1"),), PLACES)] == [0]
    (first, second) = chosen(frames, (("disk", "a"), ("target", "se")), PLACES, "se")
    assert ([row.labels for row in first.rows], first.missed, second.rows) == (["disk=a,kind=x"], 0, ())
    assert chosen(frames, (("target", "other"),), PLACES, "se") == []


def moments(*means: float, n: int = 1000, deviation: float = 100.0) -> dict[str, Moments]:
    return {f"n{number}": Moments(n, mean, deviation**2) for number, mean in enumerate(means)}


def test_the_one_that_is_slow_stands_apart_and_does_not_make_the_others_fast():
    found = apart(moments(1000, 1010, 2000))
    assert set(found) == {"n2"}
    assert found["n2"].value == pytest.approx(0.99, abs=0.01)
    assert apart_words(found["n2"]) == "99 % slower (98.2-99.8 %)"


def test_of_two_the_slower_stands_apart():
    assert set(apart(moments(1000, 2000))) == {"n1"}


def test_a_fast_one_among_many_stands_apart():
    found = apart(moments(1000, 1000, 1000, 500))
    assert (set(found), apart_words(found["n3"]).split(" (")[0]) == ({"n3"}, "50 % faster")


def test_noise_small_differences_and_few_values_do_not_stand_apart():
    assert apart(moments(1000, 1050)) == {}, "shown, and too small to matter"
    assert apart(moments(1000, 1300, n=40, deviation=1000.0)) == {}, "large, and not shown"
    assert apart(moments(1000, 1300), inflation=10_000.0) == {}, "values that depend on each other tell less"
    assert apart(moments(1000, 9000, n=5)) == {}
