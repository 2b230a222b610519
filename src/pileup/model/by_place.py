"""Options that have a value for each place of the fleet: `{by_place: [/a, /b]}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BY_PLACE = "by_place"
"""The one word of such a value."""


def values_by_place(value: object) -> list[Any]:
    """Return the values of an option place by place; none for an option that is the same everywhere."""
    found = value.get(BY_PLACE) if isinstance(value, dict) and len(value) == 1 else None
    return list(found) if isinstance(found, (list, tuple)) else []


def at_place(options: Mapping[str, Any], place: int) -> dict[str, Any]:
    """Return options as a place has them, numbered from 1: after the last value of an option comes its first again."""
    found = {}
    for name, value in options.items():
        values = values_by_place(value)
        found[name] = values[(place - 1) % len(values)] if values else value
    return found
