"""Columns of numbers for charts: put into buckets so that a page stays small, rounded so that it stays short."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from pileup.plugin.charts import Columns

Number = float | int | None

REGULAR = (0.6, 1.6)
"""Times between samples are regular where half of them are within these multiples of the usual one."""
MOST_LATE = 2.6
"""Usual times between samples after which something is missing: one look may be."""


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


def stretches(begins: Sequence[float], ends: Sequence[float], tolerance: float) -> list[range]:
    """Return the runs of intervals, in order of time, between which nothing longer than `tolerance` is missing."""
    edges = [place for place in range(1, len(begins)) if begins[place] - ends[place - 1] > tolerance]
    return [range(a, b) for a, b in pairwise([0, *edges, len(begins)]) if b > a]


def looks(times: Sequence[float]) -> list[range]:
    """Return the runs of looks at a quantity between which a line may be drawn; `times` are in order.

    A late or missing sample is not a gap; a longer time is. What has no interval of its own, such as
    numbers that come when they come, gives runs of one: between them nothing was looked at.
    """
    gaps = [b - a for a, b in pairwise(times)]
    usual = middle(gaps)
    if not usual:
        return [range(len(times))] if times else []
    if 2 * sum(REGULAR[0] * usual <= gap <= REGULAR[1] * usual for gap in gaps) < len(gaps):
        return [range(place, place + 1) for place in range(len(times))]
    return stretches(times, times, MOST_LATE * usual)


def drawn_runs(runs: Sequence[range]) -> Columns:
    """Return what a table reports on runs of its rows: which a row belongs to, and whether it is alone in it.

    A line is drawn within a run; a row that is alone is a dot.
    """
    return {
        "run": [number for number, run in enumerate(runs) for _ in run],
        "alone": [len(run) == 1 for run in runs for _ in run],
    }


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
