"""Submit jobs to a batch system or a computing element."""

from __future__ import annotations

import random
from typing import Literal

from pileup.builtin.computing.jobs import Users, check_users, handed_over, lack_of_users, one_of
from pileup.plugin import Ambiguous, Count, Duration, Op, Refused, Test, TimeLaw, option, split_command
from pileup.plugin.batch import Delegation, JobSpec, Submission, Work


class ComputingSubmit(Test):
    """Submit jobs without waiting for them.

    One iteration is one request with `batch` jobs. It is refused if the system accepts none of them, and ambiguous if
    no answer comes; nothing is retried. Every job has a unique name. An acknowledged job is a detached operation `job`,
    and waits as the operation `queue`; `computing.poll` in the same run sees when it begins (operation `run`) and how
    it ends. What is still open at the end of the run is unfinished. If a request was accepted in part, the refused jobs
    are counted as `refused_jobs`.

    A job sleeps for its `duration`, keeps a core busy for that time (`work: cpu`), or runs a `command` (`work:
    command`; if it fails the job fails). Durations are drawn from the seed.

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
        self._command = () if self.command is None else tuple(split_command(self.command, shell=False))
        check_users(self.users, self.user)

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
        with op("submit", jobs[0].name) as submission:
            submission.calls = 1
            answers = self._hand_over(jobs)
            _refuse_if_none(answers)
        taken = [answer for answer in answers if answer.id]
        for answer in taken:
            self.claim(answer.name, answer.id)
            op.begin("queue", answer.name)
            op.begin("job", answer.name)  # last: who sees the job may end both
        if len(taken) < len(answers):
            self.report("refused_jobs", len(answers) - len(taken))

    def _hand_over(self, jobs: list[JobSpec]) -> list[Submission]:
        try:
            answers: list[Submission] = self.target.submit(jobs)
        except Ambiguous:
            for job in jobs:
                self.claim(job.name)
            raise
        return answers

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
        return JobSpec(name, duration, self._command, self._user, handed, self.work)

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


def _refuse_if_none(answers: list[Submission]) -> None:
    """Raise Refused when no job was taken."""
    if answers and not any(answer.id for answer in answers):
        raise Refused(answers[0].refused)
