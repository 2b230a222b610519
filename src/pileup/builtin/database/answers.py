"""The first row of an answer: held against what was expected, and the numbers in it."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from pileup.builtin.monitors.numbers import to_number

_SIGN = re.compile(r"<=|>=|!=|<|>|=|")
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "!=": operator.ne,
    "=": operator.eq,
}


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a column must be: compared as a number where both are numbers, else as text."""

    sign: str
    wanted: str

    def holds(self, value: Any) -> bool:
        """Whether a value fulfils it."""
        left, right = _number(value), to_number(self.wanted)
        if left is not None and right is not None:
            return _COMPARE[self.sign](left, right)
        return _COMPARE[self.sign](text_of(value), self.wanted)

    def __str__(self) -> str:
        return self.wanted if self.sign == "=" else f"{self.sign} {self.wanted}"


def expectation(text: str) -> Expectation:
    """Return what a text like `0` or `>= 100` expects. Raises ValueError for an order among texts."""
    found = _SIGN.match(text.strip())
    sign = found[0] if found else ""
    wanted, sign = text.strip().removeprefix(sign).strip(), sign or "="
    if sign not in ("=", "!=") and to_number(wanted) is None:
        raise ValueError(f"{text!r} compares with no number; expected one like '>= 100'")
    return Expectation(sign, wanted)


def mismatch(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], expected: Mapping[str, Expectation]
) -> tuple[str, str] | None:
    """Return (what there was, what was expected) for the first column of the first row that is otherwise."""
    for column, wanted in expected.items():
        if column not in columns:
            return f"the answer has no column {column!r}", f"one of {', '.join(columns) or 'none'}"
        if not rows:
            return "the answer has no row", f"{column} {wanted}"
        value = rows[0][columns.index(column)]
        if not wanted.holds(value):
            return f"{column} is {text_of(value)[:100]}", str(wanted)
    return None


def numbers(columns: Sequence[str], row: Sequence[Any]) -> Iterator[tuple[str, float]]:
    """Yield the columns of a row that hold numbers; durations are in seconds."""
    for column, value in zip(columns, row, strict=True):
        number = _number(value)
        if number is not None:
            yield column, number


def text_of(value: Any) -> str:
    """Return a value as people write it."""
    if value is None:
        return "NULL"
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _number(value: Any) -> float | None:
    if isinstance(value, timedelta):
        return value.total_seconds()
    return float(value) if isinstance(value, (bool, int, float, Decimal)) else None
