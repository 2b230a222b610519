"""Answers of tests as short digests, so that answers from different places can be compared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from hashlib import blake2b

ANSWER = "answer_digest"
"""Name of the sample of a test that has the digest of an answer."""
BITS = 48
"""Of a digest: it travels as a float, which holds 53. Two different answers have the same digest once in 3e14."""
MOST_TOLD = 100
"""Most different answers that one client reports: more than one is too many already."""


def digest_of(rows: Iterable[object], ordered: bool = False) -> int:
    """Return the digest of an answer, 0 to 2**48 - 1: of all its rows, in any order unless `ordered`.

    Equal numbers of different types are equal. Numbers with a fraction are compared to 12 digits, since sums in another
    order differ in the last ones.
    """
    count, total = 0, 0
    for row in rows:
        found = _hash(_text(row))
        total = _hash(f"{total} {found}") if ordered else (total + found) % (1 << BITS)
        count += 1
    return _hash(f"{count} {total}")


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
