"""When a sustained load became steady: by its rate and its response times, second by second."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from pileup.model.event import Event
from pileup.model.figure_words import amount
from pileup.model.manifest import CaseEntry
from pileup.model.record import Frame, Phase
from pileup.model.results import SteadyState, Timeline
from pileup.model.units import format_time
from pileup.stats.frames.timeline import timeline
from pileup.stats.frames.window import Window
from pileup.stats.loads.steady_state import LEAST, steady

SECOND = 10**9
LATE = 5 * SECOND
"""So much of the measured time may lie before steady state: it is known to so many seconds only."""
UPSETTING = frozenset({"fault", "setting", "server", "place"})
"""Events after which a load is not the same as before: then nothing is said of a beginning."""
SERIES = (("the median response", "p50", "time"), ("the rate", "passed", "rate"))
LEVEL = frozenset({Phase.WARM_UP, Phase.MEASURE})
"""Phases in which a load has its full level."""


def settled(
    case: CaseEntry, frames: Sequence[Frame], window: Window | None, events: Iterable[Event]
) -> SteadyState | None:
    """Return when a case became steady.

    None where that cannot be reported: less than 50 s at one level, a level that changes by itself, or something that
    upset it.
    """
    if window is None or case.spans or _changes(case) or len(frames) < LEAST:
        return None
    if any(
        event.kind in UPSETTING and event.end > (case.started or 0) and event.begin < window.end for event in events
    ):
        return None
    found = timeline(frames)
    level = [place for place, phase in enumerate(found.phase) if phase in LEVEL] if found else []
    if found is None or len(level) < LEAST:
        return None
    several = [each for name in SERIES if (each := _of_series(found, level, window, name)) is not None]
    # what never becomes steady decides, else what becomes so last
    return max(several, key=lambda each: math.inf if each.began is None else each.began, default=None)


def _changes(case: CaseEntry) -> bool:
    """Whether the level of its load changes by itself."""
    return any((case.hold, case.find, case.replay))


def _of_series(
    found: Timeline, level: Sequence[int], window: Window, series: tuple[str, str, str]
) -> SteadyState | None:
    name, column, dimension = series
    values = getattr(found, column)
    known = [place for place in level if values[place] is not None]
    told = steady([values[place] for place in known])
    if told is None:
        return None
    begin = _begin(found, level[0])
    began = None if told.first is None else _begin(found, known[told.first]) if told.first else begin
    late = max(0, (window.end if began is None else began) - window.begin)
    return SteadyState(name, dimension, began, begin, late, told.before, told.after)


def _begin(found: Timeline, place: int) -> int:
    return found.times[place] - int(found.seconds[place] * SECOND)


def settled_words(found: SteadyState) -> str:
    """Return what is to be said of the figures; empty when all that was measured was steady."""
    before, after = (amount(value, found.dimension) for value in (found.before, found.after))
    if found.began is None:
        return (
            f"no steady state: {found.series} changed to the end (mean {before}, in the second half {after}); "
            "the figures depend on how long was measured"
        )
    if found.late <= LATE:
        return ""
    wanted = math.ceil((found.began - found.level) / SECOND) * SECOND
    return (
        f"steady state began {format_time(found.late // SECOND * SECOND)} into the measured time: {found.series} was "
        f"{before} in the mean until then, {after} from then on, and the figures hold both; "
        f"`warm_up: {format_time(wanted)}` would leave the beginning out"
    )


def event(name: str, found: SteadyState) -> Event | None:
    """Return the mark of steady state for charts; None where it was there from the begin, or never."""
    if found.began is None or found.began <= found.level:
        return None
    took = format_time((found.began - found.level) // SECOND * SECOND)
    return Event("steady", f"{name}: steady state, {took} after the load had its level", found.began, found.began, name)
