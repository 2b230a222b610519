"""What is alive while a run goes on: the record, the place, the monitors, the guard; and the beat that serves them."""

from __future__ import annotations

from dataclasses import dataclass

from pileup._core._native import now
from pileup.fleet import LocalPlace, Pressing
from pileup.model.plan import Plan
from pileup.model.record import Sample
from pileup.record import RunFolder
from pileup.run.guard import Guard
from pileup.run.monitors import MonitorClock
from pileup.run.stop import Haste, Stop
from pileup.run.targets import Targets

BEAT = 10**9
"""Interval of frames, ns."""
SLICE = 0.1
"""Longest time, in seconds, that a wish to stop goes unnoticed."""
GRACE = 2 * 10**9
"""What a case may take beyond its longest possible time, ns, before it is ended."""


@dataclass(slots=True)
class Live:
    """Handed to whatever carries a part of the plan out."""

    plan: Plan
    folder: RunFolder
    targets: Targets
    place: LocalPlace
    monitors: MonitorClock
    guard: Guard
    stop: Stop

    def pause(self, nanoseconds: int) -> None:
        """Let time go by with the monitors served; ends early when the run shall stop."""
        until = now() + nanoseconds
        while (left := until - now()) > 0 and not self.stop.wait(min(left, BEAT) / 1e9):
            self.monitors.write()
            self._check_limits()

    def attend(self, pressing: Pressing, longest: int, heeds: Haste = Haste.IN_ORDER) -> None:
        """Serve a load until it is over, a frame each beat; a wish to stop of at least `heeds` ends it.

        A load that goes on past `longest` (ns) is ended at once: what is under way is unfinished.
        """
        begin = now()
        due = begin + BEAT
        haste = Haste.NONE
        while not pressing.wait(SLICE):
            if now() >= due:
                self._take(pressing)
                due += BEAT * max(1, -(-(now() - due) // BEAT))
            wanted = Haste.AT_ONCE if now() - begin > longest + GRACE else self.stop.haste
            if wanted >= heeds and wanted > haste:
                haste = wanted
                pressing.stop(at_once=haste is Haste.AT_ONCE)
        self._take(pressing)
        pressing.close()

    def _take(self, pressing: Pressing) -> None:
        frame = pressing.frame()
        self.folder.append_frame(frame)
        self.guard.take(frame)
        for moment, metric, value, unit in pressing.reported():
            self.monitors.add(pressing.order.name, moment, Sample(metric, value, unit))
        self.monitors.write()
        self._check_limits()

    def _check_limits(self) -> None:
        passed = self.guard.passed(now())
        if passed and not self.stop.haste:
            self.stop.ask(f"limit: {passed}", Haste.IN_ORDER)
