"""Answers of tests as short digests, so that answers from different places can be compared, and their rows as text."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import blake2b
from itertools import zip_longest

ANSWER = "answer_digest"
"""Name of the sample of a test that has the digest of an answer."""
BITS = 48
"""Of a digest: it travels as a float, which holds 53. Two different answers have the same digest once in 3e14."""
MOST_TOLD = 100
"""Most different answers that one client reports: more than one is too many already."""


MOST_ROWS, MOST_TEXT = 10_000, 1 << 20
"""Rows, and characters of all rows, of an answer that is kept as text."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that a test has had."""

    digest: int
    """0 to 2**48 - 1."""
    ordered: bool
    """Whether the order of its rows matters."""
    rows: tuple[str, ...] | None
    """Its rows as text, sorted unless `ordered`; None of one that is too large to be kept."""

    def to_json(self) -> str:
        """Return the content of its file."""
        return json.dumps({"ordered": self.ordered, "rows": self.rows}, indent=0)


def answer_of(rows: Iterable[object], ordered: bool = False) -> Answer:
    """Return an answer, of rows in any order unless `ordered`.

    Equal numbers of different types are equal. Numbers with a fraction are compared to 12 digits, since sums in another
    order differ in the last ones.
    """
    count, total, room = 0, 0, MOST_TEXT
    kept: list[str] | None = []
    for row in rows:
        found = _hash(_text(row))
        total = _hash(f"{total} {found}") if ordered else (total + found) % (1 << BITS)
        count += 1
        if kept is not None:
            kept.append(_readable(row))
            room -= len(kept[-1])
            if count > MOST_ROWS or room < 0:
                kept = None
    whole = None if kept is None else tuple(kept if ordered else sorted(kept))
    return Answer(_hash(f"{count} {total}"), ordered, whole)


def digest_of(rows: Iterable[object], ordered: bool = False) -> int:
    """Return the digest of an answer, 0 to 2**48 - 1."""
    return answer_of(rows, ordered).digest


def shown(digest: int) -> str:
    """Return a digest as people see it: 12 hexadecimal digits."""
    return f"{digest:0{BITS // 4}x}"


def file_of(digest: int) -> str:
    """Return the name of the file of an answer among the artefacts of its case."""
    return f"answer-{shown(digest)}.json"


def first_difference(left: str, right: str) -> tuple[int, str, str] | None:
    """Return the first row in which two answers differ, from 1, and what each has there; "" where one has no such row.

    `left` and `right` are contents of their files. Of rows in any order one side is empty: that one lacks the row. None
    where they are not known, or where they are equal.
    """
    both = [_rows_of(each) for each in (left, right)]
    if None in both:
        return None
    (ordered, mine), (_, others) = (each or (False, ()) for each in both)
    for place, (one, other) in enumerate(zip_longest(mine, others), 1):
        if one == other:
            continue
        if ordered or one is None or other is None:
            return place, one or "", other or ""
        return (place, one, "") if one < other else (place, "", other)  # sorted: the smaller one is missing there
    return None


def _rows_of(text: str) -> tuple[bool, Sequence[str]] | None:
    try:
        read = json.loads(text)
        ordered, rows = read["ordered"], read["rows"]
    except (ValueError, LookupError, TypeError):
        return None
    return (bool(ordered), rows) if isinstance(rows, list) and all(isinstance(row, str) for row in rows) else None


def _readable(value: object) -> str:
    """Return a value for people: equal values look equal, as far as their digests are."""
    match value:
        case str():
            return json.dumps(value, ensure_ascii=False)
        case bytes() | bytearray() | memoryview():
            return f"0x{bytes(value).hex()}"
        case int() | float() | Decimal():
            return _number(value)
        case Mapping():
            return "{" + ", ".join(sorted(f"{_readable(key)}: {_readable(part)}" for key, part in value.items())) + "}"
        case Iterable():
            return "[" + ", ".join(map(_readable, value)) + "]"
    return str(value)


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=BITS // 8).digest())


def _text(value: object) -> str:
    """Return a unique form of a value, lengths included."""
    match value:
        case str():
            found = f"t{len(value)}:{value}"
        case bytes() | bytearray() | memoryview():
            found = f"b{bytes(value).hex()}"
        case int() | float() | Decimal():
            found = f"n{_number(value)}"
        case Mapping():
            found = "{" + ",".join(sorted(f"{_text(key)}={_text(part)}" for key, part in value.items())) + "}"
        case Iterable():
            found = "[" + ",".join(map(_text, value)) + "]"
        case _:
            found = f"o{value}"
    return found


def _number(value: float | Decimal) -> str:
    if not math.isfinite(value):
        return str(float(value))
    return str(int(value)) if value == int(value) else f"{float(value):.12g}"
