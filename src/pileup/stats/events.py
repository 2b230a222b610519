"""What happened to the run, as results tell it: faults, settings, cooldowns, lost places, servers, pauses, notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from pileup.model.event import Event
from pileup.model.manifest import Session
from pileup.model.units import format_time

MOST = 5000
"""Events that results hold: the first."""
LEFT_OUT = ("case",)
"""Kinds that the cases tell themselves."""
ABOUT = ("target", "place", "monitor", "visit")
"""Fields that say what an event is about, the first that there is."""


def events(found: Iterable[dict[str, Any]], sessions: Sequence[Session] = ()) -> tuple[Event, ...]:
    """Return events of the record in the order of time, and the pauses between the sessions of a run."""
    known = list(found)
    kept = [_event(each) for each in known if each.get("kind") not in LEFT_OUT]
    kept += _pauses(sorted(_time(each.get("time"), 0) for each in known), sessions)
    return tuple(sorted(kept, key=lambda event: event.begin)[:MOST])


def _pauses(times: Sequence[int], sessions: Sequence[Session]) -> Iterator[Event]:
    """Yield when nothing ran because a run was stopped, or had crashed, and was taken up again later.

    A crash tells no end: then the last event before the next session stands for it.
    """
    for before, after in pairwise(sessions):
        begin = after.started
        last = [time for time in times if time < begin][-1:] or [begin]
        end = last[0] if before.ended is None else before.ended
        yield Event("pause", f"taken up again after {format_time(max(0, begin - end))}", min(begin, end), begin)


def _event(each: dict[str, Any]) -> Event:
    time = _time(each.get("time"), 0)
    begin = _time(each.get("begin"), time)
    about = next((f"{each[name]}" for name in ABOUT if each.get(name) not in (None, "")), "")
    kind = str(each.get("kind", ""))
    end = max(begin, _time(each.get("end"), begin))
    fault, number = str(each.get("name") or ""), _time(each.get("fault"), -1)
    gone = _known(each.get("gone"))
    return Event(kind, str(each.get("text", "")), begin, end, about, fault=fault, number=number, gone=gone)


def _time(value: object, otherwise: int) -> int:
    known = _known(value)
    return otherwise if known is None else known


def _known(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
