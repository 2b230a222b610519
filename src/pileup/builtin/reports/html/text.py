"""Figures, times and counts as the page shows them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime

from pileup.plugin.results import Figure, Note
from pileup.plugin.units import format_count, format_fraction, format_quantity, format_range

ABSENT = "\N{EN DASH}"
NO_ANSWER = "no answer"


@dataclass(frozen=True, slots=True)
class ShownFigure:
    """A figure for the page: the value, its interval, and what there is to say about it."""

    value: str
    interval: str = ""
    note: str = ""


def show(figure: Figure | None) -> ShownFigure:
    """Return a figure in words; one without a value shows why instead."""
    if figure is None:
        return ShownFigure(ABSENT)
    if figure.above is not None:
        return ShownFigure(_beyond(figure), note=figure.note)
    if figure.value is None or not math.isfinite(figure.value):
        return ShownFigure(Note.TOO_FEW if figure.note is Note.TOO_FEW else ABSENT, note=figure.note)
    of = f"of the {format_fraction(figure.passed)} that passed" if figure.passed is not None else ""
    return ShownFigure(format_quantity(figure.value, figure.dimension), _interval(figure), figure.note or of)


def _beyond(figure: Figure) -> str:
    """Return a quantile that is only known to be larger than something."""
    above = figure.above if figure.above is not None else math.inf
    return f"> {format_quantity(above, figure.dimension)}" if math.isfinite(above) else NO_ANSWER


def _interval(figure: Figure) -> str:
    """Return `19.8 to 20.4 ms` with a dash: the unit once where both ends have the same."""
    found = figure.interval
    if found is None or not math.isfinite(found.low):
        return ""
    if not math.isfinite(found.high):
        return f"{format_quantity(found.low, figure.dimension)} {ABSENT} {NO_ANSWER}"
    return format_range(found.low, found.high, figure.dimension, f" {ABSENT} ")


def level(figures: list[Figure | None]) -> str:
    """Return what intervals are called: `95 %`, from the first that there is."""
    found = next((figure.interval for figure in figures if figure and figure.interval), None)
    return f"{(found.level if found else 0.95) * 100:g} %"


def moment(nanoseconds: object) -> str:
    """Return a time of the record as UTC, to the second."""
    if not isinstance(nanoseconds, (int, float)) or nanoseconds <= 0:
        return ABSENT
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def offset(nanoseconds: int | None, begin: int) -> str:
    """Return a time as seconds since the run's start: `+12.3 s`."""
    return ABSENT if nanoseconds is None else f"+{(nanoseconds - begin) / 1e9:.1f} s"


def cut(text: str, limit: int, where: str) -> str:
    """Return the beginning and the end of a text that is too long for the page, and say where the whole is."""
    if len(text) <= limit:
        return text
    half = limit // 2
    left = format_count(len(text) - 2 * half)
    said = f"; all of it is in {where}" if where else ""
    return f"{text[:half]}\n\n[… {left} characters left out{said} …]\n\n{text[-half:]}"
