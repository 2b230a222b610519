"""What loads replay: the records that a suite names, looked up when its plan is made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pileup.model.errors import RecordError
from pileup.model.loads.load import Load
from pileup.model.loads.starts import Starts
from pileup.model.problem_codes import ProblemCode
from pileup.suite.bind import Draft
from pileup.suite.formats.tree import where
from pileup.suite.problems import Problems

if TYPE_CHECKING:
    from pileup.record.starts import ReplayStarts


class Replays:
    """Looks up what loads replay, each record once. `folder` is that of the suite: paths begin there.

    Without `records` it finds nothing, wherever one looks.
    """

    def __init__(self, folder: Path, records: bool = True) -> None:
        self._folder = folder
        self._records = records
        self._known: dict[tuple[Path, ReplayStarts], Starts] = {}

    def of(self, load: Load) -> Starts | None:
        """Return what a load replays, None when nothing. Raises RecordError when the record has it not."""
        if load.replay is None or not self._records:
            return None
        from pileup.record import starts  # noqa: PLC0415  with numpy and DuckDB, which few suites need

        path, wanted = (self._folder / load.replay.run).resolve(), _wanted(load, load.replay.test, load.replay.speed)
        if (path, wanted) not in self._known:
            self._known[path, wanted] = starts.find(path, wanted)
        return self._known[path, wanted]


def _wanted(load: Load, test: str | None, speed: float) -> ReplayStarts:
    from pileup.record.starts import ReplayStarts  # noqa: PLC0415  as above

    end = None if load.for_ is None else load.warm_up + load.for_
    return ReplayStarts(test, speed, load.warm_up, end, load.times)


def check_replays(draft: Draft, replays: Replays, problems: Problems) -> None:
    """Add a problem for each load whose record is not there, or has not what is to be replayed."""
    for test in draft.tests:
        try:
            replays.of(test.spec.load)
        except RecordError as problem:
            at = where(test.node, ("load", "replay"))
            problems.add(at, f"`replay`: {problem.what}", problem.expected, problem.hint, code=ProblemCode.LOAD)
