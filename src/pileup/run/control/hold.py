"""A load with `hold`: each sample measures the quantity from the record and sets the controller's level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pileup._core._native import now
from pileup.fleet import Pressing
from pileup.model import check as checks
from pileup.model.loads.hold import IN_FLIGHT, OPEN, Hold
from pileup.model.loads.levels import HELD, HELD_LEVEL, HELD_VALUE
from pileup.model.plan import Case, Plan
from pileup.model.record import PASSED, UNKNOWN, CaseOutcome, Sample
from pileup.model.units import DIMENSIONS, format_time
from pileup.run.control.controller import MOST_DEAD, Controller, LevelBounds
from pileup.stats.loads.gauge import Count, Gauge

if TYPE_CHECKING:
    from pileup.run.session import Live

STEP = 0.1
"""Largest change of the level per sample, as a share of its range."""
COUNTED = 1
"""Longest dead time, in samples, of iterations in flight: they are counted here, but frames of other hosts are late."""


class Steering:
    """Serves one load: `look` is to be called at every beat, after what happened is in the record."""

    def __init__(self, live: Live, case: Case, hold: Hold) -> None:
        self._live, self._case, self._hold = live, case, hold
        self._gauge = gauge_of(hold, live.plan, case)
        low, high = hold.between
        sign = 1 if hold.effect == "raises" else -1
        bounds = LevelBounds(low, high, STEP * (high - low), hold.by == "clients")
        own = isinstance(self._gauge, Gauge) and self._gauge.selected.kind == "test"
        self._controller = Controller(hold.set_point, hold.half, bounds, hold.first, sign, dead_of(hold), own)
        self._begin = self._due = now()
        self._frames = live.folder.tail_frames(None)[1]
        self._samples = live.folder.end_of_samples()
        self._reached = self._told = False
        self._last: float | None = None

    def look(self, pressing: Pressing) -> None:
        """Measure and set the level of the load, when it is time to."""
        moment = now()
        if moment < self._due + self._hold.every - SLACK:
            return
        self._due += self._hold.every * max(1, (moment - self._due + SLACK) // self._hold.every)
        frames, self._frames = self._live.folder.tail_frames(self._frames)
        samples, self._samples = self._live.folder.tail_samples(self._samples)
        value = self._gauge.look(moment, frames, samples)
        self._last = value if value is not None else self._last
        if self._gauge.problem and not self._told:
            self._told = True
            self._live.book.note(self._case, f"nothing could be held: {self._gauge.problem}")
        level = self._controller.step(value)
        if pressing.over:
            return
        pressing.set_level(level)
        self._record(moment, value, level)

    def idle(self) -> tuple[CaseOutcome, str]:
        """Return how a load ended that had no iteration: others may keep the quantity where it should be, or beyond."""
        hold = self._hold
        if self._reached:
            return PASSED, f"no iteration was needed: {hold.metric} was within its band without one"
        if self._last is None:
            return UNKNOWN, f"no iteration was made: {hold.metric} was never measured"
        where = "above" if self._last > hold.set_point else "below"
        return UNKNOWN, f"no iteration was made: {hold.metric} was never within its band, and {where} it at the end"

    def _record(self, moment: int, value: float | None, level: float) -> None:
        add, name, hold = self._live.monitors.add, self._case.test.name, self._hold
        add(name, moment, Sample(HELD_LEVEL, level, "/s" if hold.by == "rate" else ""))
        if value is None:
            return
        inside = abs(value - hold.set_point) <= hold.half
        add(name, moment, Sample(HELD_VALUE, value, base_unit(hold.check.dimension)))
        if moment >= self._begin + hold.settle:
            add(name, moment, Sample(HELD, 100.0 if inside else 0.0, "%"))
        if inside and not self._reached:
            self._reached = True
            took = format_time(moment - self._begin)
            told = f"{self._case.name}: {hold.metric} is in its band around {hold.at} after {took}"
            self._live.folder.event("hold", told, case=self._case.name)


def dead_of(hold: Hold) -> int:
    """Return the longest dead time, in samples, that the quantity of a hold can have."""
    return COUNTED if hold.special is not None and hold.special[0] == IN_FLIGHT else MOST_DEAD


SLACK = 200_000_000
"""A beat that is at most this early, ns, counts as a sample, too."""


def base_unit(dimension: str) -> str:
    """Return the unit in which values of a dimension are plain numbers; empty for none."""
    known = DIMENSIONS[dimension].units if dimension in DIMENSIONS else {}
    return next((unit for unit, factor in known.items() if factor == 1), "")


def gauge_of(hold: Hold, plan: Plan, case: Case) -> Gauge | Count:
    """Return what measures the quantity of a hold: for tests that of the cases of the same stay at a point."""
    if hold.special is not None:
        word, test = hold.special
        return Count(cases_of(plan, case, test).__contains__, ledger=word == OPEN)
    monitors = [spec.name or spec.use for spec in plan.suite.monitors]
    selected = checks.resolve(hold.check, [test.name for test in plan.suite.tests], monitors)
    mine = cases_of(plan, case, selected.name)
    names = frozenset({selected.name, *(plan.case(number).name for number in mine)})
    return Gauge(hold.check, selected, mine.__contains__, hold.over or hold.every, names)


def cases_of(plan: Plan, case: Case, test: str) -> set[int]:
    """Return the cases of a test at the stay of another case at a point; of all stays where it has none there."""
    found = {each.id for each in plan.cases if each.test.name == test and each.loop == case.loop}
    near = {number for number in found if plan.case(number).visit == case.visit}
    return near or found
