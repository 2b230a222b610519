"""Quantities with units: text to exact numbers and back.

Base units: time in integer nanoseconds, size in integer bytes, bandwidth in bytes per second, rate per second,
fraction between 0 and 1. Parsing is exact (decimal arithmetic), so `0.1 s` is 100000000 ns.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, localcontext

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
SIZE = {f"{prefix}B": Decimal(factor) for prefix, factor in PREFIXES.items()}
BANDWIDTH = {f"{unit}/s": factor for unit, factor in SIZE.items()} | {
    f"{prefix}bit/s": Decimal(factor) / 8 for prefix, factor in SI.items()
}
with localcontext() as _context:
    _context.prec = 60
    RATE = {"": Decimal(1), "/s": Decimal(1)} | {
        f"/{unit}": Decimal(1) / seconds for unit, seconds in {"min": 60, "h": 3600, "d": 86400}.items()
    }
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


def format_time(nanoseconds: float) -> str:
    """Return a duration for people, three significant digits: `12.3 ms`, `1 min 30 s`."""
    size = abs(nanoseconds)
    if size >= 60e9:
        return _format_long(nanoseconds)
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if size >= factor:
            return f"{_digits(nanoseconds / factor)} {unit}"
    return f"{_digits(nanoseconds)} ns"


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
    for prefix in ("Pi", "Ti", "Gi", "Mi", "Ki"):
        if abs(size) >= BINARY[prefix]:
            return f"{_digits(size / BINARY[prefix])} {prefix}B"
    return f"{_digits(size)} B"


def format_bandwidth(bytes_per_second: float) -> str:
    """Return a bandwidth for people in decimal units, as networks are sold: `200 MB/s`."""
    return f"{_format_si(bytes_per_second)}B/s"


def format_rate(per_second: float) -> str:
    """Return a rate for people: `1.2 k/s`, `120 /s`."""
    return f"{_format_si(per_second)}/s"


def format_fraction(fraction: float) -> str:
    """Return a fraction for people, in percent."""
    return f"{_digits(fraction * 100)} %"


def format_count(count: float) -> str:
    """Return a count for people, with thousands apart: `20 000`."""
    whole = float(count).is_integer()
    return f"{int(count):,}".replace(",", " ") if whole else _digits(count)


def counted(count: int, one: str, several: str = "") -> str:
    """Return how many there are of something: `1 case`, `20 000 cases`; `several` where an s does not do it."""
    return f"{format_count(count)} {one if count == 1 else several or f'{one}s'}"


def _format_si(value: float) -> str:
    for prefix in ("T", "G", "M", "k"):
        if abs(value) >= SI[prefix]:
            return f"{_digits(value / SI[prefix])} {prefix}"
    return f"{_digits(value)} "


def _digits(value: float) -> str:
    """Three significant digits without exponent for what people meet."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:.0f}"
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
