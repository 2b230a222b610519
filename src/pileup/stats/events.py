"""What happened to the run, as results tell it: faults, settings, cooldowns, lost places, servers, and notes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pileup.model.results import Event

MOST = 5000
"""Events that results hold: the first."""
LEFT_OUT = ("case",)
"""Kinds that the cases tell themselves."""
ABOUT = ("target", "place", "monitor", "visit")
"""Fields that say what an event is about, the first that there is."""


def events(found: Iterable[dict[str, Any]]) -> tuple[Event, ...]:
    """Return events of the record in the order of time."""
    kept = [_event(each) for each in found if each.get("kind") not in LEFT_OUT]
    return tuple(sorted(kept, key=lambda event: event.begin)[:MOST])


def _event(each: dict[str, Any]) -> Event:
    time = _time(each.get("time"), 0)
    begin = _time(each.get("begin"), time)
    about = next((f"{each[name]}" for name in ABOUT if each.get(name) not in (None, "")), "")
    kind = str(each.get("kind", ""))
    return Event(kind, str(each.get("text", "")), begin, max(begin, _time(each.get("end"), begin)), about)


def _time(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise
