"""Rates with intervals: what ended, and what came, in the measured time by that time (`stats/frames/window.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pileup.model.figures import Figure, Interval
from pileup.model.record import Frame, FrameRow
from pileup.record.tally import Tally
from pileup.stats.frames import timeline
from pileup.stats.frames.totals import Measured
from pileup.stats.frames.window import Window
from pileup.stats.intervals.confidence import LEVEL, batch_means, poisson
from pileup.stats.intervals.correlated import Dependence, amount_interval

WRONG = ("failed", "refused", "ambiguous")
"""Outcomes of what ended by itself and did not pass."""


def rate(
    tally: Tally, measured: Measured, window: Window | None, frames: Sequence[Frame], known: Dependence | None = None
) -> Figure:
    """Return what passed per second of an operation; its interval by what is known of dependence, else by seconds."""
    seconds = window.seconds if window is not None else measured.seconds
    if takes_longer(tally, measured) and seconds > 0:
        return _longer(tally, measured, seconds)
    if known is not None and known.count is not None and window is not None:
        return _known(tally.done, known.count, window, "rate", tally)
    return _figure(tally.done, seconds, "rate", tally, _seconds(frames, tally, lambda row: row.passed))


def throughput(
    tally: Tally, measured: Measured, window: Window | None, frames: Sequence[Frame], known: Dependence | None = None
) -> Figure:
    """Return the bytes per second of an operation."""
    seconds = window.seconds if window is not None else measured.seconds
    by_ends = not takes_longer(tally, measured)
    if by_ends and known is not None and known.moved is not None and window is not None:
        return _known(tally.moved, known.moved, window, "bandwidth", tally)
    return _figure(tally.moved, seconds, "bandwidth", tally, _seconds(frames, tally, lambda row: row.moved))


def takes_longer(tally: Tally, measured: Measured) -> bool:
    """Return whether operations take longer than the measured time, and too few ended in it to know their rate.

    By Little's law (J. D. C. Little, Oper. Res. 9 (1961) 383) the mean number under way is rate x duration: it is as
    large as the number that ended where the duration is as long as the measured time. What was wrong has ended, too.
    """
    ended = tally.done + sum(tally.counts[name] for name in WRONG)
    return tally.iteration and ended < MANY and measured.left >= max(1, ended)


def _longer(tally: Tally, measured: Measured, seconds: float) -> Figure:
    """Return a rate of operations that are longer than the measured time.

    What ended inside may have begun before it, and what is under way at the end may have been about to end: the
    interval goes from the one to the other, and holds that of independent events.
    """
    events = poisson(tally.done)
    low = min(events.low, max(0, tally.done - measured.left))
    high = max(events.high, tally.done + measured.left)
    return Figure(tally.done / seconds, "rate", Interval(low / seconds, high / seconds, LEVEL), tally.done)


def _known(amount: float, half: float, window: Window, dimension: str, tally: Tally) -> Figure:
    value, half = amount / window.seconds, half / window.seconds
    return Figure(value, dimension, amount_interval(value, half), tally.done)


def _figure(amount: float, seconds: float, dimension: str, tally: Tally, series: Sequence[float]) -> Figure:
    n = tally.done
    if seconds <= 0:
        return Figure(None, dimension, None, n, "nothing measured")
    value = amount / seconds
    if dimension == "rate":
        return Figure(value, dimension, interval(value, n, series, seconds), n)
    return Figure(value, dimension, interval(value, n, series), n)


def interval(value: float, n: int, series: Sequence[float], seconds: float = 0.0) -> Interval | None:
    """Return the interval of a rate: by batches of seconds, or as independent events where there are too few of them.

    The batches give the width; the rate is in the middle, for it knows the edges of the measured time better. Where
    nothing ended, `seconds` says in what time.
    """
    batches = batch_means(series) if n >= MANY or seconds == 0 else None
    if batches is not None:
        half = (batches.high - batches.low) / 2
        return amount_interval(value, half)
    if n == 0:
        return Interval(0.0, poisson(0).high / seconds, LEVEL) if seconds > 0 else None
    events = poisson(n)
    return Interval(value * events.low / n, value * events.high / n, LEVEL)


MANY = 30
"""Fewer events than this are taken as independent: their batches would be mostly empty."""


def _seconds(frames: Sequence[Frame], tally: Tally, of: Callable[[FrameRow], int]) -> list[float]:
    """Return an amount of an operation per second while measuring, by the time things ended."""
    return timeline.amounts(frames, (tally.operation, tally.iteration), of)
