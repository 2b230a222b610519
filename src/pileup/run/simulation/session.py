"""A run whose time is virtual: the cases of a plan written into a run folder, which is read and judged as any is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pileup import stats
from pileup._core._native import now
from pileup.fleet import Order
from pileup.model.manifest import PlaceEntry, TargetEntry
from pileup.model.plan import Case, Plan
from pileup.model.record import CaseOutcome, Phase, Sample, SampleRow
from pileup.model.results import RunResults
from pileup.record import RunFolder
from pileup.run.finish import finish
from pileup.run.manifest import ManifestWriter, over
from pileup.run.manifest_start import first_manifest
from pileup.run.simulation.clock import VirtualClock
from pileup.run.simulation.load import BEAT, SimulatedLoad
from pileup.run.simulation.rows import PLACE, RowWriter

ENGINE = "simulation"
"""What run.json says pressed a case."""


class SimulatedRun:
    """Writes the run folder of a plan below `base`. Virtual time begins at `began` (ns since the epoch; now).

    There is a frame each `beat`, ns: in hours with few operations a longer one than a second takes less time and room.
    Nothing of the suite is executed or reached, and nothing is to be cleaned up after a crash. Raises RecordError when
    the disk refuses.
    """

    def __init__(self, plan: Plan, base: Path, began: int | None = None, beat: int = BEAT) -> None:
        self._beat = beat
        begin = now() if began is None else began
        self.plan = plan
        self.clock = VirtualClock(begin)
        self.folder = RunFolder.create(base, plan.suite.title, begin, self.clock.now)
        targets = tuple(TargetEntry(name, spec.kind, about=ENGINE) for name, spec in plan.suite.targets.items())
        run = replace(
            first_manifest(plan, begin),
            simulated=True,
            targets=targets,
            places=(PlaceEntry(PLACE, ENGINE, session=1),),
        )
        self.book = ManifestWriter(self.folder, run, self.clock.now)
        self._names = [target.name for target in targets]
        self._rows = RowWriter(self.folder.operations_path(PLACE))
        self._loads: list[SimulatedLoad] = []
        self.book.save()

    @contextmanager
    def case(self, case: Case, single: str = "") -> Iterator[SimulatedLoad]:
        """Begin a case now, give its load, and end and judge the case; several may be under way, as roles are.

        `single` is what the one operation of its iterations is called; without it they have operations of their own.
        """
        begin = self.folder.tail_frames(None)[1]
        self.book.change(case, lambda entry: replace(entry, engine=ENGINE))
        self.book.begin(case)
        target = self._names.index(case.test.target) if case.test.target else 0
        order = Order.of(case, self.plan.suite.seed, target)
        load = SimulatedLoad(
            self.clock, self.folder, self._rows, order, longest=case.longest, beat=self._beat, single=single
        )
        self._loads.append(load)
        yield load
        load.close()
        frames = [frame for frame in self.folder.tail_frames(begin)[0] if frame.case == case.id]
        judged = stats.judge_case(self.book.case(case), frames, Phase.MEASURE, lambda: self._error(case))
        self.book.end(case, *(load.ended or judged))

    def skip(self, case: Case, outcome: CaseOutcome, reason: str) -> None:
        """Note that a case is not run, and why."""
        self.book.end(case, outcome, reason)

    def sample(self, monitor: str, *samples: Sample, iteration: int | None = None) -> None:
        """Note numbers of a monitor of the suite, or of a test in an iteration, now."""
        now = self.clock.now()
        self.folder.append_samples([SampleRow(now, monitor, "", each, iteration) for each in samples])

    def finish(self) -> RunResults:
        """End the run now: what is open is unfinished. Judge it, write its reports, return the results."""
        return self.finish_with_reports()[0]

    def finish_with_reports(self) -> tuple[RunResults, list[Path]]:
        """The same; also return the reports for people to look at."""
        for load in self._loads:
            load.give_up()
        self._rows.close()
        self.book.update(lambda run: over(run, self.clock.now()))
        self.book.save()
        return finish(self.folder, self.book.run, self.plan)

    def close(self) -> None:
        """End all writing of a run that will not be finished: it stays broken off."""
        self._rows.close()
        self.folder.close()

    def _error(self, case: Case) -> str:
        """Return the commonest error of a case."""
        self._rows.flush()
        return stats.commonest_error(self.folder, case.id, Phase.MEASURE)
