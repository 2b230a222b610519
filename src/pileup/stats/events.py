"""Events of the run in results: faults, settings, cooldowns, lost places, servers, pauses, notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from pileup.model.event import REPORT, Event
from pileup.model.journal import EventEntry
from pileup.model.manifest import Session
from pileup.model.units import format_time
from pileup.record import RunFolder

MOST = 5000
"""Events that results hold: the first."""
LEFT_OUT = ("case", REPORT)
"""Kinds that are in the cases, and what `not_written` has."""
ABOUT = ("target", "place", "monitor", "visit", "report")
"""Fields that say what an event is about, the first that there is."""


def events(found: Iterable[EventEntry], sessions: Sequence[Session] = ()) -> tuple[Event, ...]:
    """Return events of the record in the order of time, and the pauses between the sessions of a run."""
    known = list(found)
    kept = [_event(each) for each in known if each.kind not in LEFT_OUT]
    kept += _pauses(sorted(each.time for each in known), sessions)
    return tuple(sorted(kept, key=lambda event: event.begin)[:MOST])


def not_written(folder: RunFolder) -> tuple[Event, ...]:
    """Return the events of reports that are not there, each once: one may have been written since."""
    found = [each for each in folder.events() if each.kind == REPORT]
    absent = [_event(each) for each in found if not each.file or not (folder.path / each.file).exists()]
    return tuple({event.text: event for event in absent}.values())


def _pauses(times: Sequence[int], sessions: Sequence[Session]) -> Iterator[Event]:
    """Yield when nothing ran because a run was stopped, or had crashed, and was resumed later.

    A crash records no end: then the last event before the next session is used.
    """
    for before, after in pairwise(sessions):
        begin = after.started
        last = [time for time in times if time < begin][-1:] or [begin]
        end = last[0] if before.ended is None else before.ended
        yield Event("pause", f"resumed after {format_time(max(0, begin - end))}", min(begin, end), begin)


def _event(each: EventEntry) -> Event:
    begin = each.time if each.begin is None else each.begin
    end = begin if each.end is None else max(begin, each.end)
    about = next((f"{word}" for name in ABOUT if (word := getattr(each, name)) not in (None, "")), "")
    number = -1 if each.fault is None else each.fault
    return Event(
        each.kind, each.text, begin, end, about, fault=each.name, says=each.says, number=number, gone=each.gone
    )
