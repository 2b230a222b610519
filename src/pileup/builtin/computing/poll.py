"""Watch jobs begin and end, for all that were submitted in this run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from pileup.builtin.computing.jobs import KEPT, tell
from pileup.plugin import Count, Duration, Failed, Op, Test, option
from pileup.plugin.batch import Changes, Job, JobState

AHEAD = 60 * 10**9
"""How much earlier than this test a job may have been submitted to be waited for, ns: clocks differ a little."""
PATIENCE = 60.0
"""How long a job is remembered that the system knows of before its submitter does, s: its answer may be on the way."""


class ComputingPoll(Test):
    """Ask which jobs have begun and ended since the last time, and end their detached operations.

    One iteration asks until there is no more news. When a job has begun to run it ends `queue` and begins `run`; when
    the job has ended it ends `run` and `job`. The times are those of the system. If it reports none, they are the times
    of the poll, and accurate to the interval of the polls. A job that failed or was cancelled is a failed operation.
    The test ends jobs of all submitters at its place; with N places use the load `{times: N, clients: N}` instead of
    `once`. With `keep`, an ended job becomes a detached operation `kept` until `computing.purge` or `computing.watch`
    purges it: these purge only jobs that they know to be made by this run. With `counts`, the numbers of jobs queued
    and running in the whole system are samples `queued` and `running`.

    In a suite, beside submitters: `{name: poll, use: computing.poll, target: ce, with: [submit], load: {every: 1 s}}`.
    With `drain`, one iteration continues until no job is open, and fails shortly before its timeout: `{name:
    drain, use: computing.poll, target: ce, after: [submit], options: {drain: true}, timeout: 10 min}`. It reports the
    sample `makespan`: the time from the submission of the first job that it saw end to the end of the last one, by the
    clock of the system.
    """

    name = "computing.poll"
    needs = "batch"

    drain: bool = option(False, help="go on until no job is open any more")
    interval: Duration = option(10**9, gt=0, help="time between two polls while draining")
    counts: bool = option(True, help="also ask how many jobs there are in each state")
    keep: bool = option(False, help="keep jobs that have ended for tests that purge")
    page: Count = option(5000, ge=1, le=100_000, help="most jobs in one answer")

    def check(self) -> None:
        """Say that nobody waits for a drain once the run is stopped."""
        self.waits = self.drain

    def setup(self) -> None:
        """Begin with what has happened since ever."""
        self._cursor = ""
        self._from = time.time_ns() - AHEAD
        self._early: dict[str, tuple[float, Job]] = {}
        self._first, self._last = 0, 0

    def run(self, op: Op) -> None:
        """Look once, or until all is over."""
        end = time.monotonic() + 0.9 * self.context.timeout / 1e9
        self._look(op)
        while self.drain and (left := self.ledger.open("job")):
            if time.monotonic() > end:
                raise Failed(f"{left} jobs are still open")
            time.sleep(self.interval / 1e9)
            self._look(op)
        if self.drain and self._first and self._last:
            self.report("makespan", (self._last - self._first) / 1e9, "s")

    def _look(self, op: Op) -> None:
        with op("poll") as poll:
            more = True
            while more:
                news = self.target.changes(self._cursor, self._open, self.page)
                poll.calls += 1
                self._take(op, news)
                self._cursor, more = news.cursor, news.more
        if self.counts:
            with op("counts") as asked:
                asked.calls = 1
                found = self.target.counts()
            self.report("queued", found.get(JobState.QUEUED, 0), "jobs")
            self.report("running", found.get(JobState.RUNNING, 0), "jobs")

    def _open(self) -> Sequence[str]:
        """Names of the jobs that are waited for."""
        return self.ledger.keys("job")

    def _take(self, op: Op, news: Changes) -> None:
        """Give the ledger what the system has reported."""
        for job in tell(self.ledger, self._known(news.jobs)):
            self._first = min(self._first or job.submitted, job.submitted)
            self._last = max(self._last, job.ended)
            if self.keep and self.ledger.since(KEPT, job.name) is None:  # a job may have run twice
                op.begin(KEPT, job.name, job.ended or None)

    def _known(self, jobs: Sequence[Job]) -> Iterator[Job]:
        """Yield the jobs that are open here. Others may be soon: a job can be over before its submitter has heard."""
        forget = time.monotonic() + PATIENCE
        early, self._early = self._early, {}
        for job in jobs:
            early[job.name] = (early.get(job.name, (forget, job))[0], job)
        for name, (until, job) in early.items():
            if self.ledger.since("job", name) is not None:
                yield job
            elif until > forget - PATIENCE and (not job.submitted or job.submitted >= self._from):
                self._early[name] = (until, job)
