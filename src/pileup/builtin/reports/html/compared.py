"""Runs compared with a baseline as one HTML file: every effect with its interval drawn on one scale."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby

import jinja2
from markupsafe import Markup

from pileup.builtin.reports.html.text import ShownFigure, show
from pileup.plugin.results import ALIKE, BETTER, TOO_FEW, WORSE, Contrast, RunComparison, change_words, verdict_words
from pileup.plugin.units import format_fraction

WIDTH = 200.0
"""Width of a drawn interval, in its own units."""
WIDEST = 1.0
"""Largest relative change that is drawn to scale: twice as much."""
LEAST = 3.0
"""The scale reaches at least so many times what matters."""
TONES = {WORSE: "bad", BETTER: "good", ALIKE: "none", TOO_FEW: "none"}


@dataclass(frozen=True, slots=True)
class DrawnInterval:
    """An interval on the scale: where its ends, its middle and what does not matter lie; None for no interval."""

    low: float
    high: float
    middle: float


@dataclass(frozen=True, slots=True)
class Line:
    """One metric as the page shows it."""

    metric: str
    baseline: ShownFigure
    candidate: ShownFigure
    change: str
    verdict: str
    tone: str
    drawn: DrawnInterval | None


@dataclass(frozen=True, slots=True)
class Group:
    """The metrics of one operation."""

    name: str
    lines: tuple[Line, ...]


def render(found: RunComparison) -> str:
    """Return the page."""
    scale = _scale(found)
    matters = WIDTH / 2 * found.smallest / scale
    sides = [(each, _groups(each.contrasts, found.smallest, scale)) for each in found.against]
    return _template().render(
        found=found,
        sides=sides,
        smallest=format_fraction(found.smallest),
        scale=format_fraction(scale),
        width=WIDTH,
        band=(WIDTH / 2 - matters, 2 * matters),
        tone=TONES[found.verdict],
        style=Markup(_resource("report.css")),  # noqa: S704  # our own file
    )


def _scale(found: RunComparison) -> float:
    """Return the largest relative change on the scale."""
    ends = [
        max(abs(each.relative.interval.low), abs(each.relative.interval.high))
        for against in found.against
        for each in against.contrasts
        if each.relative.interval and each.matters
    ]
    return min(WIDEST, max([LEAST * found.smallest, 0.01, *ends]))


def _groups(contrasts: Iterable[Contrast], smallest: float, scale: float) -> Sequence[Group]:
    return [
        Group(name, tuple(_line(each, smallest, scale) for each in members))
        for name, members in groupby(contrasts, key=lambda each: each.name)
    ]


def _line(found: Contrast, smallest: float, scale: float) -> Line:
    tone = TONES[found.verdict] if found.matters else "none"
    words = verdict_words(found, smallest)
    shown = show(found.baseline), show(found.candidate)
    return Line(found.metric, *shown, change_words(found), words, tone, _drawn(found, scale))


def _drawn(found: Contrast, scale: float) -> DrawnInterval | None:
    interval, value = found.relative.interval, found.relative.value
    if interval is None or value is None:
        return None

    def place(change: float) -> float:
        return round(WIDTH / 2 * (1 + max(-1.0, min(1.0, change / scale))), 1)

    return DrawnInterval(place(interval.low), place(interval.high), place(value))


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_resource("compared.html.jinja"))


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")
