"""Watch some jobs, as their owner does: ask for their state, and purge those that are over."""

from __future__ import annotations

import random

from pileup.builtin.computing.jobs import KEPT, end_kept, look_up, purge_ended, tell
from pileup.plugin import Count, Op, Test, option


class ComputingWatch(Test):
    """Ask for the states of a few jobs of this run, and purge those that are over.

    It simulates users who check their jobs: "5 jobs polled every minute and purged when done" is `{name: watch, use:
    computing.watch, target: ce, with: [submit], options: {jobs: 5}, load: {every: 1 min}}`. `computing.poll` is
    different: it records all jobs by asking for changes, and purges none.

    Each client watches `jobs` jobs, drawn by the seed from the open ones; another one replaces a purged job. One
    iteration asks for all of them in one request (operation `status`) and purges those that have ended in another
    (operation `purge`, whose calls are the jobs); use `purge: false` if the system purges by itself. Jobs that the
    system no longer knows are dropped, and counted in the sample `unknown`. Only jobs of this run are touched.
    """

    name = "computing.watch"
    needs = "batch"

    jobs: Count = option(5, ge=1, le=1000, help="jobs watched at a time")
    purge: bool = option(True, help="purge those that are over")

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
        known = {job.name for job in found}
        unknown = [name for name in self._watched if name not in known]
        self.report("unknown", len(unknown), "jobs")
        end_kept(self.ledger, unknown)
        tell(self.ledger, found)
        over = [job for job in found if job.state.final]
        gone = {job.name for job in over} | set(unknown)
        self._watched = [name for name in self._watched if name not in gone]
        if over and self.purge:
            purge_ended(op, self.target, self.ledger, over)

    def _choose(self) -> None:
        """Fill up with jobs that are open, or have ended and are to be purged."""
        missing = self.jobs - len(self._watched)
        if not missing:
            return
        taken = set(self._watched)
        kinds = ("job", KEPT) if self.purge else ("job",)
        free = [name for kind in kinds for name in self.ledger.keys(kind) if name not in taken]
        self._watched += self._source.sample(free, min(missing, len(free)))
