"""Submit jobs to a batch system or a computing element."""

from __future__ import annotations

import random
from typing import Annotated, Literal

from pydantic import Field

from pileup.builtin.computing.jobs import Users, check_users, hand_in, handed_over, lack_of_users, one_of
from pileup.builtin.computing.payload import FileName, Files, read_files
from pileup.plugin import Count, Duration, Op, Target, Test, TimeLaw, option, split_command
from pileup.plugin.batch import BatchTarget, Delegation, JobSpec, Work

Environment = dict[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], str]
"""Variables of a job."""


class ComputingSubmit(Test):
    """Submit jobs without waiting for them.

    One iteration is one request with `batch` jobs. It is refused if the system accepts none of them, and ambiguous if
    no answer comes; nothing is retried. Every job has a unique name. An acknowledged job is a detached operation `job`,
    and waits as the operation `queue`; `computing.poll` in the same run sees when it begins (operation `run`) and how
    it ends. What is still open at the end of the run is unfinished. If a request was accepted in part, the refused jobs
    are counted as `refused_jobs`.

    A job sleeps for its `duration`, keeps a core busy for that time (`work: cpu`), or runs a `command` (`work:
    command`; if it fails the job fails). Durations are drawn from the seed.

    `environment` sets variables of the job. `inputs` are small files (32 KiB together) in the folder in which the job
    begins, as "name there: path here", relative to the suite. The folder is removed when the job ends. Both are part of
    the job's command, which the record of the system may show: do not put secrets there. A suite that sets them for
    jobs that are only simulated is refused.

    `outputs` are files that the job makes in that folder, and that the system keeps until the job is purged:
    `computing.fetch` fetches them. A job that has not made all of them fails. A suite that sets them for a system that
    hands no files out, as Slurm does not, is refused.

    With `users: 5` client 0 is `user1`, client 1 `user2`, …, client 5 `user1` again; a list gives other names. With
    `delegation: shared` every client delegates credentials once before it begins; its jobs use them, and
    `computing.renew` renews them. With `per-job` it delegates before each job, as the operation `delegate`, so that the
    cost is measured. Delegations are valid for `lifetime`.
    """

    name = "computing.submit"
    needs = "batch"
    leaves = frozenset({"job", "delegation"})

    work: Work = option("sleep", help="what a job does")
    duration: TimeLaw = option("10 s", help="how long a job runs, e.g. `60 s` or `{uniform: [30 s, 90 s]}`")
    command: str | list[str] | None = option(None, help="program and arguments of a job, for `work: command`")
    environment: Environment = option({}, help="variables of a job, name: value")
    inputs: Files = option({}, help="files of a job, name there: path here")
    outputs: tuple[FileName, ...] = option((), help="files that a job makes, for `computing.fetch`")
    batch: Count = option(1, ge=1, le=100_000, help="jobs in one request")
    prefix: str = option("pileup", pattern=r"^[A-Za-z0-9_.-]{1,60}$", help="how the names of the jobs begin")
    user: str = option("", help="user to submit for, where the system allows it")
    users: Users | None = option(
        None, help="several users, distributed over the clients: how many (user1, user2, …), or a list of their names"
    )
    delegation: Literal["none", "shared", "per-job"] = option("none", help="delegation of credentials")
    lifetime: Duration = option("12 h", gt=0, help="how long delegations are valid")

    def check(self) -> None:
        """Refuse a command without its work, and the other way round."""
        if (self.work == "command") != (self.command is not None):
            raise ValueError(
                f"work {self.work!r} with command {self.command!r}; expected `work: command` and a command, or neither"
            )
        self._files = read_files(self.context.folder, self.inputs, "inputs")
        self._command = () if self.command is None else tuple(split_command(self.command, shell=False))
        check_users(self.users, self.user)

    def problem_on(self, target: Target) -> str:
        """Refuse an environment and files where no job runs, and outputs where nobody could have them."""
        if not isinstance(target, BatchTarget):
            return ""
        given = [word for word in ("environment", "inputs", "outputs") if getattr(self, word)]
        if target.runs_jobs and self.outputs and not target.keeps_files:
            return f"`outputs` on kind {target.kind!r}, which hands no files out; expected a target that does, e.g. arc"
        if not given or target.runs_jobs:
            return ""
        return f"`{given[0]}` on kind {target.kind!r}, which only simulates jobs; expected a target that runs them"

    def setup(self) -> None:
        """Become one of the users, and hand credentials over if all jobs share them."""
        self._user = one_of(self.users, self.user, self.context.client)
        self._shared: Delegation | None = None
        if self.delegation == "shared":
            self._shared = self._delegated()
            handed_over(self.target)[self._shared.id] = self._shared

    def lacks(self) -> str:
        """Report users who have one identity."""
        return lack_of_users(self.target, self.users, self.user)

    def run(self, op: Op) -> None:
        """Submit once."""
        jobs = self._jobs(op)
        refused = hand_in(self, op, jobs)
        if refused:
            self.report("refused_jobs", refused)

    def _jobs(self, op: Op) -> list[JobSpec]:
        """The jobs of one iteration; how long they run depends on the seed, the test and their numbers alone."""
        source = random.Random(f"{self.context.seed} {self.context.name} {op.number}")
        return [self._job(op, name, self.duration.draw(source)) for name in self.submits(op.number)]

    def _job(self, op: Op, name: str, duration: int) -> JobSpec:
        handed = self._shared.id if self._shared else ""
        if self.delegation == "per-job":
            with op("delegate", self._user) as delegate:
                delegate.calls = 1
                handed = self._delegated().id
        payload = (self.work, self.environment, self._files, self.outputs)
        return JobSpec(name, duration, self._command, self._user, handed, *payload)

    def _delegated(self) -> Delegation:
        made: Delegation = self.target.delegate(self.lifetime, self._user)
        self.claim(made.user, made.id, "delegation")
        return made

    def submits(self, number: int) -> list[str]:
        """The names of the jobs of one iteration."""
        stem = f"{self.prefix}-{self.stamp}-{number}"
        return [stem] if self.batch == 1 else [f"{stem}.{place}" for place in range(self.batch)]

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """The submission, for each job three operations, and the delegations."""
        delegations = self.batch if self.delegation == "per-job" else 0
        return iterations * (1 + 3 * self.batch + delegations), 0
