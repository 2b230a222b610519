"""The live parts of a run: the record, the fleets, the monitors, the guard; and the beat that serves them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from pileup._core._native import now
from pileup.fleet import Pressing, Work
from pileup.model.ending import StoppedBy
from pileup.model.errors import RecordError
from pileup.model.plan import Case, Plan
from pileup.model.record import Claimed, ClaimRow, Sample
from pileup.record import RunFolder
from pileup.run.control.hold import Steering
from pileup.run.faults.schedule import Faults
from pileup.run.manifest import ManifestWriter
from pileup.run.monitoring.clock import MonitorClock
from pileup.run.places.fleets import Fleets
from pileup.run.safety.limits import LimitCheck, WriteRules
from pileup.run.safety.own_folders import OwnFolders
from pileup.run.stop import Stop, StopMode
from pileup.run.targets.opening import Targets
from pileup.run.targets.settings import Settings

BEAT = 10**9
"""Interval of frames, ns."""
SLICE = 0.2
"""Longest time, in seconds, until a request to stop is noticed."""
SLICE_OF_A_ROLE = 0.5
"""The same of a role: there may be many beside a load, and each look costs a tenth of a millisecond and more."""
AT_ONCE = 1000
"""Claims that are written together: as rows they take much more memory than as they come."""
GRACE = 2 * 10**9
"""What a case may take beyond its longest possible time, ns, before it is ended."""
Foreground = Callable[[Case, Work], Work]


@dataclass(slots=True)
class Live:
    """Handed to whatever carries a part of the plan out, in the runner's thread or in that of a role."""

    plan: Plan
    folder: RunFolder
    book: ManifestWriter
    targets: Targets
    settings: Settings
    fleets: Fleets
    monitors: MonitorClock
    faults: Faults
    guard: LimitCheck
    rails: WriteRules
    grounds: OwnFolders
    stop: Stop
    foreground: Foreground
    """Returns what a place does as the work of a case: the same work, unless `pileup try` runs the test."""
    _served: int = field(default=0, init=False)
    """When a load that goes on served last, ns since the epoch; 0: none has, or it has ended."""

    def pause(self, nanoseconds: int, ended: threading.Event | None = None) -> None:
        """Let time go by with the monitors served; ends early when the run should stop, or `ended` is set."""
        until = now() + nanoseconds
        while (left := until - now()) > 0 and not (ended and ended.is_set()):
            if self.stop.wait(min(left, BEAT if ended is None else int(SLICE * 1e9)) / 1e9):
                return
            self.serve()

    def attend(
        self,
        pressing: Pressing,
        longest: int,
        heeds: StopMode = StopMode.IN_ORDER,
        ended: threading.Event | None = None,
        steering: Steering | None = None,
        *,
        waits: bool = False,
    ) -> None:
        """Serve a load until it is over, frames each beat; a wish to stop of at least `heeds` ends it.

        A load that goes on past `longest` (ns) is ended at once: what is under way is unfinished. One that only `waits`
        is ended at once by any wish to stop. `ended` asks a role to begin nothing more.
        """
        begin = now()
        due = begin + BEAT
        haste = StopMode.NONE
        while not pressing.wait(SLICE if ended is None else SLICE_OF_A_ROLE):
            if now() >= due:
                self._take(pressing)
                self._serve_in_turn()
                if steering is not None:
                    steering.look(pressing)
                due += BEAT * max(1, -(-(now() - due) // BEAT))
            wanted = StopMode.AT_ONCE if now() - begin > longest + GRACE else self.stop.haste
            if wanted < heeds and ended is not None and ended.is_set():
                wanted = heeds
            if wanted >= heeds and wanted > haste:
                haste = wanted
                pressing.stop(at_once=waits or haste is StopMode.AT_ONCE)
        self._take(pressing)
        self._served = 0  # its turn is over: the next load that looks serves
        self.serve()
        pressing.close()

    def _serve_in_turn(self) -> None:
        """Serve, unless another load that goes on has done it in the last half of a beat."""
        moment = now()
        if moment - self._served >= BEAT // 2:
            self._served = moment
            self.serve()

    def serve(self) -> None:
        """Bring what was sampled into the record, and see whether it takes that, and whether a limit is passed.

        Servers that have ended by themselves are noted, too: within a beat.
        """
        self.targets.notice()
        with self._recording():
            for frame in self.fleets.ledger_frames():
                self.folder.append_frame(frame)
                self.guard.take(frame)
            self.monitors.write()
            self.fleets.local.flush()
        passed = self.guard.passed(now())
        if passed and not self.stop.haste:
            self.stop.ask(StoppedBy.LIMIT, passed, StopMode.IN_ORDER)

    def unrecorded(self) -> str:
        """Bring every row of this place into the record; return why that cannot be written, empty if it can."""
        with self._recording():
            self.fleets.local.flush()
        return self.book.broken

    @contextmanager
    def _recording(self) -> Iterator[None]:
        """End the run in order if the record cannot be written."""
        try:
            yield
        except (RecordError, OSError) as problem:
            self.book.break_off(problem)
        if self.book.broken and not self.stop.haste:
            self.stop.ask(StoppedBy.INTERNAL, self.book.broken, StopMode.IN_ORDER)

    def _take(self, pressing: Pressing) -> None:
        with self._recording():
            for frame in pressing.frames():
                self.folder.append_frame(frame)
                self.guard.take(frame)
            self._claims(pressing)
        test = self.plan.case(pressing.order.case).test.name
        for moment, metric, value, unit, labels, iteration in pressing.reported():
            self.monitors.add(test, moment, Sample(metric, value, unit, labels), iteration)

    def _claims(self, pressing: Pressing) -> None:
        """Bring what tests claim to have submitted into the record."""
        self.claimed(self.plan.case(pressing.order.case), pressing.claimed())

    def claimed(self, case: Case, claims: Sequence[Claimed]) -> None:
        """Bring submissions of a case into the record, from any thread. Raises RecordError when the disk refuses."""
        test, target = case.test.name, case.test.target or ""
        for at in range(0, len(claims), AT_ONCE):
            some = claims[at : at + AT_ONCE]
            self.folder.append_claims([ClaimRow(time, case.id, test, target, *claim) for time, *claim in some])
