"""Contrasts in words, for screens and pages."""

from __future__ import annotations

import math
from collections.abc import Callable

from pileup.model.contrast import ALIKE, BETTER, NO_ANSWER, TOO_FEW, WORSE, Contrast
from pileup.model.figure_words import amount
from pileup.model.figures import Figure
from pileup.model.units import format_fraction


def plain_words(figure: Figure) -> str:
    """Return a figure without its interval: `24.7 ms`, `> 1 s` where it is only known to be larger, `no answer`."""
    if figure.value is None and figure.above is not None:
        return NO_ANSWER if math.isinf(figure.above) else f"> {amount(figure.above, figure.dimension)}"
    if figure.value is None:
        return TOO_FEW
    return amount(figure.value, figure.dimension)


def change_words(found: Contrast) -> str:
    """Return the relative change with its interval, the absolute one where there is none: `-1.2 % (-3.0 to +0.5)`."""
    relative = found.relative
    if relative.value is not None and (relative.interval or not found.difference.interval):
        return _with_interval(relative, lambda value: f"{value * 100:+.1f}", " %")
    return _with_interval(found.difference, lambda value: _signed(value, found.difference.dimension), "")


def _with_interval(figure: Figure, words: Callable[[float], str], unit: str) -> str:
    if figure.value is None:
        return "-"
    value = words(figure.value) + unit
    if figure.interval is None:
        return value
    low, high = figure.interval.low, figure.interval.high
    if math.isinf(high) and math.isinf(low):
        return value
    if math.isinf(high):
        return f"{value} ({words(low)} or more)"
    return f"{value} ({words(high)} or less)" if math.isinf(low) else f"{value} ({words(low)} to {words(high)})"


def _signed(value: float, dimension: str) -> str:
    return ("+" if value > 0 else "") + amount(value, dimension)


def verdict_words(found: Contrast, smallest: float) -> str:
    """Return the verdict of one contrast for people."""
    if found.verdict == ALIKE and found.alike:
        return f"the same within {format_fraction(smallest)}"
    if found.verdict in (BETTER, WORSE) and not found.matters:
        return f"slightly {found.verdict}"
    return found.verdict
