"""A session as a waterfall: one page of HTML with a drawing, no script, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from pileup.model.units import format_size, format_time

if TYPE_CHECKING:
    from pileup.plugin.sessions.session import Session, Stretch
    from pileup.run.tracing.trace import Traced

ROW, TOP, LEFT, WIDE, NARROWEST = 22, 34, 330, 640, 1.5
"""Height of a row, of the axis; width of the labels, of the drawing, of the narrowest bar, in pixels."""
TICKS = 5
COLOURS = {"connect": "#7a5195", "network": "#4c78a8", "server": "#e07b39", "client": "#8a8f98"}
NAMES = {"connect": "connect", "network": "on the way", "server": "server", "client": "client"}
STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 1020px; padding: 0 1rem; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin-top: 2rem; }
svg { width: 100%; height: auto; } text { font: 12px system-ui, sans-serif; fill: currentColor; }
.grid { stroke: currentColor; opacity: .15; } .key { margin-right: 1.2rem; white-space: nowrap; }
.key::before { content: ""; display: inline-block; width: .8em; height: .8em; margin-right: .4em;
  background: var(--c); }
"""


def named(stretch: Stretch) -> str:
    """Return in words what a stretch of a session waited for."""
    size = format_size(stretch.size)
    match stretch.kind:
        case "connect":
            return "connect: one round trip"
        case "network" if stretch.way:
            return f"answer on its way back, {size}"
        case "network":
            return f"question on its way there, {size}" if stretch.size else "on its way there"
        case "server":
            return f"server, asked {size}" if stretch.size else "server, speaks first"
        case _:
            return "client"


def page(traced: Traced, title: str) -> str:
    """Return the page: a waterfall for the session in the middle at each distance, with the sentences of the screen."""
    from pileup.cli.trace.text import remarks, typical

    parts = [
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{escape(title)}</title>",
        f"<meta name='viewport' content='width=device-width'><style>{STYLE}</style></head><body>",
        f"<h1>Trace of {escape(title)}</h1>",
        *(f"<p>{escape(each)}</p>" for each in remarks(traced)),
        "<p>",
        *(f"<span class='key' style='--c:{COLOURS[kind]}'>{NAMES[kind]}</span>" for kind in COLOURS),
        "</p>",
    ]
    for added in traced.distances:
        one = typical(traced, added)
        parts += [f"<h2>{format_time(added)} added to a round trip</h2>", _sentence(one), drawing(one)]
    return "\n".join([*parts, "</body></html>", ""])


def _sentence(one: Session) -> str:
    words = (
        f"{format_time(one.length)} = {one.round_trips} round trips {format_time(one.network)} + server "
        f"{format_time(one.server)} + client {format_time(one.client)} + unexplained {_signed(one.unexplained)}"
    )
    return f"<p>{escape(words)}</p>"


def _signed(time: int) -> str:
    return format_time(time) if time >= 0 else f"-{format_time(-time)}"


def drawing(one: Session) -> str:
    """Return a session as SVG: a row for each stretch of its chain, with its time."""
    from pileup.cli.trace.text import shown

    rows = shown(one)
    height = TOP + ROW * len(rows) + 6
    head = f"<svg viewBox='0 0 {LEFT + WIDE + 20} {height}' role='img' aria-label='waterfall of a session'>"
    return "\n".join([head, *_axis(one, height), *_bars(one, rows), "</svg>"])


def _axis(one: Session, height: int) -> Iterator[str]:
    for number in range(TICKS):
        x = LEFT + WIDE * number / (TICKS - 1)
        time = format_time(one.length * number / (TICKS - 1)) if number else "0"
        anchor = "start" if number == 0 else "end" if number == TICKS - 1 else "middle"
        yield f"<line class='grid' x1='{x:.1f}' x2='{x:.1f}' y1='{TOP - 8}' y2='{height}'/>"
        yield f"<text x='{x:.1f}' y='{TOP - 14}' text-anchor='{anchor}'>{time}</text>"


def _bars(one: Session, rows: list[Stretch]) -> Iterator[str]:
    scale = WIDE / max(1, one.length)
    for number, each in enumerate(rows):
        y = TOP + ROW * number
        x, width = LEFT + (each.begin - one.begin) * scale, max(NARROWEST, each.length * scale)
        label = f"{named(each)}, {format_time(each.length)}"
        yield f"<text x='0' y='{y + 14}'>{escape(label)}</text>"
        yield f"<rect x='{x:.1f}' y='{y + 3}' width='{width:.1f}' height='{ROW - 7}' fill='{COLOURS[each.kind]}'/>"
