"""Frozen types as data for JSON, by their fields: one that is a word of Python is written without its underscore."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any

from pileup.model.check import Check, Unreadable

SIMPLE = frozenset({str, int, float, bool, type(None)})
Key = tuple[str, str, object]
"""Name in JSON, name of the field, and the value with which it is left out; MISSING where it never is."""


def to_json(value: object) -> Any:
    """Return an object of a type as data for JSON."""
    kind: Any = type(value)
    if kind in SIMPLE:
        return value
    if kind in (tuple, list):
        return [to_json(each) for each in value]  # type: ignore[attr-defined]
    if kind in (Check, Unreadable):
        return value.text  # type: ignore[attr-defined]
    if is_dataclass(value):
        return _object_of(value)
    if isinstance(value, Mapping):
        return {str(name): to_json(each) for name, each in value.items()}
    return value.value if isinstance(value, Enum) else value


def _object_of(value: object) -> dict[str, object]:
    """Return the fields of an object but for those that are not said; run.json may have tens of thousands."""
    plain: dict[str, object] = {}
    kind: Any = type(value)
    for name, attribute, unsaid in _keys(kind):
        part = getattr(value, attribute)
        if unsaid is MISSING or part != unsaid:
            plain[name] = part if type(part) in SIMPLE else to_json(part)
    return plain


@cache
def _keys(kind: Any) -> tuple[Key, ...]:
    found: list[Key] = []
    for each in fields(kind):
        fallback = each.default if each.default_factory is MISSING else each.default_factory()
        found.append((each.name.rstrip("_"), each.name, fallback if each.metadata.get("later") else MISSING))
    return tuple(found)
