"""After the load of a point: monitors go on until the system has come to rest, and the time that took is told."""

from __future__ import annotations

from collections import deque

from pileup import stats
from pileup._core._native import now
from pileup.model.record import Sample, SampleRow
from pileup.model.suite import Cooldown
from pileup.model.units import format_time
from pileup.run.live import BEAT, Live

MOST = 100_000
"""Samples kept for the check: the newest of them."""


def cool_down(live: Live, cooldown: Cooldown, visit: int) -> None:
    """Wait until the check of the cooldown holds, at most its time; the time to rest is an event and a sample."""
    begin = now()
    end = begin + cooldown.at_most
    names = {spec.name or spec.use for spec in live.plan.suite.monitors}
    seen: deque[SampleRow] = deque(maxlen=MOST)
    position = live.folder.end_of_samples()
    reached = False
    while not reached and now() < end and not live.stop.haste:
        live.pause(min(BEAT, end - now()))
        rows, position = live.folder.tail_samples(position)
        seen.extend(row for row in rows if row.time >= begin)
        reached = cooldown.until is not None and stats.holds(cooldown.until, seen, names)
    took = now() - begin
    live.folder.event("cooldown", _told(cooldown, reached, took), visit=visit, begin=begin, end=now(), reached=reached)
    if reached:
        live.monitors.add("cooldown", now(), Sample("time_to_idle", took / 1e9, "s", f"visit={visit}"))


def _told(cooldown: Cooldown, reached: bool, took: int) -> str:
    if cooldown.until is None:
        return f"cooled down for {format_time(took)}"
    held = "holds after" if reached else "does not hold after"
    return f"{cooldown.until} {held} {format_time(took)}"
