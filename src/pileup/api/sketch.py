"""A small picture of a run for a notebook: what passed per second, over time. No script, and no library draws it."""

from __future__ import annotations

from collections.abc import Sequence

from pileup.model.results import RunResults, Timeline
from pileup.model.units import format_rate, format_time

WIDTH, HEIGHT = 480.0, 100.0
LEFT, TOP, BOTTOM = 64.0, 8.0, 16.0
"""Space around what is drawn, for its numbers."""
MOST = 240
"""Most points of a line."""
SECOND = 10**9


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
    drawn = _path(passed, top, "currentColor") + (_path(other, top, bad) if failing else "")
    told = f"Passed per second, at most {format_rate(max(value or 0.0 for value in passed))}"
    title = "Passed per second" + (f', <span style="color:{bad}">not passed</span>' if failing else "")
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

    None where no line has an interval. An interval counts in a part as far as it lies in it.
    """
    parts = max(1, min(MOST, (end - begin) // SECOND))
    width = (end - begin) / parts
    found: list[float | None] = [None] * parts
    for line, values in zip(lines, rates, strict=True):
        for time, seconds, rate in zip(line.times, line.seconds, values, strict=True):
            last = min(float(parts), (time - begin) / width)
            first = max(0.0, (time - seconds * SECOND - begin) / width)
            for part in range(int(first), min(parts, int(last) + 1)):
                inside = min(last, part + 1) - max(first, part)
                if inside > 0:
                    found[part] = (found[part] or 0.0) + rate * inside
    return found


def _path(curve: Sequence[float | None], top: float, colour: str) -> str:
    """Return a line through the middle of each part; it has gaps where nothing is known."""
    across, up = (WIDTH - LEFT) / len(curve), (HEIGHT - TOP - BOTTOM) / top
    places, after = [], False
    for part, value in enumerate(curve):
        if value is not None:
            place = f"{LEFT + (part + 0.5) * across:.1f},{HEIGHT - BOTTOM - value * up:.1f}"
            places.append(f"L{place}" if after else f"M{place}L{place}")  # one alone is a dot
        after = value is not None
    style = f'fill="none" stroke="{colour}" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round"'
    return f'<path d="{"".join(places)}" {style}/>'


def _text(x: float, y: float, anchor: str, text: str) -> str:
    style = 'font-size="11" fill="currentColor" opacity=".8"'
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" {style}>{text}</text>'
