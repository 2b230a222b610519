"""Digests of answers: equal where the answers are, whoever gave them."""

from datetime import datetime
from decimal import Decimal

import pytest

from pileup.model.answers import BITS, MOST_ROWS, answer_of, digest_of, first_difference

ROWS = [(1, "a", None), (2, "b", 0.5)]


@pytest.mark.parametrize(
    "same",
    [
        [(2, "b", 0.5), (1, "a", None)],
        [[1.0, "a", None], [Decimal("2.00"), "b", Decimal("0.50")]],
        [(True, "a", None), (2, "b", 0.1 + 0.4 + 1e-15)],
    ],
)
def test_order_and_types_do_not_matter(same: list[object]) -> None:
    assert digest_of(ROWS) == digest_of(same)


@pytest.mark.parametrize(
    "other",
    [
        [],
        ROWS[:1],
        [*ROWS, ROWS[0]],
        [(1, "a", None), (2, "b", "0.5")],
        [(1, "a", "null"), (2, "b", 0.5)],
        [(1, "a"), (None, 2), ("b", 0.5)],
        [(1, "a,b", None), (2, "", 0.5)],
        [(1, b"a", None), (2, "b", 0.5)],
    ],
)
def test_what_differs_has_another_digest(other: list[object]) -> None:
    assert digest_of(ROWS) != digest_of(other)


def test_twice_the_same_row_does_not_cancel() -> None:
    assert digest_of([(1,), (1,)]) != digest_of([(2,), (2,)])
    assert digest_of([(1,), (1,)]) != digest_of([])


def test_order_matters_where_it_is_asked_for() -> None:
    assert digest_of(ROWS, ordered=True) != digest_of(ROWS[::-1], ordered=True)
    assert digest_of(ROWS, ordered=True) == digest_of(iter(ROWS), ordered=True)


def test_it_travels_as_a_float() -> None:
    for rows in (ROWS, [datetime(2026, 1, 2)], [{"b": 1, "a": [2]}], [float("nan"), float("inf")], ["\udc80"]):
        found = digest_of(rows)
        assert 0 <= found < 1 << BITS
        assert int(float(found)) == found


def test_mappings_have_no_order() -> None:
    assert digest_of([{"a": 1, "b": 2}]) == digest_of([{"b": 2, "a": 1}])


@pytest.mark.parametrize(
    ("left", "right", "found"),
    [
        ([("b", 2), ("a", 1)], [("a", 1.0), ("b", 2)], None),
        ([("b", 2), ("a", 1)], [("a", 1), ("b", 3)], (2, '["b", 2]', "")),
        ([("a", 1)], [("a", 1), ("b", 3)], (2, "", '["b", 3]')),
        ([("a", 1), ("a", 1)], [("a", 1)], (2, '["a", 1]', "")),
        ([], [{"z": b"\x01", "n": None}], (1, "", '{"n": None, "z": 0x01}')),
        (["\ud800"], ["x"], (1, "", '"x"')),
    ],
)
def test_the_first_row_that_differs_is_found_in_any_order(
    left: list[object], right: list[object], found: tuple[int, str, str] | None
) -> None:
    assert first_difference(answer_of(left).to_json(), answer_of(right).to_json()) == found


def test_rows_in_order_differ_where_they_are() -> None:
    left, right = (answer_of(rows, ordered=True).to_json() for rows in ([1, 2, 3], [1, 3, 2]))
    assert first_difference(left, right) == (2, "2", "3")


@pytest.mark.parametrize("rows", [range(MOST_ROWS + 1), ["x" * (1 << 20)]])
def test_large_answers_are_not_kept(rows: list[object]) -> None:
    found = answer_of(rows)
    assert found.rows is None
    assert found.digest == digest_of(rows)
    assert first_difference(found.to_json(), answer_of([]).to_json()) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"ordered": false}', '{"ordered": false, "rows": [1]}'])
def test_a_file_that_is_no_answer_has_no_rows(text: str) -> None:
    assert first_difference(text, answer_of([1]).to_json()) is None
