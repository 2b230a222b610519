"""Cancel jobs that wait or run."""

from __future__ import annotations

import random
from typing import Literal

from pileup.builtin.computing.jobs import look_up
from pileup.plugin import Count, Op, Test, option


class ComputingCancel(Test):
    """Cancel some of the jobs that this run has submitted at its place and that are open.

    Jobs are looked up by name (operation `status`), since an id may belong to another job by now. Those that wait or
    run are cancelled in one request (operation `cancel`). `computing.poll` then sees that they have ended: a cancelled
    job is a failed operation `job`, and a failed `queue` if it had not begun. Samples: `cancelled`, and `too_late`
    (jobs that were over when the request came). If no job is open, no request is made.
    """

    name = "computing.cancel"
    needs = "batch"

    jobs: Count = option(1, ge=1, le=10_000, help="jobs cancelled each time")
    which: Literal["oldest", "newest", "random"] = option("oldest", help="which of the open ones; random by the seed")

    def run(self, op: Op) -> None:
        """Cancel once."""
        names = self._chosen(op.number)
        if not names:
            return
        ids = [job.id for job in look_up(op, self.target, names) if not job.state.final]
        late = len(names) - len(ids)
        if ids:
            with op("cancel", names[0]) as cancel:
                cancel.calls = 1
                late += len(self.target.cancel(ids))
        self.report("cancelled", len(names) - late, "jobs")
        self.report("too_late", late, "jobs")

    def _chosen(self, number: int) -> list[str]:
        """Names of the jobs to cancel."""
        if self.which == "oldest":
            return self.ledger.keys("job", self.jobs)
        names = self.ledger.keys("job")
        if self.which == "newest":
            return names[-self.jobs :]
        source = random.Random(f"{self.context.seed} {self.context.name} {number}")
        return source.sample(names, min(self.jobs, len(names)))

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """Two operations each."""
        return iterations * 2, 0
