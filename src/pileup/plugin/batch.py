"""Batch systems and computing elements: what tests may ask of one, whichever it is.

A job is known by its name, which is unique in a run; the id is what the system calls it, and may be given again after
a crash. Acts raise Refused (the system refused), Failed (it did the wrong thing) or Ambiguous (no answer: it may have
happened); none of them is ever tried again by itself. Times are ns since the epoch by the system's clock, 0: unknown.
"""

from __future__ import annotations

import shlex
from abc import abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Literal

from pileup.model.cause import Cause
from pileup.model.errors import Refused
from pileup.model.record import Outcome
from pileup.plugin.target import Target


class JobState(StrEnum):
    """Where a job is."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        """Whether nothing more will happen to it."""
        return self not in {JobState.QUEUED, JobState.RUNNING}


Work = Literal["sleep", "cpu", "command"]
"""What a job does: sleep, keep one core busy, or run a command."""


@dataclass(frozen=True, slots=True)
class JobSpec:
    """What should be done. Raises ValueError for a command without `work="command"`, and the other way round."""

    name: str
    duration: int = 0
    """Nanoseconds for which it sleeps or keeps a core busy; a command takes as long as it takes."""
    command: tuple[str, ...] = ()
    """Program and arguments, for `work="command"` alone."""
    user: str = ""
    """Whom it is submitted for, where the system lets one say so; "": who we are for the target."""
    delegation: str = ""
    """Id of the credentials handed over before, where each job may have its own."""
    work: Work = "sleep"

    def __post_init__(self) -> None:
        if (self.work == "command") != bool(self.command):
            raise ValueError(
                f"job {self.name!r} of work {self.work!r} with command {self.command!r}; "
                "expected a command with work `command`, and none with any other"
            )


def shell_line(job: JobSpec) -> str:
    """Return the line that a shell runs for a job; a job that ends as it should has the exit status 0.

    Signals to its process group end it. A busy core is bounded by wall time: `timeout` says so by the status 124, and
    with --foreground stays in the group (it would not end at all after a time of 0).
    """
    if job.work == "command":
        return f"exec {shlex.join(job.command)}"
    seconds = f"{job.duration / 1e9:.3f}"
    if job.work == "sleep":
        return f"exec sleep {seconds}"
    if float(seconds) == 0:
        return "exec true"
    return f"timeout --foreground {seconds} sh -c 'while :; do :; done'; [ $? -eq 124 ]"


@dataclass(frozen=True, slots=True)
class Job:
    """What the system says of a job."""

    name: str
    id: str
    state: JobState
    submitted: int = 0
    started: int = 0
    ended: int = 0
    reason: str = ""
    """Why it waits or how it failed, in the system's words."""
    user: str = ""

    @property
    def verdict(self) -> tuple[Outcome, str]:
        """Outcome and message of a job that has ended."""
        if self.state is JobState.COMPLETED:
            return Outcome.PASSED, ""
        said = self.reason or self.state.value
        if self.state is JobState.CANCELLED and not said.lower().startswith(self.state.value):
            said = f"{self.state.value}: {said}"  # whatever the system says, people read it so
        return Outcome.FAILED, said

    @property
    def cause(self) -> Cause:
        """Why a job that has ended did not pass, where that is known: results count cancelled ones apart."""
        return Cause.CANCELLED if self.state is JobState.CANCELLED else Cause.NONE


@dataclass(frozen=True, slots=True)
class Submission:
    """What became of one job of a request that was answered: it has an id, or was refused for a reason."""

    name: str
    id: str = ""
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Changes:
    """Jobs that began or ended since a cursor, each as it is now, and the cursor to go on from."""

    jobs: tuple[Job, ...]
    cursor: str
    more: bool = False
    """Whether there is more at once."""


@dataclass(frozen=True, slots=True)
class Purged:
    """What a purge did: how many jobs are gone; ids of those that still go on, and of those that nobody knows."""

    count: int
    busy: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Delegation:
    """Credentials handed over; `expires` in ns since the epoch, 0: not known."""

    id: str
    expires: int
    user: str = ""
    """Whose they are; "": who we are for the target."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a client believes of a submission: acknowledged with an id, or without an answer (no id)."""

    name: str
    id: str = ""


class Fate(StrEnum):
    """What became of a claimed submission."""

    ONCE = "ran once"
    TWICE = "ran twice"
    CANCELLED = "cancelled"
    """It is over, and never ran."""
    GOING = "still there"
    LOST = "lost"
    """Acknowledged, and nobody knows of it."""
    NEVER = "never"
    """Not answered, and nobody knows of it."""
    PURGED = "purged by others"
    """Acknowledged, and somebody else has taken it out of the system: how it ended is not known."""
    REUSED = "id used again"
    """Acknowledged and unknown, and its id belongs to another job."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What an audit found about one claim, and the jobs that have its name."""

    claim: Claim
    fate: Fate
    jobs: tuple[Job, ...] = field(default=())


class BatchTarget(Target):
    """A system that takes jobs in, queues and runs them."""

    _framework: ClassVar[bool] = True
    provides: ClassVar[frozenset[str]] = frozenset({"any", "batch"})
    at_once: ClassVar[int] = 1000
    """Most names or ids that go into one question."""

    @abstractmethod
    def submit(self, jobs: Sequence[JobSpec]) -> list[Submission]:
        """Hand jobs over in one request; return what became of each, in order.

        Raises Refused when none was taken, Ambiguous when no answer came, Failed for any other answer.
        """

    @abstractmethod
    def status(self, names: Sequence[str] = (), ids: Sequence[str] = ()) -> list[Job]:
        """Return what the queue knows of these jobs; unknown ones are left out, several may have one name."""

    @abstractmethod
    def changes(self, cursor: str, still_open: Callable[[], Sequence[str]], most: int = 5000) -> Changes:
        """Return what began or ended since a cursor ("": since ever), at most so many jobs.

        `still_open` gives the names of the jobs that one waits for: systems that cannot tell changes are asked for
        these.
        """

    @abstractmethod
    def cancel(self, ids: Sequence[str]) -> list[str]:
        """End jobs; return the ids of those that could not be ended (unknown, or over already)."""

    @abstractmethod
    def purge(self, ids: Sequence[str] = (), oldest: int = 0) -> Purged:
        """Take jobs that have ended out of the queue: these, or so many of the oldest."""

    @abstractmethod
    def counts(self) -> dict[JobState, int]:
        """Return how many jobs there are in each state, those of others included."""

    @abstractmethod
    def history(self, names: Sequence[str]) -> list[Job]:
        """Return what the accounting knows of jobs that have ended, by name."""

    def reason(self, name: str) -> str:
        """Return why a job waits or how it failed, in the system's words; "" when nobody knows it."""
        found = self.status([name]) or self.history([name])
        return found[-1].reason if found else ""

    @abstractmethod
    def delegate(self, lifetime: int, user: str = "") -> Delegation:
        """Hand somebody's credentials over for so many ns. Raises Refused where the system takes none."""

    @abstractmethod
    def renew(self, delegation: Delegation, lifetime: int) -> Delegation:
        """Let a delegation last for so many ns from now on."""

    def revoke(self, delegation: Delegation) -> None:
        """Take a delegation back; one that is not there any more is fine. Raises Refused where that cannot be done."""
        raise Refused(
            f"delegation {delegation.id!r} stays: a target of kind {self.kind!r} cannot take one back; "
            "expected that it expires by itself"
        )

    def introduce(self, user: str) -> None:
        """Make somebody known who has never been here; one who is known is fine.

        Raises Refused where pileup cannot make users.
        """
        raise Refused(
            f"user {user!r} cannot be registered with a target of kind {self.kind!r}; expected one that is known there"
        )

    @property
    def introduces(self) -> bool:
        """Whether pileup can make users known to it (`introduce`); where not, who we are acts in their place."""
        return type(self).introduce is not BatchTarget.introduce

    @property
    def one_user(self) -> bool:
        """Whether we have one identity there, who then acts in the place of every user of a suite."""
        return False

    def audit(self, claims: Iterable[Claim]) -> list[Finding]:
        """Look every claim up in queue and history and return what became of each, in their order."""
        claims = list(claims)
        names = [claim.name for claim in claims]
        known = defaultdict(list)
        for some in (names[at : at + self.at_once] for at in range(0, len(names), self.at_once)):
            for job in self.status(names=some):
                known[job.name].append(job)
            for job in self.history(some):
                known[job.name].append(job)
        gone = {claim.id: claim.name for claim in claims if claim.id and not known[claim.name]}
        taken: set[str] = set()
        for job in self._of_ids(list(gone)):
            if job.name == gone.get(job.id):  # it was on its way from one list of the system to another
                known[job.name].append(job)
            else:
                taken.add(job.id)
        return [Finding(claim, fate_of(claim, known[claim.name], taken), _once(known[claim.name])) for claim in claims]

    def _of_ids(self, ids: Sequence[str]) -> Iterator[Job]:
        for at in range(0, len(ids), self.at_once):
            yield from self.status(ids=ids[at : at + self.at_once])


def _once(jobs: Sequence[Job]) -> tuple[Job, ...]:
    """Each job once: queue and history may both know it. Of ids given again the time of submission tells them apart."""
    return tuple({(job.id, job.submitted): job for job in jobs}.values())


def fate_of(claim: Claim, jobs: Sequence[Job], taken: set[str]) -> Fate:
    """Return what became of a claim: `jobs` bear its name, `taken` are ids of other jobs."""
    found = _once(jobs)
    if len(found) > 1:
        return Fate.TWICE
    if found:
        return _of_one(found[0])
    if not claim.id:
        return Fate.NEVER
    return Fate.REUSED if claim.id in taken else Fate.LOST


def _of_one(job: Job) -> Fate:
    if not job.state.final:
        return Fate.GOING
    return Fate.CANCELLED if job.state is JobState.CANCELLED and not job.started else Fate.ONCE


def tally(findings: Iterable[Finding]) -> dict[Fate, int]:
    """Return how often each fate was found."""
    return dict(Counter(finding.fate for finding in findings))
