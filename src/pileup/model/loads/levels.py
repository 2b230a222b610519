"""Levels of loads that are steered: their words, and the metrics under which they are recorded."""

from __future__ import annotations

from typing import Literal

from pileup.model import units
from pileup.model.units import format_count, format_fraction, format_rate

Steered = Literal["rate", "clients"]
HELD_VALUE, HELD_LEVEL, HELD = "held_value", "held_level", "held"
"""Metrics of samples under the name of the test: what was measured, the level from then on, 100 % or 0 % held."""
FOUND, FOUND_LOW, FOUND_HIGH = "found", "found_low", "found_high"
"""Metrics of samples under the name of the test: the answer and its interval."""


def levels_words(kind: Steered | str, between: tuple[float, float]) -> str:
    """Return a range of levels in words: `10-500 /s`, `1-40 clients`."""
    return units.format_range(*between, "rate") if kind == "rate" else f"{units.format_range(*between, '')} clients"


def asked_words(written: str, not_passed: float) -> str:
    """Return what must hold at a level: `p99(read) < 50 ms, at most 1 % not passed`."""
    return written if not_passed >= 1 else f"{written}, at most {format_fraction(not_passed)} not passed"


def level_words(level: float, by: Steered | str) -> str:
    """Return a level with its unit: `198 /s`, `12 clients`."""
    if by == "rate":
        return format_rate(level)
    return f"{format_count(level)} client{'' if level == 1 else 's'}"
