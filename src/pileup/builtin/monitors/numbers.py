"""Picks numbers out of text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
LINE = re.compile(
    r"^(?P<name>[A-Za-z_]\w*)(?:\[(?P<labels>[^\]]*)\])?\s*[ \t=:]\s*"
    r"(?P<value>[-+]?[\d.]\S*)(?:[ \t]+(?P<unit>\S+))?\s*$"
)


def _compile(patterns: dict[str, str]) -> dict[str, str]:
    for name, pattern in patterns.items():
        if not NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a name of a number; expected letters, digits and underscores")
        try:
            groups = re.compile(pattern).groups
        except re.error as problem:
            raise ValueError(
                f"{pattern!r} is not a regular expression: {problem}; expected one like '([0-9.]+) MB/s'"
            ) from None
        if groups != 1:
            raise ValueError(f"{pattern!r} has {groups} groups; expected exactly one, around the number")
    return patterns


Patterns = Annotated[dict[str, str], AfterValidator(_compile)]
"""Regular expressions by name of the number, checked: one group each."""


def to_number(text: str | None) -> float | None:
    """Return a finite number, or None when the text is none."""
    try:
        value = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def find_number(pattern: str, texts: Iterable[str]) -> float | None:
    """Return the first number that a pattern finds in the texts, `^` and `$` at every line; None when there is none."""
    for text in texts:
        for match in re.finditer(pattern, text, re.MULTILINE):
            value = to_number(match.group(1))
            if value is not None:
                return value
    return None
