"""A batch system in memory whose queue and accounting say what a test wants."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from pileup.model.program import ClientSpec
from pileup.plugin.batch import (
    BatchTarget,
    Changes,
    Claim,
    Delegation,
    Finding,
    Job,
    JobSpec,
    JobState,
    Purged,
    Submission,
)


class Bank(BatchTarget):
    """`queue` and `accounts` hold its jobs; `down` is raised that many times by every question."""

    kind = "bank"
    at_once = 10

    def __init__(self, *queue: Job, accounts: Iterable[Job] = ()) -> None:
        super().__init__("bank://")
        self.queue = list(queue)
        self.accounts = list(accounts)
        self.down: list[Exception] = []
        self.pages: list[int] = []
        self.cancelled: list[str] = []
        self.stubborn: set[str] = set()
        self.asked: Callable[[], None] = lambda: None

    def audit(self, claims: Iterable[Claim]) -> list[Finding]:
        """Count the pages, and fail as told."""
        claims = list(claims)
        self.pages.append(len(claims))
        self.asked()
        if self.down:
            raise self.down.pop(0)
        return super().audit(claims)

    def status(self, names: Sequence[str] = (), ids: Sequence[str] = ()) -> list[Job]:
        return [job for job in self.queue if job.name in names or job.id in ids]

    def history(self, names: Sequence[str]) -> list[Job]:
        return [job for job in self.accounts if job.name in names]

    def cancel(self, ids: Sequence[str]) -> list[str]:
        self.cancelled += [id_ for id_ in ids if id_ not in self.stubborn]
        return [id_ for id_ in ids if id_ in self.stubborn]

    def client(self) -> ClientSpec:
        raise NotImplementedError

    def submit(self, jobs: Sequence[JobSpec]) -> list[Submission]:
        raise NotImplementedError

    def changes(self, cursor: str, still_open: Callable[[], Sequence[str]], most: int = 5000) -> Changes:
        raise NotImplementedError

    def purge(self, ids: Sequence[str] = (), oldest: int = 0) -> Purged:
        raise NotImplementedError

    def counts(self) -> dict[JobState, int]:
        return dict(Counter(job.state for job in self.queue))

    def delegate(self, lifetime: int, user: str = "") -> Delegation:
        raise NotImplementedError

    def renew(self, delegation: Delegation, lifetime: int) -> Delegation:
        raise NotImplementedError
