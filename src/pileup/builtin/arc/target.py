"""Computing elements that are ARC CEs, by their REST interface."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from pileup.builtin.arc.accounting import Accounting
from pileup.builtin.arc.delegations import Delegations
from pileup.builtin.arc.jobs import Jobs
from pileup.builtin.arc.known_jobs import Entry
from pileup.builtin.arc.launcher import arc_launcher
from pileup.builtin.arc.settings import ArcSettings
from pileup.builtin.arc.users import Users
from pileup.builtin.arc.words import describe, describe_all
from pileup.builtin.http.location import Location, locate
from pileup.builtin.slurm.location import SOCKET_NAME
from pileup.builtin.slurm.target import SlurmTarget
from pileup.plugin import Ambiguous, Duration, Failed, Launcher, Refused, TargetError, option
from pileup.plugin.batch import (
    BatchTarget,
    Changes,
    Claim,
    Delegation,
    Fate,
    Finding,
    Job,
    JobSpec,
    JobState,
    Purged,
    Submission,
)
from pileup.plugin.units import counted

MOUNT = "/arex"
"""Where the service is at a host, if the url does not say."""
VERSION = "1.0"


class ArcTarget(BatchTarget):
    """ARC CE, a computing element, by its REST interface 1.0: submission in xRSL, X.509 delegation, purge of each job.

    The url is https://HOST:PORT/arex; credentials are `certificate` and `key` or a `proxy`, and `ca` (`discover` finds
    both as the grid's own tools do). The `user` of a job is an identity in the folder `identities`. Delegation needs
    the package cryptography: pip install 'pileup[servers]'.

    With `launch` pileup starts A-REX, its REST service and a private Slurm on this machine, all as one ordinary user,
    on 127.0.0.1, with a private CA, for example `launch: {slots: 50, users: 5}`. Its users are `user1`, …; `introduce`
    makes more. Its accounting has times (whole seconds) and knows purged jobs. On a site's CE pileup asks for the times
    of each ended job by two small requests, and afterwards knows only the purged jobs that this process has purged.

    A job counts as queued until the CE reports that its batch system has started it. A purge is accepted at once and
    done within seconds. One request submits for one user.
    """

    kind = "arc"
    provides: ClassVar[frozenset[str]] = frozenset({"any", "batch"})
    relayed: ClassVar[bool] = True
    keeps_files: ClassVar[bool] = True
    at_once: ClassVar[int] = 10_000
    """Jobs are looked up in lists, one for each user, which take the service as long for one job as for all of them."""
    launch_settings = ArcSettings

    identities: str = option("", help="folder with an identity NAME.pem for each user: certificate and key, or a proxy")
    queue: str = option("", help="queue (partition) of the batch system; default: the CE's own choice")
    xrsl: str = option("", help='added to the description of each job, e.g. (runTimeEnvironment="ENV/PROXY")')
    patience: Duration = option(60 * 10**9, gt=0, help="how long an answer may take")

    @classmethod
    def launcher(cls, settings: Mapping[str, object], folder: Path) -> Launcher | None:
        """Return how to start one. Raises ValueError for a setting that is unknown or out of bounds."""
        return arc_launcher(settings, folder)

    @classmethod
    def check_url(cls, url: str) -> None:
        """Refuse what is not a url of a computing element."""
        if locate(url).scheme != "https":
            raise TargetError(f"{url!r} has no TLS, by which a computing element knows its users", "https://…")

    @property
    def location(self) -> Location:
        """The url, taken apart. Raises TargetError for one that is not valid."""
        self.check_url(self.url)
        found = locate(self.url)
        return replace(found, path=found.path.rstrip("/") or MOUNT)

    def endpoint(self) -> tuple[str, int]:
        """Return host and port of the url."""
        return self.location.host, self.location.port

    @cached_property
    def users(self) -> Users:
        """Whom pileup can be. Raises TargetError for credentials that cannot be used."""
        folder = Path(self.identities) if self.identities else None
        return Users(self.location, self.credentials, folder, self.patience / 1e9, self.reach())

    @cached_property
    def accounting(self) -> Accounting | None:
        """The accounting, where it can be read: of a private CE."""
        private = self.users.private
        return Accounting(private.accounting) if private else None

    @property
    def database_url(self) -> str:
        """The accounting as monitors take it, "" where it cannot be read."""
        return self.accounting.url if self.accounting else ""

    @cached_property
    def batch_system(self) -> SlurmTarget | None:
        """The Slurm behind a private CE, for monitors; None for another CE."""
        private = self.users.private
        return SlurmTarget(f"unix:{private.subjects.parent / SOCKET_NAME}") if private else None

    @cached_property
    def jobs(self) -> Jobs:
        """What is known of jobs there."""
        return Jobs(self.users, self.accounting)

    @cached_property
    def delegations(self) -> Delegations:
        """Credentials that are handed over."""
        return Delegations(self.users)

    def probe(self) -> str:
        """Ask for the versions of its interface, and whether we have access."""
        rest = self.users.rest("")
        try:
            versions = rest.versions()
            rest.delegations()
        except (Failed, Ambiguous, Refused) as problem:
            raise TargetError(
                f"{self.url} cannot be used: {problem.what}",
                "an answer",
                "is it up, and does it accept the credentials?",
            ) from problem
        if VERSION not in versions:
            raise TargetError(f"{self.url} has REST of versions {versions}", f"version {VERSION}")
        return f"ARC CE, REST {', '.join(versions)}"

    def submit(self, jobs: Sequence[JobSpec]) -> list[Submission]:
        """Hand jobs over in one request, which is one user's."""
        user = self.users.who(jobs[0].user)
        if any(self.users.who(job.user) != user for job in jobs):
            raise Failed("jobs of several users in one request; expected those of one")
        told = self.users.rest(user).submit(describe_all([describe(job, self.queue, self.xrsl) for job in jobs]))
        answers = [_submission(job.name, one) for job, one in zip(jobs, told, strict=False)]
        self.jobs.book.note(Entry(answer.id, answer.name, user) for answer in answers if answer.id)
        if len(told) != len(jobs):
            raise Ambiguous(f"{counted(len(told), 'answer')} for {counted(len(jobs), 'job')}")
        return answers

    def status(self, names: Sequence[str] = (), ids: Sequence[str] = ()) -> list[Job]:
        """Return what the service knows of these jobs; of names unknown here it is asked for everything it has."""
        book = self.jobs.book
        if any(not book.ids(name) for name in names):
            self.jobs.learn()
        self.jobs.name("", ids)
        wanted = dict.fromkeys([*(each for name in names for each in book.ids(name)), *ids])
        return self.jobs.explained(self.jobs.look_up(wanted))

    @property
    def introduces(self) -> bool:
        """Whether it is pileup's own."""
        return self.users.private is not None

    @property
    def one_user(self) -> bool:
        """Whether there are no `identities`."""
        return self.users.one

    def audit(self, claims: Iterable[Claim]) -> list[Finding]:
        """Look every claim up, after asking for the names of all jobs that pileup's users have there.

        Of a CE without accounting a job was purged by others that it has reported a state of, and has nothing of any
        more: it keeps the files of a job until somebody takes it out. One that it never reported, or has without a
        state, is lost.

        Of a private CE what happened on the nodes counts: a batch system that has forgotten may run a job twice, of
        which the CE knows one, and the CE may take the end of another job for that of one that never ran.
        """
        self.jobs.learn(now=True)
        found = super().audit(claims)
        missing = [each.claim.id for each in found if each.fate is Fate.LOST] if self.accounting is None else []
        gone = self.jobs.gone(missing)
        found = [replace(each, fate=Fate.PURGED) if each.claim.id in gone else each for each in found]
        begun = self.jobs.executions(job.id for each in found for job in each.jobs)
        return [replace(each, fate=on_nodes(each, begun)) for each in found]

    def changes(self, cursor: str, still_open: Callable[[], Sequence[str]], most: int = 5000) -> Changes:
        """Return what has ended, by the accounting; without one, what has begun or ended of the jobs still open."""
        if self.accounting is not None:
            ended = self.accounting.ended_since(int(cursor or 0), most)
            more = len(ended) == most
            others = [] if more else self.jobs.unaccounted(still_open())[: most - len(ended)]
            jobs = self.jobs.explained([*(each.job for each in ended), *others])
            return Changes(tuple(jobs), str(ended[-1].number) if ended else cursor, more)
        book = self.jobs.book
        names = still_open()
        ids = [each for name in names for each in book.ids(name)]
        now = self.jobs.look_up(ids)
        begun = self.jobs.timed(self.jobs.explained(job for job in now if job.state is not JobState.QUEUED))
        seen = {job.id for job in now}
        found = [*begun, *book.ended(names), *self.jobs.purged_by_others(each for each in ids if each not in seen)]
        return Changes(tuple({job.id: job for job in found}.values()), cursor)

    def cancel(self, ids: Sequence[str]) -> list[str]:
        """End jobs; return the ids of those that could not be ended."""
        going = [job.id for job in self.jobs.look_up(ids) if not job.state.final]
        done = set(self.jobs.act("kill", going))
        return [each for each in ids if each not in done]

    def purge(self, ids: Sequence[str] = (), oldest: int = 0) -> Purged:
        """Take jobs that have ended out; the service does it within the next seconds."""
        known = {job.id: job for job in self.jobs.look_up(ids)}
        over = {job.id: job for job in known.values() if job.state.final}
        if oldest:
            others = sorted((job for job in self.jobs.ended() if job.id not in over), key=lambda job: job.submitted)
            over |= {job.id: job for job in others[:oldest]}
        self.jobs.book.note_ended(self.jobs.explained(over.values()))
        gone = self.jobs.act("clean", over)
        busy = tuple(job.id for job in known.values() if not job.state.final)
        return Purged(len(gone), busy, tuple(each for each in ids if each not in known))

    def fetch(self, job: Job, name: str) -> bytes:
        """Return a file of the session folder of a job, as its owner."""
        return self.users.rest(self.jobs.book.entry(job.id).user).file(job.id, name)

    def counts(self) -> dict[JobState, int]:
        """Return how many jobs of pileup's users there are in each state."""
        return self.jobs.counts()

    def history(self, names: Sequence[str]) -> list[Job]:
        """Return what the accounting knows of jobs that have ended; without one, of those that were purged here."""
        purged = self.jobs.book.ended(names)
        if self.accounting is None:
            return purged
        told = self.accounting.ended(names)
        known = {job.id for job in told}
        return self.jobs.explained([*told, *(job for job in purged if job.id not in known)])

    def delegate(self, lifetime: int, user: str = "") -> Delegation:
        """Hand over a proxy of somebody's credentials for so many ns: the service makes the key, pileup signs."""
        return self.delegations.make(lifetime, user)

    def renew(self, delegation: Delegation, lifetime: int) -> Delegation:
        """Replace a proxy that was handed over by one that lasts for so many ns from now on."""
        return self.delegations.renew(delegation, lifetime)

    def revoke(self, delegation: Delegation) -> None:
        """Take a delegation back."""
        self.delegations.take_back(delegation)

    def introduce(self, user: str) -> None:
        """Give somebody new a certificate and access: at a private CE."""
        self.users.introduce(user)


def on_nodes(finding: Finding, begun: Mapping[str, int]) -> Fate:
    """Return the fate of one whose jobs have begun so often: id -> times, without those that nobody knows of."""
    times = sum(begun.get(job.id, 0) for job in finding.jobs)
    if times > 1:
        return Fate.TWICE
    never = any(job.state is JobState.COMPLETED and begun.get(job.id) == 0 for job in finding.jobs)
    return Fate.LOST if never else finding.fate


def _submission(name: str, one: dict[str, object]) -> Submission:
    """Return what became of one job: each has a status of its own within an answer of 201."""
    if job := str(one.get("id") or ""):
        return Submission(name, job)
    return Submission(name, refused=str(one.get("reason") or f"status {one.get('status-code')}"))
