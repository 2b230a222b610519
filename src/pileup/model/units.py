"""Quantities with units: text to exact numbers and back.

Base units: time in integer nanoseconds, size in integer bytes, bandwidth in bytes per second, rate per second,
fraction between 0 and 1. Parsing is exact (decimal arithmetic), so `0.1 s` is 100000000 ns.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from math import isfinite

SI = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
PREFIXES = SI | BINARY

TIME = {
    "ns": Decimal(1),
    "us": Decimal(10**3),
    "µs": Decimal(10**3),
    "ms": Decimal(10**6),
    "s": Decimal(10**9),
    "min": Decimal(60 * 10**9),
    "h": Decimal(3600 * 10**9),
    "d": Decimal(86400 * 10**9),
}
LONGER = {"min": 60, "h": 3600, "d": 86400}
"""Times that rates may be by, besides a second, s."""
SIZE = {f"{prefix}B": Decimal(factor) for prefix, factor in PREFIXES.items()}
with localcontext() as _context:
    _context.prec = 60
    BANDWIDTH = (
        {f"{unit}/s": factor for unit, factor in SIZE.items()}
        | {f"{prefix}bit/s": Decimal(factor) / 8 for prefix, factor in SI.items()}
        | {f"{unit}/{per}": factor / seconds for unit, factor in SIZE.items() for per, seconds in LONGER.items()}
    )
    RATE = {"": Decimal(1), "/s": Decimal(1)} | {f"/{unit}": Decimal(1) / seconds for unit, seconds in LONGER.items()}
FRACTION = {"": Decimal(1), "%": Decimal("0.01")}
COUNT = {"": Decimal(1)}


@dataclass(frozen=True, slots=True)
class Dimension:
    """A kind of quantity: its name, its units and an example for error messages."""

    name: str
    units: dict[str, Decimal]
    example: str

    @property
    def bare(self) -> bool:
        """Whether a number without a unit is accepted."""
        return "" in self.units


DIMENSIONS = {
    "time": Dimension("time", TIME, "30 s"),
    "size": Dimension("size", SIZE, "64 MiB"),
    "bandwidth": Dimension("bandwidth", BANDWIDTH, "200 MB/s"),
    "rate": Dimension("rate", RATE, "100 /s"),
    "fraction": Dimension("fraction", FRACTION, "5 %"),
    "count": Dimension("count", COUNT, "100"),
}

_QUANTITY = re.compile(r"\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*([^\s\d.]\S*)?\s*\Z")
_LONGEST = 64


def split_quantity(text: str) -> tuple[Decimal, str]:
    """Split `"64 MiB"` into its number and its unit (empty when bare).

    Raises ValueError when the text is not a number, or is not finite.
    """
    match = _QUANTITY.match(text) if len(text) <= _LONGEST else None
    if match is None:
        raise ValueError(f"{text[:_LONGEST]!r} is not a number with a unit")
    return Decimal(match.group(1)), match.group(2) or ""


def parse(text: str, dimension: str) -> Decimal:
    """Return the quantity in the base unit of `dimension` (a key of DIMENSIONS).

    Raises ValueError that names what was found and what was expected.
    """
    kind = DIMENSIONS[dimension]
    try:
        number, unit = split_quantity(text)
    except ValueError as problem:
        raise ValueError(f"{problem}; expected a {kind.name} like {kind.example!r}") from None
    factor = kind.units.get(unit)
    if factor is None and number == 0 and unit == "":
        return Decimal(0)
    if factor is None:
        raise ValueError(_wrong_unit(text, unit, kind))
    with localcontext() as context:
        context.prec = 60
        product = number * factor
        context.prec = 40  # a sixtieth is not a decimal: what it lacks is rounded away
        return +product


def _wrong_unit(text: str, unit: str, kind: Dimension) -> str:
    if unit == "":
        return f"{text!r} has no unit; expected a {kind.name} like {kind.example!r}"
    other = dimension_of(unit)
    found = f"{text!r} is a {other}" if other else f"{text!r} has an unknown unit {unit!r}"
    return f"{found}; expected a {kind.name} like {kind.example!r}"


def dimension_of(unit: str) -> str | None:
    """Return the dimension that a unit belongs to, or None for an unknown one."""
    return next((name for name, kind in DIMENSIONS.items() if unit in kind.units), None)


@dataclass(frozen=True, slots=True)
class Step:
    """One unit in which quantities are written: how many base units it is, and from how many on it is used."""

    unit: str
    factor: float
    least: float


def _steps(*units: tuple[str, float]) -> tuple[Step, ...]:
    """Return units in falling order, each used from one of it on."""
    return tuple(Step(unit, factor, factor) for unit, factor in units)


STEPS = {
    "time": _steps(("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)),
    "size": _steps(*((f"{prefix}B", float(BINARY[prefix])) for prefix in reversed(BINARY)), ("B", 1.0)),
    "bandwidth": _steps(*((f"{prefix}B/s", float(SI[prefix])) for prefix in reversed(SI))),
    "rate": (
        Step("M/s", 1e6, 1e6),
        Step("/s", 1.0, 0.1),
        *_steps(("/min", 1 / 60), ("/h", 1 / 3600), ("/d", 1 / 86400)),
    ),
    "fraction": (Step("%", 0.01, 0.0),),
}
"""Units in which quantities are written, the largest first."""
ZERO = {"time": "s", "size": "B", "bandwidth": "B/s", "rate": "/s", "fraction": "%"}
"""Units of nothing."""
LONG = 60e9
"""Times from here on, ns, are written in two units: `1 min 30 s`."""
APART = 1000.0
"""Ends of a range that are so many times apart are written in units of their own."""

NEARLY_ALL, LEAST_LACKING = 0.05, 1e-6
"""Percent that are lacking: below the first, three digits would say that nothing is; below the second nothing is."""


def _step(value: float, dimension: str) -> Step:
    """Return the unit to write a value in; one that rounds to a thousand of a unit is one of the next."""
    steps = STEPS[dimension]
    if value == 0:
        return next(step for step in steps if step.unit == ZERO[dimension])
    rounded = float(f"{abs(value):.3g}") * (1 + 1e-9)
    return next((step for step in steps if rounded >= step.least), steps[-1])


def _written(value: float, dimension: str) -> str:
    step = _step(value, dimension)
    return f"{_in_unit(value, dimension, step)} {step.unit}"


def _in_unit(value: float, dimension: str, step: Step) -> str:
    """Three significant digits; of a fraction that is nearly all those of what is lacking: `99.987`."""
    lacking = 100 * (1 - value)
    if dimension != "fraction" or not LEAST_LACKING <= lacking < NEARLY_ALL:
        return _digits(value / step.factor)
    return f"{100 * value:.{math.ceil(-math.log10(lacking)) + 1}f}".rstrip("0")


def format_time(nanoseconds: float) -> str:
    """Return a duration for people, three significant digits: `12.3 ms`, `1 min 30 s`."""
    return _format_long(nanoseconds) if _is_long(nanoseconds) else _written(nanoseconds, "time")


def _is_long(nanoseconds: float) -> bool:
    return float(f"{abs(nanoseconds):.3g}") >= LONG


def _format_long(nanoseconds: float) -> str:
    seconds = round(abs(nanoseconds) / 1e9)
    parts = []
    for unit, factor in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        amount, seconds = divmod(seconds, factor)
        if amount:
            parts.append(f"{amount} {unit}")
    return ("-" if nanoseconds < 0 else "") + " ".join(parts[:2])


def format_size(size: float) -> str:
    """Return a number of bytes for people in binary units: `64 MiB`."""
    return _written(size, "size")


def format_bandwidth(bytes_per_second: float) -> str:
    """Return a bandwidth for people in decimal units, as networks are sold: `200 MB/s`."""
    return _written(bytes_per_second, "bandwidth")


def format_rate(per_second: float) -> str:
    """Return a rate for people: `3,160 /s`, `120 /s`; a slow one by the minute, hour or day: `34.2 /h`."""
    return _written(per_second, "rate")


def format_fraction(fraction: float) -> str:
    """Return a fraction for people, in percent. One that is nearly all is not rounded to all: `99.987 %`."""
    return _written(fraction, "fraction")


def format_count(count: float) -> str:
    """Return a plain number for people, with thousands apart: `20,000`; four digits of what is not whole."""
    if float(count).is_integer():
        return f"{int(count):,}"
    return f"{count:,.0f}" if abs(count) >= 1000 else f"{count:.4g}"


def counted(count: int, one: str, several: str = "") -> str:
    """Return how many there are of something: `1 case`, `20,000 cases`; `several` where an s does not do it."""
    return f"{format_count(count)} {one if count == 1 else several or f'{one}s'}"


def _digits(value: float) -> str:
    """Three significant digits without exponent for what people meet."""
    rounded = float(f"{value:.3g}")
    if rounded == 0:
        return "0"
    if abs(rounded) >= 100:
        return f"{rounded if abs(value) >= BINARY['Ki'] else value:,.0f}"
    text = f"{value:.3g}"
    return text if "e" not in text else f"{value:.2e}"


FORMATS = {
    "time": format_time,
    "size": format_size,
    "bandwidth": format_bandwidth,
    "rate": format_rate,
    "fraction": format_fraction,
    "count": format_count,
}


def format_quantity(value: float, dimension: str) -> str:
    """Return a value in the base unit of `dimension` for people."""
    return FORMATS.get(dimension, format_count)(value)


def format_range(low: float, high: float, dimension: str, dash: str = "-", signed: bool = False) -> str:
    """Return two values for people, the unit once: `0-20 ms`, `33.2-35.1 /h`; with a sign `-3 to +2 %`.

    Ends too far apart for one unit have their own: `5 ns to 20 ms`, `50 s to 2 min`.
    """
    sizes = sorted(map(abs, (low, high)))
    joint = " to " if signed or low < 0 else dash
    plus = ["+" if signed and end > 0 else "" for end in (low, high)]
    if (sizes[0] and sizes[1] / sizes[0] >= APART) or (dimension == "time" and _is_long(sizes[1])):
        joint, told = " to ", [format_quantity(end, dimension) for end in (low, high)]
    elif dimension not in STEPS:
        told = [format_count(end) for end in (low, high)]
    else:
        step = _step(sizes[1], dimension)
        told = [_in_unit(end, dimension, step) for end in (low, high)]
        told[1] += f" {step.unit}"
    return joint.join(f"{sign}{end}" for sign, end in zip(plus, told, strict=True))


UNDER_ONE, UNDER_MOST = 0.01, 1e5
"""Numbers under one unit are at least so large, and smaller than that."""


def common_unit(values: Iterable[float], dimension: str) -> str:
    """Return the unit in which a whole column can be read, the largest of several; empty where there is none."""
    found = [abs(value) for value in values if value and isfinite(value)]
    if dimension not in STEPS or not found or (dimension == "time" and _is_long(max(found))):
        return ""
    least, most = min(found), max(found)
    steps = STEPS[dimension][STEPS[dimension].index(_step(most, dimension)) :]
    fits = (step.unit for step in steps if least / step.factor >= UNDER_ONE and most / step.factor < UNDER_MOST)
    return next(fits, "")


def format_under(value: float, dimension: str, unit: str) -> str:
    """Return a value without its unit, which stands above it; with a unit of its own where `unit` is empty."""
    if not unit:
        return format_quantity(value, dimension)
    return _digits(value / next(step.factor for step in STEPS[dimension] if step.unit == unit))
