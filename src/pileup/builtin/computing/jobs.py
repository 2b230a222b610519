"""What the tests of batch systems share: who their users are, what the ledger learns of jobs, what was handed over."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated
from weakref import WeakKeyDictionary

from pydantic import BeforeValidator, Field

from pileup.plugin import Ambiguous, Ledger, Op, Refused, Test, VerdictException
from pileup.plugin.batch import BatchTarget, Delegation, Job, JobSpec, Submission

KEPT = "kept"
"""Operation of a job that has ended and is not purged yet, for tests that purge."""
MOST_USERS = 100_000
_HANDED: WeakKeyDictionary[BatchTarget, dict[str, Delegation]] = WeakKeyDictionary()
_HANDED_LOCK = threading.Lock()


def read_users(value: object) -> object:
    """Return the names of users: `3` means user1, user2, user3. Raises ValueError for anything else."""
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if isinstance(value, int) and 1 <= value <= MOST_USERS:
        return tuple(f"user{number}" for number in range(1, value + 1))
    if isinstance(value, (list, tuple)) and value and all(isinstance(name, str) and name for name in value):
        return tuple(value)
    raise ValueError(f"{value!r} are not users; expected how many (for user1, user2, …), or a list of their names")


Users = Annotated[
    tuple[str, ...],
    BeforeValidator(read_users),
    Field(json_schema_extra={"type": ["array", "integer", "string"], "examples": [5]}),
]
"""Several users, dealt out to the clients."""


def one_of(users: Users | None, user: str, number: int) -> str:
    """Return who acts: one of the users in turn, by number, else `user`; "" is who we are for the target."""
    return users[number % len(users)] if users else user


def check_users(users: Users | None, user: str) -> None:
    """Raise ValueError when both options say something."""
    if users and user:
        raise ValueError(f"user {user!r} and users {list(users)} are both given; expected one of them")


def lack_of_users(target: BatchTarget, users: Users | None, user: str) -> str:
    """Return what is reported about users who are all one to a system; empty where they are not."""
    named = users or ((user,) if user else ())
    if not named or not target.one_user:
        return ""
    who = named[0] if len(named) == 1 else f"{named[0]} to {named[-1]}"
    return f"{who} had no identity of their own there: the user of the credentials acted for them"


def key_of(delegation: Delegation) -> str:
    """Return how a delegation is called in the record: "ID USER"."""
    return f"{delegation.id} {delegation.user}".strip()


def handed_over(target: BatchTarget) -> dict[str, Delegation]:
    """Return the delegations, by id, that tests of this process have made at a target and that are to last.

    They go with the object: a server that is started again between two points of a scan knows none of them.
    """
    with _HANDED_LOCK:
        return _HANDED.setdefault(target, {})


def hand_in(test: Test, op: Op, jobs: Sequence[JobSpec]) -> int:
    """Submit jobs in one request, the operation `submit`; return how many of them were refused.

    Each one that was taken is claimed, and waits as the detached operations `queue` and `job`. Raises Refused when none
    was taken, Ambiguous and Failed as the system does.
    """
    with op("submit", jobs[0].name) as submission:
        submission.calls = 1
        answers = _answers(test, jobs)
        if answers and not any(answer.id for answer in answers):
            raise Refused(answers[0].refused)
    taken = [answer for answer in answers if answer.id]
    for answer in taken:
        test.claim(answer.name, answer.id)
        op.begin("queue", answer.name)
        op.begin("job", answer.name)  # last: who sees the job may end both
    return len(answers) - len(taken)


def _answers(test: Test, jobs: Sequence[JobSpec]) -> list[Submission]:
    try:
        answers: list[Submission] = test.target.submit(jobs)
    except Ambiguous:
        for job in jobs:
            test.claim(job.name)
        raise
    return answers


def has_begun(job: Job) -> bool:
    """Whether a job has begun to run; one that was cancelled may have waited to its end."""
    return bool(job.started) or job.state.value not in {"queued", "cancelled"}


def tell(ledger: Ledger, jobs: Iterable[Job]) -> list[Job]:
    """Give the ledger what a system has reported about jobs; return those that were open and have ended now.

    `queue` ends and `run` begins when a job has begun; `run` (or `queue`) and `job` end when it has ended: at the times
    that the system reports, now where it reports none.
    """
    queued: list[Job] = []
    run: list[Job] = []
    for job in jobs:
        if ledger.since("job", job.name) is None:
            continue
        if has_begun(job):
            ledger.turn("queue", job.name, "run", job.started or None)
        if job.state.final:
            (queued if ledger.since("run", job.name) is None else run).append(job)
    _end(ledger, "queue", queued)
    _end(ledger, "run", run)
    _end(ledger, "job", queued + run)
    return queued + run


def _end(ledger: Ledger, operation: str, jobs: list[Job]) -> None:
    """End one operation of jobs that are over."""
    for cause in {job.cause: None for job in jobs}:
        ledger.end_many(operation, [(job.name, *_ending(job)) for job in jobs if job.cause is cause], cause=int(cause))


def _ending(job: Job) -> tuple[int, int | None, str]:
    """Outcome, time and message of a job that is over."""
    outcome, error = job.verdict
    return int(outcome), job.ended or None, error


def end_kept(ledger: Ledger, names: Iterable[str]) -> None:
    """End the operation `kept` of jobs that are out of the queue."""
    ledger.end_many(KEPT, [(name, 0, None, "") for name in names])


def pages(names: Sequence[str], page: int) -> Iterator[Sequence[str]]:
    """Yield names, at most so many at a time."""
    for at in range(0, len(names), page):
        yield names[at : at + page]


def look_up(op: Op, target: BatchTarget, names: Sequence[str]) -> list[Job]:
    """Return what the queue knows of jobs, by name: operation `status`, in as few requests as the system allows."""
    with op("status") as status:
        found: list[Job] = []
        for some in pages(names, target.at_once):
            status.calls += 1
            found += target.status(names=some)
    return found


def purge_ended(op: Op, target: BatchTarget, ledger: Ledger, jobs: Sequence[Job]) -> int:
    """Take these jobs, which have ended, out of the queue; return how many went.

    Operation `purge`, whose calls are the jobs taken out. The ledger learns that they have ended first: nobody reports
    it later. Only ids of jobs whose names were looked up may be given: an id may have become another's.
    """
    tell(ledger, jobs)
    with op("purge") as purge:
        purged = target.purge(ids=[job.id for job in jobs])
        purge.calls = purged.count
    busy = set(purged.busy)
    end_kept(ledger, [job.name for job in jobs if job.id not in busy])
    return purged.count


class Problems:
    """Verdicts on parts of an iteration that goes on all the same; the first one is the iteration's."""

    def __init__(self) -> None:
        self._first: VerdictException | None = None
        self.count = 0

    def add(self, problem: VerdictException) -> None:
        """Keep one."""
        self._first = self._first or problem
        self.count += 1

    def tell(self) -> None:
        """Raise the first, if there was any."""
        if self._first is not None:
            raise self._first
