"""Figures of the time to rest where a system did not come to rest in time: all that is known is that it takes longer.

Such a value is censored from the right: a figure is only known to be larger than what it would be with the times waited
in place of the times to rest, unless values that are known decide it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pileup.model.check import Check, Selected
from pileup.model.figures import Figure
from pileup.model.rest import COOLDOWN, STILL_BUSY, TIME_TO_IDLE
from pileup.stats.monitors import MetricSeries
from pileup.stats.verdicts.resolve import of_values, to_base

TIME = "time"
NEVER = "it did not come to rest in time"
Visits = Collection[int] | None
"""Visits to the point that is asked for; None: all of the run."""


@dataclass(frozen=True, slots=True)
class _Times:
    """Times to rest, or times waited where they are not `known`, in the order in which they were reported; ns."""

    values: NDArray[np.float64]
    known: NDArray[np.bool_]


def rest(check: Check, selected: Selected, series: Sequence[MetricSeries], visits: Visits) -> Figure | None:
    """Return a figure of the time to rest; None for one of another metric, and where the system always came to rest."""
    if (selected.name, selected.metric) != (COOLDOWN, TIME_TO_IDLE):
        return None
    if check.function == "count" or check.dimension != TIME:
        return None
    times = _times([each for each in series if each.has(selected.labels)], visits)
    if times.known.all():
        return None
    figure = of_values(check, times.values, TIME)
    least = float(times.values[~times.known].min())
    if figure.value is None or check.function == "width":
        return replace(figure, value=None, interval=None, note=figure.note or NEVER)
    if _is_known(check, figure.value, least, times):
        sure = figure.interval is not None and figure.interval.high < least
        return figure if sure else replace(figure, interval=None)
    return replace(figure, value=None, interval=None, note=NEVER, above=figure.value)


def _is_known(check: Check, value: float, least: float, times: _Times) -> bool:
    """Return whether a figure is made of times to rest alone. `least` is the shortest time that was waited in vain."""
    match check.function:
        case "min" | "quantile":
            return value < least
        case "first":
            return bool(times.known[0])
        case "last":
            return bool(times.known[-1])
        case _:
            return False


def _times(series: Sequence[MetricSeries], visits: Visits) -> _Times:
    found: list[tuple[int, float, bool]] = []
    for each in series:
        told = each.monitor == COOLDOWN and each.metric in (TIME_TO_IDLE, STILL_BUSY)
        if told and (visits is None or each.visit in visits):
            values, _ = to_base(np.asarray(each.values, dtype=float), each.unit)
            known = each.metric == TIME_TO_IDLE
            found += [(time, value, known) for time, value in zip(each.times, values.tolist(), strict=True)]
    found.sort()
    return _Times(np.array([value for _, value, _ in found]), np.array([known for _, _, known in found], dtype=bool))
