"""Runs compared with a baseline as one HTML file: every effect with its interval drawn on one scale."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import groupby

import jinja2
from markupsafe import Markup

from pileup.builtin.reports.html import overlay
from pileup.builtin.reports.html.overlay import Picture, picture
from pileup.builtin.reports.html.text import ShownFigure, show
from pileup.plugin.results import (
    BETTER,
    WORSE,
    ComparedSide,
    Contrast,
    RunComparison,
    Tone,
    change_words,
    comparison_sentence,
    mark,
    verdict_words,
)
from pileup.plugin.units import counted, format_fraction

WIDTH = 200.0
"""Width of a drawn interval, in its own units."""
WIDEST = 1.0
"""Largest relative change that is drawn to scale: twice as much."""
LEAST = 3.0
"""The scale reaches at least so many times what matters."""


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


@dataclass(frozen=True, slots=True)
class ShownSide:
    """One side against the baseline: what has changed, and all of it."""

    found: ComparedSide
    sentence: str
    tone: Tone
    changed: Sequence[Group]
    rest: str
    """How many metrics are in `everything` alone; empty for none."""
    everything: Sequence[Group]
    pictures: Sequence[Picture]


def render(found: RunComparison) -> str:
    """Return the page."""
    scale = _scale(found)
    matters = WIDTH / 2 * found.smallest / scale
    theme = _resource("theme.js")
    return _template().render(
        found=found,
        sides=[_side(each, found.smallest, scale) for each in found.against],
        smallest=format_fraction(found.smallest),
        scale=format_fraction(scale),
        width=WIDTH,
        size=(overlay.WIDTH, overlay.HEIGHT),
        edges=(overlay.LEFT, overlay.WIDTH - overlay.RIGHT, overlay.TOP, overlay.HEIGHT - overlay.BOTTOM),
        band=(WIDTH / 2 - matters, 2 * matters),
        signs={Tone.GOOD: mark(BETTER).sign, Tone.BAD: mark(WORSE).sign},
        style=Markup(_resource("report.css")),  # noqa: S704  # our own file
        theme=Markup(theme),  # noqa: S704  # our own file
        theme_digest=b64encode(sha256(theme.encode()).digest()).decode(),  # the only script that the page may run
    )


def _side(found: ComparedSide, smallest: float, scale: float) -> ShownSide:
    rest = len(found.contrasts) - len(found.changed)
    some = f"{rest} of them without a change that is shown" if found.changed else "none with a change that is shown"
    return ShownSide(
        found=found,
        sentence=comparison_sentence(found, smallest),
        tone=Tone.BAD if found.worse else Tone.GOOD if found.better else Tone.NONE,
        changed=_groups(found.changed, smallest, scale),
        rest=f"All {counted(len(found.contrasts), 'metric')}, {some}" if rest else "",
        everything=_groups(found.contrasts, smallest, scale) if rest else [],
        pictures=[picture(each) for each in found.overlays],
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
    tone = mark(found.verdict).tone if found.matters else Tone.NONE
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
