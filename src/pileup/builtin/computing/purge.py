"""Take jobs that have ended out of a batch system."""

from __future__ import annotations

import time
from collections.abc import Sequence

from pileup.builtin.computing.jobs import KEPT, end_kept, look_up, pages, purge_ended
from pileup.plugin import Count, Op, Test, option
from pileup.plugin.batch import Job


class ComputingPurge(Test):
    """Purge jobs that have ended from the system, and measure how fast that is.

    One iteration purges all ended jobs that this run has submitted at its place: those that `computing.poll` with
    `keep` has seen end, and open ones for which the system reports the end, so that no poll is needed. It goes `page`
    by `page`: the jobs are looked up by name (operation `status`), since an id may belong to another job by now, and
    then purged (operation `purge`, whose calls are the purged jobs). Samples: `purged` (jobs), `purge_rate` (jobs per
    second of the time in purge requests), `unknown` (jobs that the system no longer knew).

    It purges only jobs of this run, unless `others: true` is set: then it purges all ended jobs of anybody, the oldest
    first, or only the `oldest` N; `page` at a time, without looking them up.
    """

    name = "computing.purge"
    needs = "batch"

    page: Count = option(1000, ge=1, le=100_000, help="jobs in one request")
    others: bool = option(False, help="purge jobs of others, too: all that have ended")
    oldest: Count | None = option(None, ge=1, help="with `others`: at most this many, the oldest ones")

    def check(self) -> None:
        """Refuse to purge the oldest jobs of a system unless the suite says that they may be anybody's."""
        if self.oldest is not None and not self.others:
            raise ValueError(
                f"oldest {self.oldest} without `others: true`; expected both, since the oldest may be anybody's, "
                "or neither, to purge all ended jobs of this run"
            )

    def run(self, op: Op) -> None:
        """Purge once."""
        self._unknown = self._spent = 0
        purged = self._of_anybody(op) if self.others else self._own(op)
        self.report("purged", purged, "jobs")
        self.report("unknown", self._unknown, "jobs")
        if purged:
            self.report("purge_rate", purged * 1e9 / max(1, self._spent), "/s")

    def _own(self, op: Op) -> int:
        """Purge what this run has made; return how many went."""
        names = self.ledger.keys(KEPT) + self.ledger.keys("job")
        purged = 0
        for page in pages(names, self.page):
            over = self._over(op, page)
            begin = time.perf_counter_ns()
            purged += purge_ended(op, self.target, self.ledger, over) if over else 0
            self._spent += time.perf_counter_ns() - begin
        return purged

    def _over(self, op: Op, names: Sequence[str]) -> list[Job]:
        """Return those of these jobs that have ended."""
        found = look_up(op, self.target, names)
        known = {job.name for job in found}
        unknown = [name for name in names if name not in known]
        self._unknown += len(unknown)
        end_kept(self.ledger, unknown)
        return [job for job in found if job.state.final]

    def _of_anybody(self, op: Op) -> int:
        """Purge what has ended, whoever made it; return how many went."""
        purged = 0
        while page := self.page if self.oldest is None else min(self.page, self.oldest - purged):
            begin = time.perf_counter_ns()
            with op("purge") as purge:
                purge.calls = self.target.purge(oldest=page).count
            self._spent += time.perf_counter_ns() - begin
            purged += purge.calls
            if purge.calls < page:
                break
        return purged
