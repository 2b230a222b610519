"""Watches the batch system Slurm."""

from __future__ import annotations

import time
from collections.abc import Iterator

from pileup.builtin.arc.target import ArcTarget
from pileup.builtin.slurm.statistics import Requests, Statistics
from pileup.builtin.slurm.target import SlurmTarget
from pileup.plugin import Duration, Monitor, PluginError, Sample, Target, option
from pileup.plugin.batch import JobState

JOBS = {
    "submitted": "jobs_submitted",
    "started": "jobs_started",
    "completed": "jobs_completed",
    "failed": "jobs_failed",
    "cancelled": "jobs_canceled",
    "backfilled": "bf_backfilled_jobs",
}
"""What has happened to jobs, by the controller's counters."""
NOW = {
    ("threads", "of=server"): "server_thread_count",
    ("threads", "of=agent"): "agent_thread_count",
    ("agents", ""): "agent_count",
    ("waiting", "for=node"): "agent_queue_size",
    ("waiting", "for=database"): "dbd_agent_queue_size",
    ("cycle_jobs", "of=depth"): "schedule_cycle_mean_depth",
    ("cycle_jobs", "of=queue"): "schedule_queue_length",
}
"""What is so many now."""
CYCLES = {
    ("cycle", "of=last"): "schedule_cycle_last",
    ("cycle", "of=mean"): "schedule_cycle_mean",
    ("backfill_cycle", "of=last"): "bf_cycle_last",
    ("backfill_cycle", "of=mean"): "bf_cycle_mean",
}
COUNTED = {"schedule": "schedule_cycle_total", "backfill": "bf_cycle_counter"}
MICROSECOND = 1e-6
QUEUE = (JobState.QUEUED, JobState.RUNNING)
NONE = Requests(0, 0)


class SlurmMonitor(Monitor):
    """Read the statistics of Slurm's controller and scheduler (sdiag), and count jobs by state.

        monitors: [{use: slurm, target: ce, every: 5 s}]
        criteria:
          - {id: C1, says: The queue is kept full, check: "min(slurm.jobs[state=queued]) >= 5000"}
          - {id: C2, says: The scheduler keeps up, check: "max(slurm.cycle[of=last]) < 1 s"}

    `target` is a target of kind slurm, or a private ARC CE, which has a Slurm behind it; `config` is the slurm.conf of
    another Slurm whose commands work here. On a site's ARC CE pileup cannot reach the batch system, and measures only
    `jobs`, those of pileup's users, by REST. Criteria on the other metrics are *not covered* there.

    | metric | unit | what |
    |---|---|---|
    | `jobs[state=queued]` `running` | | jobs in this state, all users together |
    | `total[of=submitted]` `started` `completed` `failed` `cancelled` `backfilled` | | jobs since the first sample |
    | `rate[of=submitted]` … | /s | the same since the sample before |
    | `cycle[of=last]` `mean` | s | a cycle of the scheduler: the last, and the mean since the counters began |
    | `backfill_cycle[of=last]` `mean` | s | the same of backfilling |
    | `cycle_rate[of=schedule]` `backfill` | /s | cycles |
    | `cycle_jobs[of=depth]` `queue` | | jobs considered in a cycle on average; jobs that waited at the last one |
    | `requests_rate` | /s | requests that the controller answered (RPC) |
    | `requests_time` | s | their mean time |
    | `waiting[for=node]` `database` | | messages that wait to be sent to nodes, and to slurmdbd |
    | `threads[of=server]` `agent`, `agents` | | threads that answer requests, threads that send to nodes, and agents |

    With `each` also `request_rate[type=…]` and `request_time[type=…]` of every kind of request. Slurm resets its
    counters at midnight and with the controller; these metrics continue.

    If the database of the accounting is known, jobs are counted there, which is cheap, but some seconds behind. Rows of
    jobs that a killed controller forgot stay open there and are counted. Otherwise squeue is run, at most once per
    `squeue`. Statistics come by REST if the target has a url (a fraction of a ms of pileup's CPU), else from sdiag.
    """

    name = "slurm"

    target: str | None = option(None, help="name of a target of the suite, of kind slurm or arc")
    config: str | None = option(None, help="slurm.conf of another Slurm")
    each: bool = option(False, help="also each kind of request separately")
    squeue: Duration = option(10 * 10**9, ge=10**9, help="least time between two calls of squeue, where one is needed")

    def check(self) -> None:
        """Refuse two Slurms, and none."""
        if (self.target is None) == (self.config is None):
            raise ValueError("one Slurm is watched; expected `target` or `config`")
        self._own = SlurmTarget(driver="sbatch", config=self.config) if self.config is not None else None
        self._slurm: SlurmTarget | None = None
        self._before: Statistics | None = None
        self._moment = 0.0
        self._sums = dict.fromkeys(JOBS, 0)
        self._asked = float("-inf")

    def sample(self) -> Iterator[Sample]:
        """Ask once. Raises PluginError, TargetError, Failed, Refused, Ambiguous."""
        slurm = self._reached()
        yield from self._jobs(slurm)
        if isinstance(slurm, ArcTarget):
            return
        found, moment = slurm.statistics(), time.monotonic()
        before, passed = self._before, moment - self._moment
        self._before, self._moment = found, moment
        figures = found.figures
        for (name, labels), word in NOW.items():
            if word in figures:
                yield Sample(name, figures[word], "", labels)
        for (name, labels), word in CYCLES.items():
            if word in figures:
                yield Sample(name, figures[word] * MICROSECOND, "s", labels)
        if before is not None and passed > 0:
            yield from self._grown(before, found, passed)

    def close(self) -> None:
        """End the connection of this thread."""
        if self._slurm is not None and self._slurm.url:
            self._slurm.rest.close()

    def lacks(self) -> str:
        """Report a batch system that is behind somebody's computing element."""
        if not isinstance(self._reached(), ArcTarget):
            return ""
        return "the batch system behind it cannot be reached: only `jobs` are known, those of pileup's users, by REST"

    def _reached(self) -> SlurmTarget | ArcTarget:
        """Return what is asked, as it is now: a Slurm, or a CE whose own cannot be. Raises PluginError, TargetError."""
        found: Target | None = self._own or self.watched()
        if isinstance(found, ArcTarget):
            if found.batch_system is None:
                return found
            found = found.batch_system
        if not isinstance(found, SlurmTarget):
            raise PluginError("the target is not a Slurm", "one of kind slurm or arc")
        self._slurm = found
        return found

    def _jobs(self, slurm: SlurmTarget | ArcTarget) -> Iterator[Sample]:
        """Yield the jobs by state, when it is time to ask."""
        by_sql = isinstance(slurm, SlurmTarget) and bool(slurm.database_url)
        if not by_sql and time.monotonic() - self._asked < self.squeue / 1e9:
            return
        self._asked = time.monotonic()
        counts = slurm.counts() if isinstance(slurm, ArcTarget) else slurm.queue_length()
        for state in QUEUE:
            yield Sample("jobs", counts.get(state, 0), "", f"state={state}")

    def _grown(self, before: Statistics, found: Statistics, passed: float) -> Iterator[Sample]:
        for name, word in JOBS.items():
            growth = _growth(before.figures.get(word, 0), found.figures.get(word, 0))
            self._sums[name] += growth
            yield Sample("total", self._sums[name], "", f"of={name}")
            yield Sample("rate", growth / passed, "/s", f"of={name}")
        for name, word in COUNTED.items():
            growth = _growth(before.figures.get(word, 0), found.figures.get(word, 0))
            yield Sample("cycle_rate", growth / passed, "/s", f"of={name}")
        grown = {kind: _more(before.requests.get(kind, NONE), told) for kind, told in found.requests.items()}
        whole = Requests(sum(each.count for each in grown.values()), sum(each.time for each in grown.values()))
        yield from _requests("requests", whole, passed, "")
        for kind, more in grown.items() if self.each else ():
            yield from _requests("request", more, passed, f"type={kind}")


def _growth(before: int, now: int) -> int:
    """Return by how much a counter has grown; one that began again has grown by what it shows."""
    return now - before if now >= before else now


def _more(before: Requests, now: Requests) -> Requests:
    if now.count < before.count:
        return now
    return Requests(now.count - before.count, max(0, now.time - before.time))


def _requests(name: str, grown: Requests, passed: float, labels: str) -> Iterator[Sample]:
    yield Sample(f"{name}_rate", grown.count / passed, "/s", labels)
    if grown.count:
        yield Sample(f"{name}_time", grown.time / grown.count * MICROSECOND, "s", labels)
