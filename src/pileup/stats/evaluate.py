"""The figure that a check asks for: of a test out of frames and the record, of a monitor out of its samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pileup._core._native import Histogram
from pileup.model import units
from pileup.model.check import TIMES, Check, Selected
from pileup.model.record import Frame
from pileup.model.results import Figure, Interval
from pileup.stats import rates
from pileup.stats.correlated import Dependence, pooled_error, pooled_factor
from pileup.stats.distribution import TOO_FEW, mean, quantile
from pileup.stats.intervals import LEVEL, Z, quantile_ranks, wilson
from pileup.stats.measured import Measured, Tally
from pileup.stats.sample_mean import mean_of
from pileup.stats.window import Window

Rows = Callable[[str | None, str], NDArray[np.float64]]
"""(operation, field) -> the values of what passed, in the order of their starts."""

NOTHING = "nothing measured"


@dataclass(slots=True)
class Part:
    """What is known of one case: its frames added up, its measured time, its rows."""

    measured: Measured
    window: Window | None = None
    frames: Sequence[Frame] = field(default_factory=tuple)
    rows: Rows | None = None
    detached: Mapping[str, Window] = field(default_factory=dict)
    """Operation that outlives its iterations -> the time from the first of them to the end of the last."""
    dependence: Mapping[tuple[str, bool], Dependence] = field(default_factory=dict)
    """(operation, iteration) -> how its values depend on their neighbours, where that is known."""

    def known(self, tally: Tally) -> Dependence | None:
        """Return how the values of an operation depend on their neighbours; those of service times as of responses."""
        return self.dependence.get((tally.operation, tally.iteration))

    def rate(self, tally: Tally) -> Figure:
        """Return what passed per second of an operation."""
        return rates.rate(tally, self.measured, *self._time(tally), self.known(tally))

    def throughput(self, tally: Tally) -> Figure:
        """Return the bytes per second that passed of an operation."""
        return rates.throughput(tally, self.measured, *self._time(tally), self.known(tally))

    def seconds(self, tally: Tally | None = None) -> float:
        """Return how long an operation, or else the case, was measured."""
        window = self._time(tally)[0] if tally else self.window
        return window.seconds if window else self.measured.seconds

    def is_detached(self, tally: Tally) -> bool:
        """Return whether an operation outlives its iterations."""
        return not tally.iteration and tally.operation in self.detached

    def _time(self, tally: Tally) -> tuple[Window | None, Sequence[Frame]]:
        return (self.detached[tally.operation], ()) if self.is_detached(tally) else (self.window, self.frames)


def of_test(check: Check, selected: Selected, parts: Sequence[Part]) -> Figure:
    """Return the figure of a check on a test over the cases in `parts`, one after another.

    Without a value its note says why. The dimension is that of `selected`.
    """
    tallies = [(part, tally) for part in parts for tally in part.measured.named(selected.operation)]
    missed = sum(part.measured.missed for part in parts)
    if not tallies and not (selected.operation is None and missed):
        return Figure(None, selected.dimension or "", None, 0, NOTHING)
    if check.function in ("count", "rate", "fraction", "sum"):
        return _counted(check, selected, tallies, missed, parts)
    return _of_values(check, selected, tallies, parts)


def _counted(
    check: Check, selected: Selected, tallies: list[tuple[Part, Tally]], missed: int, parts: Sequence[Part]
) -> Figure:
    ended = sum(tally.ended for _, tally in tallies)
    amount = missed if selected.field == "missed" else sum(_amount(tally, selected.field) for _, tally in tallies)
    match check.function:
        case "count" if selected.field in ("bytes", "calls"):
            return Figure(float(_sum(tallies, "passed")), "count", None, ended)
        case "fraction":
            whole = ended + (missed if selected.field == "missed" else 0)
            if whole == 0:
                return Figure(None, "fraction", None, 0, NOTHING)
            widened = _bursts(tallies)
            return Figure(amount / whole, "fraction", wilson(amount / widened, whole / widened), whole)
        case "rate":
            return _rate(selected, tallies, amount, parts)
        case "sum" if selected.field in TIMES:
            whole_time = sum(_histogram(tally, selected.field).mean * tally.counts["passed"] for _, tally in tallies)
            return Figure(whole_time, "time", None, ended)
    return Figure(float(amount), selected.dimension or "count", None, ended)


def _bursts(tallies: list[tuple[Part, Tally]]) -> float:
    """Return how much less outcomes tell that come in bursts: the inflation of shares, over all cases."""
    ended = sum(tally.ended for _, tally in tallies)
    known = ((tally.ended, part.known(tally)) for part, tally in tallies)
    effective = sum(n / (found.not_passed if found else 1.0) for n, found in known)
    return ended / effective if effective else 1.0


def _rate(selected: Selected, tallies: list[tuple[Part, Tally]], amount: int, parts: Sequence[Part]) -> Figure:
    dimension = selected.dimension or ""
    if selected.field in (*TIMES, "passed", "bytes") and tallies:
        return _pooled_rate(selected, tallies, parts)
    seconds = sum(part.seconds(tallies[0][1] if tallies else None) for part in parts)
    if seconds <= 0:
        return Figure(None, dimension, None, 0, NOTHING)
    value = amount / seconds
    return Figure(value, dimension, rates.interval(value, amount, ()), amount)


def _pooled_rate(selected: Selected, tallies: list[tuple[Part, Tally]], parts: Sequence[Part]) -> Figure:
    """Return what was done in all parts per second of all of them; the intervals of the parts add up as errors do."""
    figures = [(part.throughput if selected.field == "bytes" else part.rate)(tally) for part, tally in tallies]
    if len(figures) == 1 and len(parts) == 1:
        return figures[0]
    lengths = [part.seconds(tally) for part, tally in tallies]
    seconds = sum(part.seconds(next((tally for one, tally in tallies if one is part), None)) for part in parts)
    n = sum(figure.n for figure in figures)
    if seconds <= 0:
        return Figure(None, selected.dimension or "", None, n, NOTHING)
    value = sum((figure.value or 0.0) * length for figure, length in zip(figures, lengths, strict=True)) / seconds
    halves = [
        (figure.interval.high - figure.interval.low) / 2 * length
        for figure, length in zip(figures, lengths, strict=True)
        if figure.interval
    ]
    half = math.hypot(*halves) / seconds
    return Figure(value, selected.dimension or "", Interval(max(0.0, value - half), value + half, LEVEL), n)


def _of_values(check: Check, selected: Selected, tallies: list[tuple[Part, Tally]], parts: Sequence[Part]) -> Figure:
    dimension = selected.dimension or ""
    if selected.field not in TIMES or check.function in ("first", "last"):
        found = [part.rows(selected.operation, selected.field) for part in parts if part.rows is not None]
        return of_values(check, np.concatenate(found) if found else np.empty(0), dimension)
    histogram = Histogram()
    for _, tally in tallies:
        histogram.add(_histogram(tally, selected.field))
    if histogram.count == 0:
        return Figure(None, dimension, None, 0, NOTHING)
    if check.function == "quantile":
        share = check.quantile or 0.5
        return quantile(histogram, share, pooled_factor(share, _known(tallies)))
    if check.function == "mean":
        return _mean(histogram, _known(tallies))
    extremes = {"min": histogram.min, "max": histogram.max}
    return Figure(float(extremes.get(check.function, histogram.max - histogram.min)), dimension, None, histogram.count)


Known = list[tuple[int, Dependence | None]]


def _known(tallies: list[tuple[Part, Tally]]) -> Known:
    return [(tally.counts["passed"], part.known(tally)) for part, tally in tallies]


def _mean(histogram: Histogram, known: Known) -> Figure:
    """Return the mean of one case, or of several together."""
    if len(known) == 1:
        return mean(histogram, known[0][1])
    error = pooled_error(known)
    if error is None:
        return mean(histogram)
    low, high = histogram.mean - Z * error, histogram.mean + Z * error
    return Figure(histogram.mean, "time", Interval(max(0.0, low), high, LEVEL), histogram.count)


def of_values(check: Check, values: NDArray[np.float64], dimension: str) -> Figure:
    """Return the figure of a check over plain values in the order of their times."""
    n = len(values)
    if check.function == "count":
        return Figure(float(n), "count", None, n, "" if n else NOTHING)
    if n == 0:
        return Figure(None, dimension, None, 0, NOTHING)
    match check.function:
        case "quantile":
            return _quantile_of(values, check.quantile or 0.5, dimension)
        case "first":
            found = float(values[0])
        case "last":
            found = float(values[-1])
        case "width":
            found = float(np.max(values) - np.min(values))
        case "mean":
            return mean_of(values, dimension)
        case function:
            found = float(getattr(np, function)(values))  # sum, min, max: the functions left by the grammar
    return Figure(found, dimension, None, n)


def _quantile_of(values: NDArray[np.float64], share: float, dimension: str) -> Figure:
    ranks = quantile_ranks(share, len(values))
    if ranks is None:
        return Figure(None, dimension, None, len(values), TOO_FEW)
    ordered = np.sort(values)
    value = float(ordered[min(len(values), max(1, int(np.ceil(share * len(values))))) - 1])
    return Figure(
        value, dimension, Interval(float(ordered[ranks[0] - 1]), float(ordered[ranks[1] - 1]), LEVEL), len(values)
    )


def to_base(values: NDArray[np.float64], unit: str) -> tuple[NDArray[np.float64], str]:
    """Return samples in the base unit of their dimension, and that dimension; unknown units stay as they are."""
    dimension = units.dimension_of(unit) if unit else None
    if dimension is None:
        return values, ""
    return values * float(units.DIMENSIONS[dimension].units[unit]), dimension


def words(figure: Figure) -> str:
    """Return a figure with its interval for people: `25.1 ms (24.8 ms to 25.5 ms)`."""
    if figure.value is None:
        return figure.note or NOTHING
    text = amount(figure.value, figure.dimension)
    if figure.interval is None:
        return text
    return (
        f"{text} ({amount(figure.interval.low, figure.dimension)} to {amount(figure.interval.high, figure.dimension)})"
    )


def amount(value: float, dimension: str) -> str:
    """Return a value of a dimension for people; a plain number where there is none."""
    if value < 0:
        return f"-{amount(-value, dimension)}"
    return units.format_quantity(value, dimension) if dimension else f"{value:.4g}"


def _amount(tally: Tally, name: str) -> int:
    if name in TIMES:
        return tally.counts["passed"]
    return int(getattr(tally, name)) if name in ("bytes", "calls") else tally.counts.get(name, 0)


def _sum(tallies: list[tuple[Part, Tally]], name: str) -> int:
    return sum(_amount(tally, name) for _, tally in tallies)


def _histogram(tally: Tally, name: str) -> Histogram:
    return tally.service if name == "service" else tally.response
