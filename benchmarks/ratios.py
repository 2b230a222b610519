"""Ratios of interleaved pairs: median, and the interval of the mean logarithm by Student's t."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

T95 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228, 11: 2.201,
       12: 2.179, 13: 2.160, 14: 2.145, 15: 2.131, 16: 2.120, 17: 2.110, 18: 2.101, 19: 2.093, 20: 2.086}  # fmt: skip
"""Two-sided 95 % points of Student's t by degrees of freedom."""


@dataclass(frozen=True, slots=True)
class Bar:
    """What a figure is held to: at most, or at least."""

    most: float | None = None
    least: float | None = None

    def words(self) -> str:
        """Return it in words."""
        return f"at most {self.most:g}" if self.most is not None else f"at least {self.least:g}"

    def met(self, low: float, high: float) -> bool:
        """Whether the whole interval keeps to it."""
        if self.most is not None:
            return high <= self.most
        return self.least is not None and low >= self.least


def t95(freedom: int) -> float:
    """Return the 95 % point of Student's t; the next smaller tabled one, which is larger, where a row is missing."""
    return T95[max(row for row in T95 if row <= freedom)]


def ratio(ours: Sequence[float], theirs: Sequence[float], bar: Bar | None = None) -> dict[str, Any]:
    """Return the ratio of pairs: median, geometric mean with its 95 % interval (none below two pairs), the bar.

    The interval is exp(m -+ t s / sqrt(n)) over the logarithms of the ratios of n pairs: what disturbs both sides of a
    pair alike drops out.
    """
    logs = [math.log(our / their) for our, their in zip(ours, theirs, strict=True)]
    middle = statistics.fmean(logs)
    found = {"pairs": len(logs), "median": math.exp(statistics.median(logs)), "mean": math.exp(middle)}
    return found | _held(*_interval(logs), bar, math.exp)


def level(values: Sequence[float], bar: Bar | None = None) -> dict[str, Any]:
    """Return a figure of its own: median, mean with its 95 % interval (none below two runs), the bar."""
    found = {"runs": len(values), "median": statistics.median(values), "mean": statistics.fmean(values)}
    return found | _held(*_interval(values), bar, float)


def _interval(values: Sequence[float]) -> tuple[float | None, float | None]:
    if len(values) < 2:
        return None, None
    half = t95(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    middle = statistics.fmean(values)
    return middle - half, middle + half


def _held(low: float | None, high: float | None, bar: Bar | None, back: Any) -> dict[str, Any]:
    if low is None or high is None:
        return {"interval": None, "bar": asdict(bar) if bar else None, "met": None}
    edges = back(low), back(high)
    return {"interval": edges, "bar": asdict(bar) if bar else None, "met": bar.met(*edges) if bar else None}
