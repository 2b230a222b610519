"""Figures in words, for screens and pages."""

from __future__ import annotations

import math

from pileup.model import units
from pileup.model.figures import Figure, Interval

NOTHING = "nothing measured"
NO_ANSWER = "no answer"


def words(figure: Figure) -> str:
    """Return a figure with its interval for people: `25.1 ms (24.8-25.5 ms)`."""
    if figure.value is None:
        return unanswered(figure) or figure.note or NOTHING
    text = amount(figure.value, figure.dimension)
    told = []
    if figure.interval is not None:
        told.append(between(figure.interval, figure.dimension))
    if figure.passed is not None:
        told.append(f"of the {units.format_fraction(figure.passed)} that passed")
    return f"{text} ({', '.join(told)})" if told else text


def unanswered(figure: Figure) -> str:
    """Return a quantile that had no answer for people: `> 1 s (71 % had no answer by then)`; empty for any other."""
    if figure.above is None:
        return ""
    text = f"> {amount(figure.above, figure.dimension)}" if math.isfinite(figure.above) else NO_ANSWER
    return f"{text} ({figure.note})" if figure.note else text


def amount(value: float, dimension: str) -> str:
    """Return a value of a dimension for people; a plain number where there is none."""
    return NO_ANSWER if value == math.inf else units.format_quantity(value, dimension)


def between(found: Interval, dimension: str, signed: bool = False) -> str:
    """Return the ends of an interval for people, the unit once: `24.8-25.5 ms`, with a sign `-3 to +2 %`."""
    if math.isfinite(found.low) and math.isfinite(found.high):
        return units.format_range(found.low, found.high, dimension, signed=signed)
    return f"{amount(found.low, dimension)} to {amount(found.high, dimension)}"


def apart_words(figure: Figure) -> str:
    """Return by how much something is slower or faster, with its interval: `32 % slower (25-39 %)`."""
    share = figure.value or 0.0
    ends = (figure.interval.low, figure.interval.high) if figure.interval else (share, share)
    low, high = sorted(map(abs, ends))
    told = units.format_range(low, high, "fraction")
    return f"{units.format_fraction(abs(share))} {'slower' if share > 0 else 'faster'} ({told})"
