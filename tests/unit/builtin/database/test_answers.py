"""The first row of an answer against what was expected."""

from datetime import timedelta
from decimal import Decimal

import pytest

from pileup.builtin.database.answers import expectation, mismatch, numbers

COLUMNS = ("jobs", "state", "took")
ROW = (Decimal("40"), "done", None)


@pytest.mark.parametrize(
    ("expected", "told"),
    [
        ({"jobs": "40"}, None),
        ({"jobs": "= 40.0", "state": "done", "took": "NULL"}, None),
        ({"jobs": ">= 40"}, None),
        ({"jobs": "!= 39", "state": "!= failed"}, None),
        ({"jobs": "39"}, ("jobs is 40", "39")),
        ({"jobs": "< 40"}, ("jobs is 40", "< 40")),
        ({"state": "failed"}, ("state is done", "failed")),
        ({"number": "1"}, ("the answer has no column 'number'", "one of jobs, state, took")),
    ],
)
def test_columns_are_compared(expected: dict[str, str], told: tuple[str, str] | None) -> None:
    assert mismatch(COLUMNS, [ROW], {name: expectation(text) for name, text in expected.items()}) == told


def test_without_a_row_nothing_holds() -> None:
    assert mismatch(COLUMNS, [], {"jobs": expectation("0")}) == ("the answer has no row", "jobs 0")


def test_texts_have_no_order() -> None:
    with pytest.raises(ValueError, match=r"'> many' compares with no number"):
        expectation("> many")


def test_numbers_of_a_row() -> None:
    row = (Decimal("1.5"), "2", timedelta(seconds=3), True, None)
    assert list(numbers(("a", "b", "c", "d", "e"), row)) == [("a", 1.5), ("c", 3.0), ("d", 1.0)]
