"""Figures of an operation by the values of a label."""

from __future__ import annotations

from dataclasses import dataclass

from pileup.model.figures import Counts, Figure


@dataclass(frozen=True, slots=True)
class LabelLine:
    """Operations with one value of a label against time. All tuples have one entry per interval in which some ended."""

    begins: tuple[int, ...]
    """ns since the epoch."""
    ends: tuple[int, ...]
    passed: tuple[float, ...]
    """Per second."""
    p50: tuple[float | None, ...]
    """Of response times, ns, over all that ended in the interval; None where they are too few, or it did not pass."""


@dataclass(frozen=True, slots=True)
class LabelFigure:
    """Figures of one operation for one value of a label."""

    value: str
    counts: Counts
    rate: Figure
    throughput: Figure
    mean: Figure
    """Of the response times of what passed."""
    deviation: float | None
    """Standard deviation of these, ns; None below two."""
    quantiles: dict[float, Figure]
    """0.5, 0.9, 0.99 of response times over all that was begun."""
    apart: Figure | None
    """By how much its mean differs from that of the others, as a fraction of theirs; None if it does not stand out."""
    bins: tuple[int, ...] = ()
    """Counts of passed operations between successive edges; empty if none passed."""
    line: LabelLine | None = None
    """The same against time, for the values with the most."""


@dataclass(frozen=True, slots=True)
class Breakdown:
    """One operation by the values of one label."""

    label: str
    values: tuple[LabelFigure, ...]
    more: int = 0
    """Values that are not listed one by one."""
    edges: tuple[float, ...] = ()
    """Of the bins of all values, ns."""
