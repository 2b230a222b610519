"""Figures in words, for screens and pages."""

from __future__ import annotations

import math

from pileup.model import units
from pileup.model.figures import Figure

NOTHING = "nothing measured"
NO_ANSWER = "no answer"


def words(figure: Figure) -> str:
    """Return a figure with its interval for people: `25.1 ms (24.8 ms to 25.5 ms)`."""
    if figure.value is None:
        return unanswered(figure) or figure.note or NOTHING
    text = amount(figure.value, figure.dimension)
    told = []
    if figure.interval is not None:
        low, high = (amount(end, figure.dimension) for end in (figure.interval.low, figure.interval.high))
        told.append(f"{low} to {high}")
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
    if value == math.inf:
        return NO_ANSWER
    if value < 0:
        return f"-{amount(-value, dimension)}"
    return units.format_quantity(value, dimension) if dimension else f"{value:.4g}"


def apart_words(figure: Figure) -> str:
    """Return by how much something is slower or faster, with its interval: `32 % slower (25 % to 39 %)`."""
    share = figure.value or 0.0
    ends = (figure.interval.low, figure.interval.high) if figure.interval else (share, share)
    low, high = map(units.format_fraction, sorted(map(abs, ends)))
    return f"{units.format_fraction(abs(share))} {'slower' if share > 0 else 'faster'} ({low} to {high})"
