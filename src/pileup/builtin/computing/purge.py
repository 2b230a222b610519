"""Take jobs that have ended out of a batch system."""

from __future__ import annotations

import time
from collections.abc import Sequence

from pileup.builtin.computing.jobs import KEPT, end_kept, look_up, pages, purge_ended
from pileup.plugin import Count, Op, Test, option
from pileup.plugin.batch import Job


class ComputingPurge(Test):
    """Take jobs that have ended out of the system, and show how fast that goes.

    One iteration purges all jobs that this run has submitted at its place and that have ended: those that
    `computing.poll` with `keep` has seen to end, and those that are open, of which it asks itself whether they have
    ended (then no poll is needed). It goes `page` by `page`: the jobs are looked up by name (operation `status`), since
    an id may have become another's, then purged (operation `purge`, whose calls are the jobs that went). Samples:
    `purged` (jobs), `purge_rate` (jobs per second of the time in the requests to purge), `unknown` (jobs that the
    system knew no more).

    Nothing is purged that this run has not submitted, unless `others: true` says so: then it purges everything that has
    ended, the oldest first, whoever submitted it, or the `oldest` so many; `page` at a time without looking them up.
    """

    name = "computing.purge"
    needs = "batch"

    page: Count = option(1000, ge=1, le=100_000, help="jobs in one request")
    others: bool = option(False, help="purge jobs of others, too: all that have ended")
    oldest: Count | None = option(None, ge=1, help="with `others`: at most this many, the oldest ones")

    def check(self) -> None:
        """Refuse to purge the oldest jobs of a system without being told that they may be anybody's."""
        if self.oldest is not None and not self.others:
            raise ValueError(
                f"oldest {self.oldest} without `others: true`; expected both, since the oldest may be anybody's, "
                "or neither: then all that this run has submitted and that have ended are purged"
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
