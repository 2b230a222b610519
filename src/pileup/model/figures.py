"""Figures that results are made of: a value with its interval, counts by outcome, a distribution of durations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pileup.model.record import OUTCOMES


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval; `level` is its nominal coverage."""

    low: float
    high: float
    level: float = 0.95


class Note(StrEnum):
    """A note on a figure that code uses; any other is only for people."""

    TOO_FEW = "too few"


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its dimension (a key of units.DIMENSIONS or ""), an interval where one is known, and its n."""

    value: float | None
    """None: nothing measured, or too few values (see `note`)."""
    dimension: str = ""
    interval: Interval | None = None
    """Its 95 % interval; None if not known."""
    n: int = 0
    """Number of values behind it."""
    note: str = ""
    """For people: why there is no value, or a remark on it."""
    above: float | None = None
    """Of a quantile without a value: it is larger than this, in the base unit; infinite: there was no answer at all."""
    passed: float | None = None
    """Share of the due operations that passed, if the figure is only of these and they are not nearly all."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Outcomes of iterations or operations in the measured phase."""

    passed: int = 0
    failed: int = 0
    refused: int = 0
    ambiguous: int = 0
    unfinished: int = 0
    lost: int = 0
    missed: int = 0

    @property
    def ended(self) -> int:
        """All that have a row."""
        return sum(getattr(self, name) for name in OUTCOMES)


@dataclass(frozen=True, slots=True)
class SchedulingDelay:
    """How late what was due in the measured time began: quantiles over `n` starts, ns.

    Of a load that missed starts it has the wait for a client, too, which the system causes.
    """

    n: int
    p50: float
    p99: float
    largest: int


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution of durations (ns) of what passed, from its histogram (3 digits).

    `quantiles` maps 0.5, 0.9, 0.99, 0.999, 0.9999 to figures, of what passed alone; `edges`/`density` are a histogram
    for drawing (edges has one more entry; counts per bin); `ecdf` is (duration, share at or below) at growing
    durations. `box` is (low whisker, q1, median, q3, high whisker), whiskers at the 1st and 99th percentile.
    """

    n: int
    mean: float
    smallest: int
    largest: int
    quantiles: dict[float, Figure]
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    ecdf: tuple[tuple[float, float], ...]
    box: tuple[float, float, float, float, float]
    mean_interval: Interval | None = None
    deviation: float = 0.0
    """Standard deviation, ns."""
