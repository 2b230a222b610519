"""Two curves of runs compared as one picture in SVG: that of the baseline, and the new one over it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pileup.plugin.results import Curve, Overlay
from pileup.plugin.units import format_quantity

WIDTH, HEIGHT = 480, 210
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 8, 26
"""Space around what is drawn, in its own units."""
STEPS = (1.0, 2.0, 5.0, 10.0)
MOST_TICKS = 5
LEAST = 1e-9
"""No axis is shorter."""
TITLES = {"response times": "Response times", "rate": "Rate"}
ABOUT = {"response times": "share of what passed that took so long or less", "rate": "passed per second"}


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis: where, and what is written there."""

    place: float
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """What the page draws of one overlay."""

    name: str
    title: str
    about: str
    told: str
    """The same in a sentence, for those who do not see it."""
    x: tuple[Tick, ...]
    y: tuple[Tick, ...]
    baseline: str
    """Points of the line, as SVG has them."""
    candidate: str


def picture(found: Overlay) -> Picture:
    """Return an overlay as it is drawn: response times on a logarithmic scale, a rate over time."""
    of_times = found.what == "response times"
    both = (*found.baseline, *found.candidate)
    longest = max(x for x, _ in both)
    low = math.log10(max(1.0, min(x for x, _ in both))) if of_times else 0.0
    high = math.log10(max(1.0, longest)) if of_times else max(longest, LEAST)
    top = 1.0 if of_times else max(LEAST, *(y for _, y in both)) * 1.05
    span = max(high - low, LEAST)

    def across(x: float) -> float:
        place = (math.log10(max(1.0, x)) if of_times else x) - low
        return round(LEFT + (WIDTH - LEFT - RIGHT) * place / span, 1)

    def up(y: float) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * y / top, 1)

    def line(curve: Curve) -> str:
        return " ".join(f"{across(x)},{up(y)}" for x, y in curve)

    along = _decades(low, high) if of_times else _round(high)
    x = tuple(Tick(across(value), format_quantity(value if of_times else value * 1e9, "time")) for value in along)
    shown = [0.0, 0.25, 0.5, 0.75, 1.0] if of_times else _round(top)
    y = tuple(Tick(up(value), format_quantity(value, "fraction" if of_times else "rate")) for value in shown)
    told = _told(found)
    return Picture(
        found.name, TITLES[found.what], ABOUT[found.what], told, x, y, line(found.baseline), line(found.candidate)
    )


def _told(found: Overlay) -> str:
    if found.what == "response times":
        new, old = (format_quantity(_median(curve), "time") for curve in (found.candidate, found.baseline))
        return f"Half of what passed took {new} or less in the new run, {old} or less in the baseline."
    new, old = (format_quantity(_mean(curve), "rate") for curve in (found.candidate, found.baseline))
    return f"On average {new} passed in the new run, {old} in the baseline."


def _median(curve: Curve) -> float:
    return next((x for x, share in curve if share >= 0.5), curve[-1][0])


def _mean(curve: Curve) -> float:
    return math.fsum(y for _, y in curve) / len(curve)


def _decades(low: float, high: float) -> list[float]:
    """Return round values between two powers of ten (their exponents), few of them."""
    exponents = range(math.floor(low), math.ceil(high) + 1)
    for steps in ((1.0, 2.0, 5.0), (1.0,)):
        found = [step * 10.0**power for power in exponents for step in steps]
        inside = [value for value in found if low <= math.log10(value) <= high]
        if len(inside) <= MOST_TICKS:
            break
    return inside[:: math.ceil(len(inside) / MOST_TICKS)] if inside else [10.0**low]


def _round(high: float) -> list[float]:
    """Return round values from zero on."""
    rough = high / MOST_TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(each * power for each in STEPS if each * power >= rough * (1 - 1e-9))
    return [number * step for number in range(int(high / step + 1e-9) + 1)]
