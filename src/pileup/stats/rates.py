"""Rates with intervals: how many, and how much, per second of measured time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from pileup.model.record import Frame, Phase
from pileup.model.results import Figure, Interval
from pileup.stats.correlated import Dependence, amount_interval
from pileup.stats.intervals import LEVEL, batch_means, poisson
from pileup.stats.measured import MOST_SHORT, Measured, Tally
from pileup.stats.window import Window


def rate(
    tally: Tally, measured: Measured, window: Window | None, frames: Sequence[Frame], known: Dependence | None = None
) -> Figure:
    """Return what passed per second of an operation; its interval by what is known of dependence, else by seconds."""
    passed, _, seconds = done(tally, measured, window)
    if known is not None and known.count is not None and window is not None:
        return _known(passed, known.count, window, "rate", tally)
    return _figure(passed, seconds, "rate", tally, _series(frames, tally, "passed"))


def _known(amount: float, half: float, window: Window, dimension: str, tally: Tally) -> Figure:
    value, half = amount / window.seconds, half / window.seconds
    return Figure(value, dimension, amount_interval(value, half), tally.counts["passed"])


def throughput(
    tally: Tally, measured: Measured, window: Window | None, frames: Sequence[Frame], known: Dependence | None = None
) -> Figure:
    """Return the bytes per second that passed of an operation."""
    _, moved, seconds = done(tally, measured, window)
    if known is not None and known.moved is not None and window is not None:
        return _known(moved, known.moved, window, "bandwidth", tally)
    return _figure(moved, seconds, "bandwidth", tally, _series(frames, tally, "bytes"))


def done(tally: Tally, measured: Measured, window: Window | None) -> tuple[float, float, float]:
    """Return what passed, its bytes, and the seconds that took: by the window, else by the frames."""
    if window is not None:
        return (*window.done.get((tally.operation, tally.iteration), (0.0, 0.0)), window.seconds)
    return float(tally.counts["passed"]), float(tally.bytes), measured.seconds


def _figure(amount: float, seconds: float, dimension: str, tally: Tally, series: Sequence[float]) -> Figure:
    n = tally.counts["passed"]
    if seconds <= 0:
        return Figure(None, dimension, None, n, "nothing measured")
    value = amount / seconds
    return Figure(value, dimension, interval(value, n, series), n)


def interval(value: float, n: int, series: Sequence[float]) -> Interval | None:
    """Return the interval of a rate: by batches of seconds, or as independent events where there are too few of them.

    The batches give the width; the rate is in the middle, for it knows the edges of the measured time better.
    """
    batches = batch_means(series) if n >= MANY else None
    if batches is not None:
        half = (batches.high - batches.low) / 2
        return amount_interval(value, half)
    if n == 0:
        return None
    events = poisson(n)
    return Interval(value * events.low / n, value * events.high / n, LEVEL)


MANY = 30
"""Fewer events than this are taken as independent: their batches would be mostly empty."""


def _series(frames: Sequence[Frame], tally: Tally, amount: str) -> list[float]:
    """Return amounts per second while measuring, summed over places, by the time things ended."""
    key = (tally.operation, tally.iteration)
    parts: dict[tuple[int, int], tuple[int, int]] = {}
    for frame in frames:
        if frame.phase == Phase.MEASURE and frame.nanoseconds >= MOST_SHORT:
            # Two frames of a place may end in one second, none in the next: together they are no double rate.
            place = (frame.time // 10**9, frame.place)
            before, nanoseconds = parts.get(place, (0, 0))
            found = sum(getattr(row, amount) for row in frame.rows if (row.operation, row.iteration) == key)
            parts[place] = (before + found, nanoseconds + frame.nanoseconds)
    rates = [(second, found / nanoseconds * 1e9) for (second, _), (found, nanoseconds) in sorted(parts.items())]
    return [sum(value for _, value in group) for _, group in groupby(rates, key=lambda rate: rate[0])]
