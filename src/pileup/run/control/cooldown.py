"""After the load of a point: monitors go on until the system has come to rest, and the time that took is reported."""

from __future__ import annotations

from pileup._core._native import now
from pileup.model.record import Sample
from pileup.model.rest import COOLDOWN, STILL_BUSY, TIME_TO_IDLE
from pileup.model.suite import Cooldown
from pileup.model.units import format_time
from pileup.run.session import BEAT, Live
from pileup.stats.loads.rest import RestCheck


def cool_down(live: Live, cooldown: Cooldown, visit: int) -> None:
    """Wait until the check of the cooldown holds, at most its time; the time to rest is an event and a sample.

    A system that is not at rest when the wait ends leaves a sample too: by then it was still busy.
    """
    if lost := next((each for each in live.book.uncovered() if each.what == "cooldown"), None):
        live.folder.event(
            "cooldown", f"no cool-down: {lost.reason}", visit=visit, begin=now(), end=now(), reached=False
        )
        return
    begin = now()
    end = begin + cooldown.at_most
    names = {spec.name or spec.use for spec in live.plan.suite.monitors}
    idle = RestCheck(cooldown.until, names) if cooldown.until is not None else None
    position = live.folder.end_of_samples()
    since: int | None = None
    while since is None and now() < end and not live.stop.haste:
        live.pause(min(BEAT, end - now()))
        rows, position = live.folder.tail_samples(position)
        since = idle.since(row for row in rows if row.time >= begin) if idle is not None else None
    took = (since if since is not None else now()) - begin
    told = _told(cooldown, since is not None, took)
    live.folder.event("cooldown", told, visit=visit, begin=begin, end=begin + took, reached=since is not None)
    if idle is not None:
        metric = TIME_TO_IDLE if since is not None else STILL_BUSY
        live.monitors.add(COOLDOWN, now(), Sample(metric, took / 1e9, "s", f"visit={visit}"))


def _told(cooldown: Cooldown, reached: bool, took: int) -> str:
    if cooldown.until is None:
        return f"cooled down for {format_time(took)}"
    held = "holds after" if reached else "does not hold after"
    return f"{cooldown.until} {held} {format_time(took)}"
