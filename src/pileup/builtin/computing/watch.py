"""Watch some jobs, as their owner does: ask for their state, and purge those that are over."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Literal

from pileup.builtin.computing.jobs import KEPT, end_kept, look_up, purge_ended, tell
from pileup.plugin import Count, Op, Test, option
from pileup.plugin.batch import Job


class ComputingWatch(Test):
    """Ask for the states of a few jobs of this run, and purge those that are over.

    It simulates users who check their jobs: "5 jobs polled every minute and purged when done" is `{name: watch, use:
    computing.watch, target: ce, with: [submit], options: {jobs: 5}, load: {every: 1 min}}`. `computing.poll` is
    different: it records all jobs by asking for changes, and purges none.

    Each client watches `jobs` jobs, drawn by the seed from the open ones, or the oldest of these; another one replaces
    a purged job. One iteration asks for all of them in one request (operation `status`) and purges those that have
    ended in another (operation `purge`, whose calls are the jobs). A system that purges by itself, as Slurm does, is
    not asked to: there each job is watched until it is forgotten, and the time from its end until then is the detached
    operation `kept`. With `purge: service` the same is done where the system could be asked, so that its own policy is
    what is seen; with `purge: false` a job that has ended is only let go. The sample `purged` is how many went in an
    iteration. Jobs that the system no longer knows although nobody saw them end are dropped, and counted in the sample
    `unknown`. Only jobs of this run are touched.
    """

    name = "computing.watch"
    needs = "batch"

    jobs: Count = option(5, ge=1, le=1000, help="jobs watched at a time")
    which: Literal["random", "oldest"] = option("random", help="which of the open ones; random by the seed")
    purge: bool | Literal["service"] = option(
        True, help="purge those that are over, where the system can be asked to; `service`: see that it does by itself"
    )

    def setup(self) -> None:
        """Begin with no job."""
        self._source = random.Random(f"{self.context.seed} {self.context.name} {self.context.client}")
        self._watched: list[str] = []

    def run(self, op: Op) -> None:
        """Look once."""
        self._choose()
        if not self._watched:
            return
        found = look_up(op, self.target, self._watched)
        tell(self.ledger, found)
        forgotten = self._forgotten({job.name for job in found})
        over = [job for job in found if job.state.final]
        if not self.purge:
            self._drop(job.name for job in over)
        elif self._asks:
            forgotten += purge_ended(op, self.target, self.ledger, over) if over else 0
            self._drop(job.name for job in over)
        else:
            self._keep(op, over)
        self.report("purged", forgotten, "jobs")

    @property
    def _asks(self) -> bool:
        """Whether the system is asked to purge."""
        return self.purge is True and self.target.purges

    def _forgotten(self, known: set[str]) -> int:
        """Drop the jobs that the system no longer knows; return how many it has purged by itself after their end."""
        gone = [name for name in self._watched if name not in known]
        ended = [name for name in gone if self.ledger.since(KEPT, name) is not None]
        end_kept(self.ledger, ended)
        self._drop(gone)
        purged = 0 if self._asks else len(ended)
        self.report("unknown", len(gone) - purged, "jobs")
        return purged

    def _keep(self, op: Op, over: list[Job]) -> None:
        """Begin to wait until the system forgets these."""
        for job in over:
            if self.ledger.since(KEPT, job.name) is None:
                op.begin(KEPT, job.name, job.ended or None)

    def _drop(self, names: Iterable[str]) -> None:
        gone = set(names)
        self._watched = [name for name in self._watched if name not in gone]

    def _choose(self) -> None:
        """Fill up with jobs that are open, or have ended and are to be purged."""
        missing = self.jobs - len(self._watched)
        if not missing:
            return
        taken = set(self._watched)
        kinds = (KEPT, "job") if self._asks else ("job",)
        free = [name for kind in kinds for name in self.ledger.keys(kind) if name not in taken]
        if self.which == "oldest":
            self._watched += free[:missing]
        else:
            self._watched += self._source.sample(free, min(missing, len(free)))
