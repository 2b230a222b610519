"""Checks joined by `and`."""

from __future__ import annotations

import pytest

from pileup.model import conditions


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("p90(q) < 1 s", ["p90(q) < 1 s"]),
        ("p90(q) < 1 s and fraction(q.refused) < 1 %", ["p90(q) < 1 s", "fraction(q.refused) < 1 %"]),
        ("  p90(q)<1s  and\n  rate(q) >= 5 /s and mean(node.load1) < 8 ", [
            "p90(q)<1s", "rate(q) >= 5 /s", "mean(node.load1) < 8",
        ]),
        ("p90(and) < 1 s and max( and ) < 2 s", ["p90(and) < 1 s", "max( and ) < 2 s"]),
        ("last(node.free[disk=a and b]) > 3 and p90(q) < 1 s", ["last(node.free[disk=a and b]) > 3", "p90(q) < 1 s"]),
        ("last(node.free[disk=a) and (b]) > 3 and p90(q) < 1 s", [
            "last(node.free[disk=a) and (b]) > 3", "p90(q) < 1 s",
        ]),
    ],
)  # fmt: skip
def test_t2_conditions_are_read_one_by_one(text: str, parts: list[str]) -> None:
    assert [each.text for each in conditions.parse(text)] == parts


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("p90(q) < 1 s and p9x(q) < 2 s", "column 18: 'p9x' is not a function; expected"),
        ("p90(q) < 1 s and fraction(q.failed) < 1 q", "column 39: unknown unit 'q'"),
        ("p90(q) < 1 sec and p50(q) < 1 s", "column 10: unknown unit 'sec'; expected"),
        ("p90(q) < 1 s and", "column 17: the check ends too early"),
        ("and p90(q) < 1 s", "column 1: the check ends too early"),
        ("p90(q) < 1 s and and p50(q) < 1 s", "column 17: the check ends too early"),
        ("p90(q) < 1 s or p50(q) < 1 s", "column 10: '1 s or p50"),
        ("p90(q and r) < 1 s", "column 7: found 'a'"),
    ],
)
def test_t2_a_mistake_is_told_with_its_column_in_the_whole_text(text: str, said: str) -> None:
    with pytest.raises(ValueError, match="column") as told:
        conditions.parse(text)
    assert str(told.value).startswith(said)


def test_t2_the_figure_of_a_later_condition_is_its_left_side() -> None:
    _, second = conditions.parse("p90(q) < 1 s and fraction(q.refused) < 1 %")
    assert (second.figure, second.threshold, second.value) == ("fraction(q.refused)", "< 1 %", 0.01)
