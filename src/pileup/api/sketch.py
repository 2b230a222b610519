"""A small picture of a run for a notebook: what passed per second, over time. No script, and no library draws it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pileup.model.results import RunResults, Timeline
from pileup.model.units import format_rate, format_time

WIDTH, HEIGHT = 480.0, 100.0
LEFT, TOP, BOTTOM = 64.0, 8.0, 16.0
"""Space around what is drawn, for its numbers."""
MOST = 240
"""Most points of a line."""
SECOND = 10**9
LEAST = 1e-6
"""Share of a part that is measured, at least, for a value."""


def sketch(results: RunResults, bad: str) -> str:
    """Return rates of all loads together as SVG; empty where no load was measured.

    It has the colour of the text around it, what did not pass that of `bad`.
    """
    lines = [case.timeline for case in results.cases if case.timeline is not None and case.timeline.times]
    begin = min((line.times[0] - round(line.seconds[0] * SECOND) for line in lines), default=0)
    end = max((line.times[-1] for line in lines), default=0)
    if end <= begin:
        return ""
    passed = together(lines, [line.passed for line in lines], begin, end)
    other = together(lines, [line.not_passed for line in lines], begin, end)
    top = max(max(value or 0.0 for value in curve) for curve in (passed, other))
    if not top:
        return ""
    failing = any(other)
    drawn = _path(passed, top, "currentColor") + (_path(other, top, bad, "5 3") if failing else "")
    told = f"Passed per second, at most {format_rate(max(value or 0.0 for value in passed))}"
    title = "Passed per second" + (f', <span style="color:{bad}">not passed (dashed)</span>' if failing else "")
    floor = HEIGHT - BOTTOM
    numbers = (
        _text(LEFT - 6, TOP + 8, "end", format_rate(top)),
        _text(LEFT - 6, floor, "end", "0"),
        _text(LEFT, HEIGHT - 2, "start", "0 s"),
        _text(WIDTH, HEIGHT - 2, "end", format_time(end - begin)),
    )
    return (
        f'<p style="margin:6px 0 0;opacity:.8">{title}</p>'
        f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" width="{WIDTH:g}" style="max-width:100%;height:auto" role="img" '
        f'aria-label="{told}, over {format_time(end - begin)}">'
        f'<path d="M{LEFT:g},{floor:g}H{WIDTH:g}" stroke="currentColor" opacity=".3"/>{drawn}{"".join(numbers)}</svg>'
    )


def together(lines: Sequence[Timeline], rates: Sequence[Sequence[float]], begin: int, end: int) -> list[float | None]:
    """Return the mean of the sum of rates in equal parts of the time from `begin` to `end` (ns), at most MOST of them.

    None where no line has an interval. An interval counts in a part as far as it lies in it; a part of which less is
    measured has the mean of that.
    """
    parts = max(1, min(MOST, (end - begin) // SECOND))
    edges = np.linspace(0.0, end - begin, parts + 1)
    total, known = np.zeros(parts), np.zeros(parts)
    for line, values in zip(lines, rates, strict=True):
        spans = np.array(line.seconds) * SECOND
        total += _within(edges, line.times, begin, spans, np.array(values))
        known += _within(edges, line.times, begin, spans, np.ones(len(spans)))
    return [float(value / min(1.0, seen)) if seen > LEAST else None for value, seen in zip(total, known, strict=True)]


def _within(
    edges: NDArray[np.float64],
    times: Sequence[int],
    begin: int,
    spans: NDArray[np.float64],
    rates: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the mean rate between edges, of intervals that end at `times`, by what they have counted up to an edge."""
    ends = np.array([time - begin for time in times], float)
    counts = np.cumsum(rates * spans)
    places = np.maximum.accumulate(np.column_stack([ends - spans, ends]).ravel())
    counted = np.interp(edges, places, np.column_stack([counts - rates * spans, counts]).ravel())
    return np.diff(counted) / np.diff(edges)


def _path(curve: Sequence[float | None], top: float, colour: str, dashes: str = "none") -> str:
    """Return a line through the middle of each part; it has gaps where nothing is known."""
    across, up = (WIDTH - LEFT) / len(curve), (HEIGHT - TOP - BOTTOM) / top
    places, after = [], False
    for part, value in enumerate(curve):
        if value is not None:
            place = f"{LEFT + (part + 0.5) * across:.1f},{HEIGHT - BOTTOM - value * up:.1f}"
            places.append(f"L{place}" if after else f"M{place}h.5L{place}")  # one alone is a dot
        after = value is not None
    style = f'fill="none" stroke="{colour}" stroke-width="1.6" stroke-dasharray="{dashes}" stroke-linejoin="round"'
    return f'<path d="{"".join(places)}" {style}/>'


def _text(x: float, y: float, anchor: str, text: str) -> str:
    style = 'font-size="11" fill="currentColor" opacity=".8"'
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" {style}>{text}</text>'
