"""Batch systems and computing elements: the interface that tests use, whatever the system.

A job is identified by its name, which is unique in a run. The id comes from the system, which may reuse it after a
crash. Methods raise Refused (the system refused), Failed (it did the wrong thing) or Ambiguous (no answer: it may have
happened); nothing is retried automatically. Times are ns since the epoch by the system's clock, 0: unknown.
"""

from __future__ import annotations

import shlex
from abc import abstractmethod
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Literal

from pileup.model.cause import Cause
from pileup.model.errors import Refused
from pileup.model.record import Outcome
from pileup.plugin.target import Target


class JobState(StrEnum):
    """The state of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        """Whether the job is over."""
        return self not in {JobState.QUEUED, JobState.RUNNING}


Work = Literal["sleep", "cpu", "command"]
"""What a job does: sleep, keep one core busy, or run a command."""


FILES_LIMIT = 32 << 10
"""Most bytes of all files of a job together: they are part of its command, which the system takes as one argument."""


@dataclass(frozen=True, slots=True)
class JobSpec:
    """A job to submit. Raises ValueError for a command without `work="command"`, and for the work without a command."""

    name: str
    duration: int = 0
    """Nanoseconds for which it sleeps or keeps a core busy; not used for a command."""
    command: tuple[str, ...] = ()
    """Program and arguments, only for `work="command"`."""
    user: str = ""
    """The user to submit for, if the system supports that; "": the user of the target's credentials."""
    delegation: str = ""
    """Id of the delegation that the job uses, if jobs can have their own."""
    work: Work = "sleep"
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of the job, in addition to what the system gives it."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Name -> content of files in the folder in which the job begins; together at most FILES_LIMIT bytes."""
    outputs: tuple[str, ...] = ()
    """Names of files that the job makes in that folder, kept after its end (`BatchTarget.fetch`)."""

    def __post_init__(self) -> None:
        if (self.work == "command") != bool(self.command):
            raise ValueError(
                f"job {self.name!r} of work {self.work!r} with command {self.command!r}; "
                "expected a command with work `command`, and none with any other"
            )


def shell_line(job: JobSpec) -> str:
    """Return the shell command of a job; it ends with exit status 0 if all is well.

    Signals to its process group end it. A busy core is limited by wall time: `timeout` ends with the status 124 then,
    and with --foreground stays in the group (it would not end at all after a time of 0).

    With files it begins in a folder of its own, which is removed when it ends, unless it is ended by SIGKILL. Its
    outputs are moved from there to where the system has begun it. A job that has not made all of its outputs fails.
    """
    variables = "".join(f"export {name}={shlex.quote(value)}; " for name, value in job.environment.items())
    if not job.files and not job.outputs:
        return variables + _work_line(job)
    copies = [
        f"echo {b64encode(content).decode()} | base64 -d >{shlex.quote(name)}" for name, content in job.files.items()
    ]
    made = shlex.join(job.outputs)
    kept = [f'mv {made} "$b"/' if job.files else f"ls {made} >/dev/null"] if made else []
    begin = ["b=$PWD", IN_FOLDER] if job.files and made else [IN_FOLDER] if job.files else []
    return variables + " && ".join([*begin, *copies, f"({_work_line(job)})", *kept])


IN_FOLDER = """d=$(mktemp -d) && cd "$d" && trap 'cd / && rm -rf "$d"' EXIT && trap 'exit 143' TERM INT"""
"""The start of a job with files."""


def _work_line(job: JobSpec) -> str:
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
    """A job as the system reports it."""

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
            said = f"{self.state.value}: {said}"  # the same text for all systems
        return Outcome.FAILED, said

    @property
    def cause(self) -> Cause:
        """Why an ended job did not pass, if known: results count cancelled jobs separately."""
        return Cause.CANCELLED if self.state is JobState.CANCELLED else Cause.NONE


@dataclass(frozen=True, slots=True)
class Submission:
    """The answer for one job of a submission: its id, or the reason why it was refused."""

    name: str
    id: str = ""
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Changes:
    """Jobs that began or ended since a cursor, each in its current state, and the next cursor."""

    jobs: tuple[Job, ...]
    cursor: str
    more: bool = False
    """Whether more changes are available now."""


@dataclass(frozen=True, slots=True)
class Purged:
    """The result of a purge: how many jobs were purged, ids of jobs that are not over, and of unknown jobs."""

    count: int
    busy: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Delegation:
    """Delegated credentials; `expires` in ns since the epoch, 0: not known."""

    id: str
    expires: int
    user: str = ""
    """Their user; "": the user of the target's credentials."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a client knows of a submission: acknowledged with an id, or without an answer (no id)."""

    name: str
    id: str = ""


class Fate(StrEnum):
    """The fate of a claimed submission."""

    ONCE = "ran once"
    TWICE = "ran twice"
    CANCELLED = "cancelled"
    """It is over, and never ran."""
    GOING = "still there"
    LOST = "lost"
    """Acknowledged, but the system does not know it, or says that it is done although it never ran."""
    NEVER = "never"
    """No reply, and the system does not know it."""
    PURGED = "purged by others"
    """Acknowledged, and purged by somebody else: how it ended is not known."""
    REUSED = "id used again"
    """Acknowledged and unknown, and its id belongs to another job."""
    UNKNOWN = "unknown"
    """The system does not know it, and forgets what has ended: whether it ran, was lost or never was is not known."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What an audit found about one claim, and the jobs that have its name."""

    claim: Claim
    fate: Fate
    jobs: tuple[Job, ...] = field(default=())


class BatchTarget(Target):
    """A system that accepts jobs, queues and runs them."""

    _framework: ClassVar[bool] = True
    provides: ClassVar[frozenset[str]] = frozenset({"any", "batch"})
    at_once: ClassVar[int] = 1000
    """Most names or ids in one request."""
    purges: ClassVar[bool] = True
    """Whether it purges jobs when it is asked to (`purge`); if not, it forgets ended jobs by itself."""
    runs_jobs: ClassVar[bool] = True
    """Whether jobs run; if they are only simulated, they cannot have an environment or files."""
    keeps_files: ClassVar[bool] = False
    """Whether it keeps files that a job has made until the job is purged (`fetch`)."""

    @abstractmethod
    def submit(self, jobs: Sequence[JobSpec]) -> list[Submission]:
        """Submit jobs in one request; return a Submission for each, in order.

        Raises Refused when none was accepted, Ambiguous when no answer came, Failed for any other answer.
        """

    @abstractmethod
    def status(self, names: Sequence[str] = (), ids: Sequence[str] = ()) -> list[Job]:
        """Return these jobs as the queue knows them; unknown ones are left out, several may have the same name."""

    @abstractmethod
    def changes(self, cursor: str, still_open: Callable[[], Sequence[str]], most: int = 5000) -> Changes:
        """Return jobs that began or ended since a cursor ("": from the start), at most `most`.

        `still_open` returns the names of open jobs, to ask for in systems without a list of changes.
        """

    @abstractmethod
    def cancel(self, ids: Sequence[str]) -> list[str]:
        """End jobs; return the ids of those that could not be ended (unknown, or over already)."""

    @abstractmethod
    def purge(self, ids: Sequence[str] = (), oldest: int = 0) -> Purged:
        """Purge ended jobs from the queue: these, or the oldest ones, at most `oldest`."""

    @abstractmethod
    def counts(self) -> dict[JobState, int]:
        """Return how many jobs there are in each state, those of others included."""

    @abstractmethod
    def history(self, names: Sequence[str]) -> list[Job]:
        """Return ended jobs from the accounting, by name."""

    def reason(self, name: str) -> str:
        """Return why a job waits or how it failed, in the system's words; "" if not known."""
        found = self.status([name]) or self.history([name])
        return found[-1].reason if found else ""

    @abstractmethod
    def delegate(self, lifetime: int, user: str = "") -> Delegation:
        """Delegate credentials of a user for so many ns. Raises Refused if the system does not support it."""

    @abstractmethod
    def renew(self, delegation: Delegation, lifetime: int) -> Delegation:
        """Renew a delegation: it is valid for so many ns from now on."""

    def revoke(self, delegation: Delegation) -> None:
        """Revoke a delegation; one that no longer exists is fine. Raises Refused if the system does not support it."""
        raise Refused(
            f"delegation {delegation.id!r} stays: a target of kind {self.kind!r} cannot take one back; "
            "expected that it expires by itself"
        )

    def fetch(self, job: Job, name: str) -> bytes:
        """Return a file that a job, which has ended, has made (`JobSpec.outputs`).

        Raises NotThere if there is none of that name, Refused if the system keeps no files.
        """
        raise Refused(f"file {name!r} of job {job.name!r} is not kept: kind {self.kind!r} hands no files out")

    def introduce(self, user: str) -> None:
        """Register a new user; one who is registered already is fine.

        Raises Refused if pileup cannot register users.
        """
        raise Refused(
            f"user {user!r} cannot be registered with a target of kind {self.kind!r}; expected one that is known there"
        )

    @property
    def introduces(self) -> bool:
        """Whether pileup can register users (`introduce`); if not, the user of the credentials acts in their place."""
        return type(self).introduce is not BatchTarget.introduce

    @property
    def one_user(self) -> bool:
        """Whether there is only one identity, which acts for every user of a suite."""
        return False

    def audit(self, claims: Iterable[Claim]) -> list[Finding]:
        """Look every claim up in queue and history, and return the fate of each, in order."""
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
            if job.name == gone.get(job.id):  # it was moving from one list of the system to another
                known[job.name].append(job)
            else:
                taken.add(job.id)
        return [Finding(claim, fate_of(claim, known[claim.name], taken), _once(known[claim.name])) for claim in claims]

    def _of_ids(self, ids: Sequence[str]) -> Iterator[Job]:
        for at in range(0, len(ids), self.at_once):
            yield from self.status(ids=ids[at : at + self.at_once])


def _once(jobs: Sequence[Job]) -> tuple[Job, ...]:
    """Each job once: queue and history may both have it. The time of submission distinguishes jobs with a reused id."""
    return tuple({(job.id, job.submitted): job for job in jobs}.values())


def fate_of(claim: Claim, jobs: Sequence[Job], taken: set[str]) -> Fate:
    """Return the fate of a claim: `jobs` have its name, `taken` are ids of other jobs."""
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
