"""Delegate credentials to a computing element."""

from __future__ import annotations

import random

from pileup.builtin.computing.jobs import Users, check_users, hand_in, handed_over, lack_of_users, one_of
from pileup.plugin import Count, Duration, Op, Test, TimeLaw, option
from pileup.plugin.batch import Delegation, JobSpec


class ComputingDelegate(Test):
    """Delegate credentials of a user, as the operation `delegate`.

    With `newcomers` each iteration uses a new user, who is registered first (operation `introduce`). If pileup cannot
    register users with the system, the user of the credentials delegates each time, and the run says so. For "a new
    user every 2 min" use `options: {newcomers: true}` with `load: {every: 2 min}`. `computing.renew` renews these
    delegations. They expire after their `lifetime`; with `revoke` each is revoked at once (operation `revoke`).

    With `jobs: N` each delegation is used: N jobs are submitted with it in one request (operation `submit`), which
    sleep for `duration`. From then on they are jobs as those of `computing.submit`: `job`, `queue` and `run`.
    """

    name = "computing.delegate"
    needs = "batch"
    leaves = frozenset({"job", "delegation"})

    lifetime: Duration = option("12 h", gt=0, help="how long the credentials last")
    newcomers: bool = option(False, help="a new user each time, registered first")
    prefix: str = option("new", pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,30}$", help="how the names of newcomers begin")
    jobs: Count = option(0, ge=0, le=1000, help="jobs submitted with each delegation")
    duration: TimeLaw = option("10 s", help="how long such a job sleeps")
    revoke: bool = option(False, help="revoke each delegation at once")
    user: str = option("", help="user to delegate for, where the system allows it")
    users: Users | None = option(
        None, help="several users, one after another: how many (user1, user2, …), or a list of their names"
    )

    def check(self) -> None:
        """Refuse users of a name for those who have none yet."""
        check_users(self.users, self.user)
        if self.newcomers and (self.users or self.user):
            raise ValueError(
                f"users {list(self.users or [self.user])} with `newcomers: true`; "
                "expected one of them: newcomers get names of their own"
            )

    def lacks(self) -> str:
        """Report newcomers who cannot be registered, and users who have one identity."""
        if self.newcomers and not self.target.introduces:
            return "no user can be registered with this system: the user of the credentials delegated each time"
        return lack_of_users(self.target, self.users, self.user)

    def run(self, op: Op) -> None:
        """Delegate once."""
        new = self.newcomers and self.target.introduces
        user = self._introduced(op) if new else one_of(self.users, self.user, op.number)
        with op("delegate", user) as delegate:
            delegate.calls = 1
            made = self.target.delegate(self.lifetime, user)
        self.claim(made.user, made.id, "delegation")
        if not self.revoke:
            handed_over(self.target)[made.id] = made
        if self.jobs:
            self._use(op, made)
        if self.revoke:
            self._revoke(op, made)

    def _use(self, op: Op, made: Delegation) -> None:
        """Submit jobs with a delegation."""
        source = random.Random(f"{self.context.seed} {self.context.name} {op.number}")
        names = self.submits(op.number)
        jobs = [JobSpec(name, self.duration.draw(source), user=made.user, delegation=made.id) for name in names]
        refused = hand_in(self, op, jobs)
        if refused:
            self.report("refused_jobs", refused)

    def submits(self, number: int) -> list[str]:
        """The names of the jobs of one iteration."""
        return [f"{self.prefix}-{self.stamp}-{number}.{place}" for place in range(self.jobs)]

    def _revoke(self, op: Op, made: Delegation) -> None:
        with op("revoke", made.user) as revoke:
            revoke.calls = 1
            self.target.revoke(made)
        self.claim(made.user, made.id, "revoked")

    def _introduced(self, op: Op) -> str:
        """Make somebody known; return the name."""
        user = f"{self.prefix}-{self.stamp}-{op.number}"
        with op("introduce", user):
            self.target.introduce(user)
        return user

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """Up to three operations each; with jobs the submission, and three for each of them."""
        return iterations * (3 + (1 + 3 * self.jobs if self.jobs else 0)), 0
