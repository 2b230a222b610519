"""Columns of numbers for charts: put into buckets so that a page stays small, rounded so that it stays short."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Number = float | int | None
Columns = dict[str, Sequence[Any]]
"""A table as column name -> values, all of one length: numbers with None where there is none, or text."""


def short(value: float | int | None, digits: int = 5) -> Number:
    """Round to significant digits; None for what is not finite (JSON has no word for it)."""
    if value is None or not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def mean(values: Sequence[Number]) -> Number:
    """Mean of what is there."""
    found = [value for value in values if value is not None and math.isfinite(value)]
    return sum(found) / len(found) if found else None


def largest(values: Sequence[Number]) -> Number:
    """Largest of what is there."""
    return max((value for value in values if value is not None and math.isfinite(value)), default=None)


def middle(values: Sequence[Number]) -> Number:
    """Median of what is there, the upper one of two."""
    found = sorted(value for value in values if value is not None and math.isfinite(value))
    return found[len(found) // 2] if found else None


def positive(table: Columns, *names: str) -> list[float]:
    """Return the numbers above zero of some columns, for logarithmic axes."""
    return [value for name in names for value in table[name] if value is not None and value > 0]


def buckets(count: int, limit: int) -> list[range]:
    """Cut `count` intervals into at most `limit` runs of (nearly) equal length."""
    size = max(1, -(-count // limit))
    return [range(start, min(start + size, count)) for start in range(0, count, size)]


def combine(
    values: Sequence[Number], parts: Iterable[range], how: Callable[[Sequence[Number]], Number]
) -> list[Number]:
    """Return one number per bucket."""
    return [how([values[place] for place in part]) for part in parts]


def log_ticks(low: float, high: float, most: int = 8) -> list[float]:
    """Return 1-2-5 ticks, or decades where those would be too many, that cover [low, high] on a log axis."""
    if not (0 < low <= high and math.isfinite(high)):
        return []
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        found = [step * 10.0**decade for decade in decades for step in steps]
        found = [tick for tick in found if low * 0.999 <= tick <= high * 1.001]
        if len(found) <= most:
            break
    thin = max(1, -(-len(found) // most))
    return [float(f"{tick:.6g}") for tick in found[::thin]]


def linear_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return evenly spaced round ticks within [low, high]: for a range so narrow that 1-2-5 ticks would miss it."""
    if not (0 < low < high and math.isfinite(high)):
        return []
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [float(f"{number * step:.6g}") for number in range(first, last + 1)]


def scaled(unit: str, size: float) -> tuple[float, str]:
    """Return divisor and name of the unit in which numbers up to `size` are easy to read."""
    steps = {"B": (1024.0, ("B", "KiB", "MiB", "GiB", "TiB")), "B/s": (1000.0, ("B/s", "kB/s", "MB/s", "GB/s", "TB/s"))}
    if unit not in steps:
        return 1.0, unit
    base, names = steps[unit]
    power = min(len(names) - 1, int(math.log(size, base))) if size >= base else 0
    return base**power, names[power]
