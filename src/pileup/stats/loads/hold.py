"""How well a quantity was held: from the samples of its controller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pileup.model.figure_words import amount
from pileup.model.loads.levels import HELD_LEVEL, HELD_VALUE
from pileup.model.manifest import CaseEntry
from pileup.model.results import HeldLevel
from pileup.model.units import format_time
from pileup.stats.frames.window import Window
from pileup.stats.monitors import MetricSeries, thinned


def held(case: CaseEntry, window: Window | None, series: Sequence[MetricSeries]) -> HeldLevel | None:
    """Return how a case held its quantity over its measured time; None for a case that holds nothing.

    The share is that of the looks: the interval between them is always the same.
    """
    hold = case.hold
    if hold is None:
        return None
    mine = [each for each in series if each.monitor == case.test]
    begin, end = case.started or 0, case.ended or 2**62
    times, values = _within(mine, HELD_VALUE, begin, end)
    level_times, levels = _within(mine, HELD_LEVEL, begin, end)
    low, high = hold.at - hold.half, hold.at + hold.half
    inside = (values >= low) & (values <= high)
    measured = (times >= window.begin) & (times <= window.end) if window else np.zeros(len(times), bool)
    looks = level_times[(level_times >= window.begin) & (level_times <= window.end)] if window else level_times[:0]
    count = int(measured.sum())
    kept, drawn = thinned(values.tolist()), thinned(levels.tolist())
    return HeldLevel(
        metric=hold.metric,
        dimension=hold.dimension,
        set_point=hold.at,
        low=low,
        high=high,
        by=hold.by,
        looks=count,
        blind=max(0, len(looks) - count),
        share=float(inside[measured].mean()) if count else None,
        mean=float(values[measured].mean()) if count else None,
        deviation=float(values[measured].std(ddof=1)) if count > 1 else None,
        farthest=_farthest(values[measured], hold.at),
        reached=int(times[inside][0] - begin) if inside.any() and begin else None,
        times=tuple(int(times[at]) for at in kept),
        values=tuple(float(values[at]) for at in kept),
        level_times=tuple(int(level_times[at]) for at in drawn),
        levels=tuple(float(levels[at]) for at in drawn),
    )


def held_words(held: HeldLevel) -> str:
    """Return how well something was held in one sentence, e.g. for the notes of a case."""
    if held.share is None or held.mean is None or held.farthest is None:
        return f"{held.metric} was never measured after the time to settle: nothing says whether it was held"
    given = held.dimension if held.dimension else ""
    low, high = amount(held.low, given), amount(held.high, given)
    blind = f" ({held.blind} more could not be measured)" if held.blind else ""
    within = round(held.share * held.looks)
    first = "never" if held.reached is None else f"first after {format_time(held.reached)}"
    return (
        f"{held.metric} was between {low} and {high} in {within} of {held.looks} samples{blind}; "
        f"mean {amount(held.mean, given)}, farthest {amount(held.farthest, given)}, within the band {first}"
    )


def _farthest(values: Any, set_point: float) -> float | None:
    """Return the value farthest from the set point."""
    return float(values[np.abs(values - set_point).argmax()]) if len(values) else None


def _within(series: Sequence[MetricSeries], metric: str, begin: int, end: int) -> tuple[Any, Any]:
    found = [each for each in series if each.metric == metric]
    times = np.concatenate([np.asarray(each.times, dtype=np.int64) for each in found] or [np.empty(0, np.int64)])
    values = np.concatenate([np.asarray(each.values, dtype=float) for each in found] or [np.empty(0)])
    inside = (times >= begin) & (times <= end)
    order = np.argsort(times[inside], kind="stable")
    return times[inside][order], values[inside][order]
