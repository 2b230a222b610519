"""Faults of a suite: done at their time while a load goes on, told in the record, undone when they last a while."""

from __future__ import annotations

from pileup.model.plan import Plan
from pileup.record import RunFolder
from pileup.run.servers import Supervisor


class Faults:
    """The faults of a run."""

    def __init__(self, plan: Plan, supervisor: Supervisor, folder: RunFolder) -> None:
        self._plan = plan
        self._supervisor = supervisor
        self._folder = folder
        self.problems: list[str] = []
        """What should have happened and did not."""

    def begin(self, test: str) -> None:
        """The load of a test begins now."""

    def end(self, test: str) -> None:
        """The load of a test has ended."""

    def close(self) -> None:
        """No load will begin any more."""
