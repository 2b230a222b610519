"""The figure of a check: of a test from frames and the record, of a monitor from its samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from pileup._core._native import Histogram
from pileup.model import units
from pileup.model.check import TIMES, Check, Selected
from pileup.model.figure_words import NOTHING
from pileup.model.figures import Figure, Interval
from pileup.model.record import Frame
from pileup.record.tally import Tally
from pileup.stats.frames.distribution import NEARLY_ALL, TOO_FEW, DueDurations, mean, pooled, quantile
from pileup.stats.frames.totals import Measured, begun
from pileup.stats.frames.window import Window
from pileup.stats.intervals import rates, shares
from pileup.stats.intervals.confidence import LEVEL, Z, quantile_ranks
from pileup.stats.intervals.correlated import Dependence, amount_interval, pooled_error, pooled_factor
from pileup.stats.intervals.sample_mean import mean_of

Rows = Callable[[str | None, str], NDArray[np.float64]]
"""(operation, field) -> the values of what passed, in the order of their starts."""

SERVICE = ("service", "passed_service")
OF_PASSED = ("passed_response", "passed_service")
"""Fields of what passed alone."""


@dataclass(slots=True)
class Part:
    """What is known of one case: its frames added up, its measured time, its rows."""

    measured: Measured
    window: Window | None = None
    frames: Sequence[Frame] = field(default_factory=tuple)
    rows: Rows | None = None
    detached: Mapping[str, Window] = field(default_factory=dict)
    """Asynchronous operation -> the time from the first of them to the end of the last."""
    dependence: Mapping[tuple[str, bool], Dependence] = field(default_factory=dict)
    """(operation, iteration) -> how its values depend on their neighbours, where that is known."""
    timeout: float | None = None
    """What an operation may take, ns."""

    def begun(self, tally: Tally, service: bool = False) -> DueDurations:
        """Return the response times (with `service` the service times) of all that was begun of an operation."""
        return begun(tally, self.timeout, service)

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
        """Return whether an operation is asynchronous."""
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
            return Figure(amount / whole, "fraction", shares.interval(amount, whole, _bursts(tallies, selected)), whole)
        case "rate":
            return _rate(selected, tallies, amount, parts)
        case "sum" if selected.field in TIMES:
            whole_time = sum(_histogram(tally, selected.field).mean * tally.counts["passed"] for _, tally in tallies)
            return of_passed(Figure(whole_time, "time", None, ended), _due(selected, tallies, parts))
    return Figure(float(amount), selected.dimension or "count", None, ended)


def _bursts(tallies: list[tuple[Part, Tally]], selected: Selected) -> shares.Bursts:
    """Return how what is selected comes, over all cases; what was missed has no rows that show it."""
    if selected.field == "missed":
        return shares.SINGLY
    known = [(tally.ended, part.known(tally)) for part, tally in tallies]
    name = "passed" if selected.field in TIMES else selected.field or "passed"
    return shares.pooled([(n, found.bursts(name) if found else None) for n, found in known])


def _rate(selected: Selected, tallies: list[tuple[Part, Tally]], amount: int, parts: Sequence[Part]) -> Figure:
    dimension = selected.dimension or ""
    if selected.field in (*TIMES, "passed", "bytes") and tallies:
        return _pooled_rate(selected, tallies, parts)
    seconds = sum(part.seconds(tallies[0][1] if tallies else None) for part in parts)
    if seconds <= 0:
        return Figure(None, dimension, None, 0, NOTHING)
    value = amount / seconds
    return Figure(value, dimension, rates.interval(value, amount, (), seconds), amount)


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
    return Figure(value, selected.dimension or "", amount_interval(value, half), n)


def _of_values(check: Check, selected: Selected, tallies: list[tuple[Part, Tally]], parts: Sequence[Part]) -> Figure:
    dimension = selected.dimension or ""
    if selected.field not in TIMES or check.function in ("first", "last"):
        found = [part.rows(selected.operation, selected.field) for part in parts if part.rows is not None]
        return of_values(check, np.concatenate(found) if found else np.empty(0), dimension)
    due = _due(selected, tallies, parts)
    if check.function == "quantile":
        share = check.quantile or 0.5
        return quantile(due, share, pooled_factor(share, _known(tallies))) if due.n else _nothing(dimension)
    histogram = due.passed
    if histogram.count == 0:
        return _nothing(dimension)
    if check.function == "mean":
        return of_passed(_mean(histogram, _known(tallies)), due)
    extremes = {"min": histogram.min, "max": histogram.max}
    value = float(extremes.get(check.function, histogram.max - histogram.min))
    return of_passed(Figure(value, dimension, None, histogram.count), due)


def _nothing(dimension: str) -> Figure:
    return Figure(None, dimension, None, 0, NOTHING)


def _due(selected: Selected, tallies: list[tuple[Part, Tally]], parts: Sequence[Part]) -> DueDurations:
    """Return the durations that a check speaks of, of all cases together: what was missed was due, and never begun."""
    service = selected.field in SERVICE
    found = [part.begun(tally, service) for part, tally in tallies]
    missed = sum(part.measured.missed for part in parts) if selected.operation is None and not service else 0
    due = pooled(found, missed)
    return DueDurations(due.passed) if selected.field in OF_PASSED else due


def of_passed(figure: Figure, due: DueDurations) -> Figure:
    """Return a figure of what passed alone, which says so where more than 1 % did not."""
    return replace(figure, passed=due.share) if due.share < NEARLY_ALL else figure


Known = list[tuple[int, Dependence | None]]


def _known(tallies: list[tuple[Part, Tally]]) -> Known:
    return [(tally.ended, part.known(tally)) for part, tally in tallies]


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
    if n == 0 or check.function == "slope":  # which needs times
        return Figure(None, dimension, None, n, NOTHING)
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


def _amount(tally: Tally, name: str) -> int:
    if name in TIMES:
        return tally.counts["passed"]
    return int(getattr(tally, name)) if name in ("bytes", "calls") else tally.counts.get(name, 0)


def _sum(tallies: list[tuple[Part, Tally]], name: str) -> int:
    return sum(_amount(tally, name) for _, tally in tallies)


def _histogram(tally: Tally, name: str) -> Histogram:
    return tally.service if name in SERVICE else tally.response
