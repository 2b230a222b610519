"""The batch system Slurm."""

from __future__ import annotations

import getpass
import json
import os
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pileup.builtin.credentials.identity import Identity
from pileup.builtin.credentials.reading import identity_of
from pileup.builtin.http.location import is_loopback
from pileup.builtin.slurm.commands import Commands, expiry, said_by, token_of
from pileup.builtin.slurm.launcher import slurm_launcher
from pileup.builtin.slurm.location import Place, place_of
from pileup.builtin.slurm.records import (
    CompletionRecords,
    DatabaseRecords,
    DatabaseUrl,
    Records,
    SacctRecords,
    login_of,
    running,
)
from pileup.builtin.slurm.rest import Answer, Endpoint, Rest, endpoint_of
from pileup.builtin.slurm.settings import SlurmSettings
from pileup.builtin.slurm.statistics import Statistics, from_rest, from_sdiag
from pileup.builtin.slurm.versions import (
    Version,
    any_up,
    job_id,
    negotiate,
    release_of,
    state_word,
    verdict_of,
)
from pileup.builtin.slurm.words import QUEUE_FORMAT, SECOND, judged, problem_of, queue_job, state_of
from pileup.plugin import Ambiguous, Duration, Failed, Launcher, PluginError, Refused, TargetError, option
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
    shell_line,
)

PATH = "/usr/local/bin:/usr/bin:/bin"
OK = 200
MISSING = (Fate.LOST, Fate.NEVER)
"""Fates of what neither the queue nor the accounting knows."""
FEW = 50
"""Names that squeue is asked for; of more it is asked for all jobs, which costs it no more."""
GONE = frozenset({2017, 2021})
"""Errors of who would end a job that is not there, or over (slurm_errno.h: ESLURM_INVALID_JOB_ID, _ALREADY_DONE)."""


class SlurmTarget(BatchTarget):
    """The batch system Slurm (22.05 and later), through its REST daemon (v0.0.38 and later) or its command sbatch.

    With `launch` pileup starts one on this machine and ends it after the run, for example `launch: {slots: 500,
    max_jobs: 10000, accounting: true}`; every setting can be an axis of a scan. Faults and monitors may name its
    daemons: munged, mariadbd, slurmdbd, slurmctld, slurmd (of several nodes slurmd-n1 and so on), slurmrestd.

    For a site's Slurm give the url of its REST daemon, unix:/run/slurmrestd.sock or http(s)://host:6820 with
    `token_file` (JWT) in the credentials; or no url, but `driver: sbatch` and `config` (its slurm.conf). squeue and
    sacct must work here.

    A submission is refused by limits of Slurm (MaxJobCount, limits of accounts), and ambiguous if no answer came. Slurm
    takes one job per request: `batch: N` means N requests. Times are whole seconds. Slurm forgets ended jobs by itself
    (MinJobAge): a purge is refused. A delegation is a token (`scontrol token`), which cannot be revoked. pileup cannot
    register users with Slurm. With `launch: {tokens: true, accounts: [daemon, games]}`, as root, these users
    submit with tokens of their own, and their jobs run as them; at a site, `others` lets pileup make tokens for them.
    """

    kind = "slurm"
    needs_url = False
    purges = False
    not_relayed = "is asked by its own commands and unix sockets, too, which take no relay"
    launch_settings = SlurmSettings

    driver: Literal["rest", "sbatch"] = option(
        "rest", help="what submits and cancels: slurmrestd, or sbatch and scancel"
    )
    config: str = option("", help="slurm.conf of a site (SLURM_CONF); default: where its commands look by themselves")
    user: str = option("", help="user name for Slurm; default: that of the token, or who runs pileup")
    partition: str = option("", help="where jobs are queued; default: Slurm's own")
    account: str = option("", help="the account that jobs are charged to; default: the user's own")
    database: DatabaseUrl = option(
        "", help="database of the accounting, e.g. mariadb://reader@host/slurm_acct; default: sacct is used"
    )
    password_file: str | None = option(None, help="file with the password of the database")
    cluster: str = option("", help="name of the cluster in the database, if it has several")
    others: bool = option(False, help="make tokens for the users of a suite, as root or SlurmUser may")
    patience: Duration = option(30 * SECOND, gt=0, help="how long a request or a command may take")

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._tokens: dict[str, Delegation] = {}
        self._secrets: dict[str, str] = {}
        self._lock = threading.Lock()

    @classmethod
    def launcher(cls, settings: Mapping[str, object], folder: Path) -> Launcher | None:
        """Return how to start Slurm. Raises ValueError for a setting that is unknown or out of bounds."""
        return slurm_launcher(settings)

    @classmethod
    def check_url(cls, url: str) -> None:
        """Refuse what is not a url of slurmrestd."""
        endpoint_of(url)

    @cached_property
    def place(self) -> Place:
        """What is known of it beside its url."""
        return place_of(self.url)

    @property
    def run_as(self) -> str:
        """Who its commands must be run as; empty for who runs pileup."""
        return self.place.user or (self.user if os.geteuid() == 0 else "")

    @property
    def database_url(self) -> str:
        """Where the database of its accounting is; empty when that is not known."""
        return self.database or self.place.database

    @property
    def slow_log(self) -> str:
        """Where the log of slow queries of that database is; empty when there is none."""
        return self.place.slow_log

    def environment(self) -> dict[str, str]:
        """Return the variables that its commands need, whoever they are run as."""
        conf = self.config or self.place.conf or os.environ.get("SLURM_CONF", "")
        return {"SLURM_CONF": conf} if conf else {}

    @cached_property
    def records(self) -> Records:
        """Where it keeps what becomes of jobs."""
        if self.database_url:
            return DatabaseRecords(self.database_url, login_of(self.password_file), self.cluster)
        if self.place.completions:
            return CompletionRecords(self.place.completions, lambda: running(self._queue("-t", "RUNNING")))
        return SacctRecords(self.commands, lambda: self._queue("-t", "all"))

    @property
    def commands(self) -> Commands:
        """How its commands are run, with the token of now where there is one."""
        token = self._token()
        more = {"SLURM_JWT": token} if token else {}
        return Commands(self.run_as, {**self.environment(), **more}, self.patience / SECOND)

    @cached_property
    def rest(self) -> Rest:
        """The REST daemon of the url."""
        return self._rest(self._endpoint)

    @cached_property
    def _gate(self) -> Rest:
        """The REST daemon for who has a token."""
        return self._rest(self.place.gate) if self.place.gate else self.rest

    @cached_property
    def _endpoint(self) -> Endpoint:
        if not self.url:
            raise TargetError("the target has no url", "that of slurmrestd, or the option `driver: sbatch`")
        return endpoint_of(self.url)

    def _rest(self, endpoint: Endpoint) -> Rest:
        return Rest(endpoint, self.patience / SECOND, self.identity.tls() if endpoint.tls else None)

    @cached_property
    def identity(self) -> Identity:
        """Who pileup is for it. Raises TargetError for credentials that cannot be used."""
        if not self.url or self.url.startswith("unix:"):
            return identity_of(self.credentials, "localhost", secret=True, tls=False)
        where = self._endpoint
        return identity_of(self.credentials, where.host, secret=where.tls or is_loopback(where.host), tls=where.tls)

    def _token(self) -> str:
        try:
            return str(self._source.get())
        except OSError as problem:
            raise Failed(f"the token file cannot be read: {problem.strerror}") from problem

    @cached_property
    def _source(self) -> Any:
        return self.identity.source()

    @property
    def _me(self) -> str:
        """Who we are for Slurm."""
        return self.user or str(said_by(self._token()).get("sun") or "") or self.run_as or getpass.getuser()

    @property
    def one_user(self) -> bool:
        """Whether all users of a suite are who we are: where nobody may make tokens for others."""
        return not (self.place.users or self.others)

    def _whose(self, user: str) -> str:
        """Return who acts for a user of a suite."""
        return self._me if self.one_user else user or self._me

    def probe(self) -> str:
        """Ask whether its controller answers, and for its version."""
        try:
            if self.driver == "sbatch":
                lines = self.commands.lines("scontrol", "ping", code=False)
                told, up = " ".join(self.commands.lines("sinfo", "-V")), any(line.endswith("UP") for line in lines)
            else:
                told, up = self._ping()
        except (Failed, Refused, Ambiguous) as problem:
            what = f"{self.url or 'Slurm'} cannot be reached: {problem.what}"
            raise TargetError(
                what, "a controller that answers", "check the url, `config` and `credentials`"
            ) from problem
        except PluginError as problem:
            raise TargetError(str(problem)) from problem
        if not up:
            raise TargetError(f"the controller of {told} does not answer", "one that is up")
        return told

    def _ping(self) -> tuple[str, bool]:
        answer = self._ask("GET", "/ping")
        self.rest.close()
        told = json.loads(answer.body)
        return f"slurm {release_of(told)}, REST {self.version}", any_up(told)

    def submit(self, jobs: Sequence[JobSpec]) -> list[Submission]:
        """Hand jobs over, each by a request of its own; after one that was refused the others are not sent."""
        taken: list[Submission] = []
        for job in jobs:
            try:
                number = self._sbatch(job) if self.driver == "sbatch" else self._post(job)
            except Refused as problem:
                if not taken:
                    raise
                return taken + [Submission(each.name, refused=problem.what) for each in jobs[len(taken) :]]
            taken.append(Submission(job.name, number))
        return taken

    def _post(self, job: JobSpec) -> str:
        """Submit one job by REST; return its id."""
        described: dict[str, object] = {
            "name": job.name,
            "current_working_directory": "/tmp",  # noqa: S108  there on every node; nothing is written
            "standard_output": "/dev/null",
            "standard_error": "/dev/null",
        }
        described |= {word: value for word, value in self._queueing.items() if value}
        delegation = self._delegation_of(job)
        wanted = self.version.submission(described, _script(job), {"PATH": PATH})
        try:
            answer = self._ask("POST", "/job/submit", wanted, delegation)
        except Ambiguous as problem:
            self._refuse_expired(delegation, problem)
            raise
        return job_id(answer.body)

    def _sbatch(self, job: JobSpec) -> str:
        """Submit one job by sbatch; return its id."""
        words = ["sbatch", "--parsable", "--export=NIL", f"--job-name={job.name}", "--chdir=/tmp"]
        words += ["--output=/dev/null", "--error=/dev/null"]
        words += [f"--{word}={value}" for word, value in self._queueing.items() if value]
        delegation = self._delegation_of(job)
        more = {"SLURM_JWT": self._secrets[delegation.id]} if delegation else {}
        try:
            return self._commands_of(delegation).submit(words, _script(job), more)
        except Ambiguous as problem:
            self._refuse_expired(delegation, problem)
            raise

    def _commands_of(self, delegation: Delegation | None) -> Commands:
        """Return how sbatch is run: as the user of a token of somebody else, since it says by itself who asks."""
        if self.one_user or delegation is None or os.geteuid() != 0:
            return self.commands
        return replace(self.commands, user=self._whose(delegation.user))

    @property
    def _queueing(self) -> dict[str, str]:
        return {"partition": self.partition, "account": self.account}

    def _delegation_of(self, job: JobSpec) -> Delegation | None:
        """Return the delegation of a job. Raises Refused for a user that it cannot be submitted for."""
        delegation = self._tokens.get(job.delegation)
        if job.delegation and delegation is None:
            raise Failed(f"delegation {job.delegation!r} is not known to this process; expected one that it has made")
        given = self._whose(delegation.user) if delegation else self._me
        if (whose := self._whose(job.user or (delegation.user if delegation else ""))) != given:
            raise Refused(f"no job for user {whose!r} with credentials of {given}; expected a token of that user")
        return delegation

    def _refuse_expired(self, delegation: Delegation | None, problem: Ambiguous) -> None:
        """Raise Refused for a token that was over: the controller drops who comes with one, and takes nothing."""
        if delegation and 0 < delegation.expires < time.time_ns():
            raise Refused(f"delegation {delegation.id} has expired") from problem

    def _ask(self, method: str, path: str, body: bytes = b"", delegation: Delegation | None = None) -> Answer:
        """Ask the REST daemon. Raises Refused, Ambiguous or Failed unless it answers 200."""
        answer = self._answer(method, path, body, delegation)
        if answer.status != OK:
            raise verdict_of(answer, f"{method} {path}")
        return answer

    @cached_property
    def version(self) -> Version:
        """The version of the REST interface that is spoken: the newest that both know, asked for once."""
        try:
            return negotiate(lambda path: self._send("GET", path))
        except Ambiguous as problem:  # nothing was submitted by that
            raise Failed(problem.what) from problem

    def _answer(self, method: str, path: str, body: bytes = b"", delegation: Delegation | None = None) -> Answer:
        return self._send(method, self.version.path(path), body, delegation)

    def _send(self, method: str, path: str, body: bytes = b"", delegation: Delegation | None = None) -> Answer:
        token = self._secrets[delegation.id] if delegation else self._token()
        if not token:
            return self.rest.ask(method, path, body)
        headers = {"X-SLURM-USER-NAME": self._named(delegation), "X-SLURM-USER-TOKEN": token}
        return self._gate.ask(method, path, body, headers)

    def _named(self, delegation: Delegation | None) -> str:
        return self._whose(delegation.user) if delegation else self._me

    def status(self, names: Sequence[str] = (), ids: Sequence[str] = ()) -> list[Job]:
        """Return what the controller knows of these jobs: those that wait, run, or have ended within MinJobAge."""
        if not names and not ids:
            return []
        plain = not any("," in name for name in names)
        few = ("--name", ",".join(names)) if names and not ids and plain and len(names) <= FEW else ()
        wanted, numbers = set(names), set(ids)
        found = [job for job in self._queue("-t", "all", *few) if job.name in wanted or job.id in numbers]
        if isinstance(self.records, SacctRecords):
            self.records.remember(found)
        return found

    def _queue(self, *words: str) -> list[Job]:
        lines = self.commands.lines("squeue", "-h", "-a", "-r", "-o", QUEUE_FORMAT, *words)
        return [job for job in map(queue_job, lines) if job is not None]

    def changes(self, cursor: str, still_open: Callable[[], Sequence[str]], most: int = 5000) -> Changes:
        """Return what began or ended since a cursor, as the accounting knows it."""
        return self.records.changes(cursor, still_open, most)

    def cancel(self, ids: Sequence[str]) -> list[str]:
        """End jobs; return the ids of those that could not be ended."""
        going = self._going(ids)  # Slurm says of jobs that are over, scancel of any, that it has ended them
        wanted = [each for each in ids if each in going]
        if self.driver == "sbatch":
            self._scancel(wanted)
        else:
            going -= {each for each in wanted if not self._deleted(each)}
        return [each for each in ids if each not in going]

    def _going(self, ids: Sequence[str]) -> set[str]:
        """Return which of these jobs are not over."""
        if self.driver == "rest" and len(ids) <= FEW:
            return {each for each in ids if self._state(each) in {JobState.QUEUED, JobState.RUNNING}}
        return {job.id for job in self._queue("-t", "all") if not job.state.final}

    def _state(self, id_: str) -> JobState | None:
        """Ask for the state of one job by REST; None for one that is unknown."""
        answer = self._about(id_, "GET")
        found = json.loads(answer.body).get("jobs") if answer.status == OK else None
        return state_of(state_word(found[0]["job_state"])) if found else None

    def _deleted(self, id_: str) -> bool:
        return self._about(id_, "DELETE").status == OK

    def _about(self, id_: str, method: str) -> Answer:
        """Ask for something about one job. Raises as `_ask`, but not for one that is unknown or over."""
        answer = self._answer(method, f"/job/{id_}")
        if answer.status != OK and problem_of(answer.body)[0] not in GONE:
            raise verdict_of(answer, f"{method} /job")
        return answer

    def _scancel(self, ids: Sequence[str]) -> None:
        for some in (ids[at : at + self.at_once] for at in range(0, len(ids), self.at_once)):
            _, error, code = self.commands.run(["scancel", *some])
            if code is None:
                raise Ambiguous(f"scancel did not end within {self.patience / SECOND:g} s")
            if code:
                raise judged(error.strip()[:300] or f"code {code}", "scancel")

    def purge(self, ids: Sequence[str] = (), oldest: int = 0) -> Purged:
        """Refuse: Slurm forgets by itself what has ended, after its MinJobAge."""
        raise Refused("Slurm forgets jobs that have ended by itself, after its MinJobAge; expected no purge")

    def counts(self) -> dict[JobState, int]:
        """Return how many jobs there are in each state: those that wait, run, or have ended within MinJobAge."""
        lines = self.commands.lines("squeue", "-h", "-a", "-r", "-t", "all", "-o", "%T")
        found: dict[JobState, int] = {}
        for word, number in Counter(lines).items():
            state = state_of(word)
            found[state] = found.get(state, 0) + number
        return found

    def queue_length(self) -> dict[JobState, int]:
        """Return how many jobs wait and run, by the database where it is known: a look that costs little."""
        if isinstance(self.records, DatabaseRecords):
            return self.records.open_jobs()
        return dict(Counter(map(state_of, self.commands.lines("squeue", "-h", "-a", "-r", "-o", "%T"))))

    def statistics(self) -> Statistics:
        """Return what the controller counts of itself and its scheduler, by REST where there is a url."""
        if self.url:
            return from_rest(self._ask("GET", "/diag").body)
        return from_sdiag(self.commands.lines("sdiag"))

    def audit(self, claims: Iterable[Claim]) -> list[Finding]:
        """Look every claim up. Without an accounting a job that nobody knows may have ended and been forgotten."""
        found = super().audit(claims)
        if self.records.account is not False:
            return found
        return [replace(each, fate=Fate.UNKNOWN) if each.fate in MISSING else each for each in found]

    def history(self, names: Sequence[str]) -> list[Job]:
        """Return what the accounting knows of jobs that have ended, by name."""
        return self.records.history(names)

    def reason(self, name: str) -> str:
        """Return how a job failed, as the accounting says, or why it waits."""
        found = self.history([name]) or self.status([name])
        return found[-1].reason if found else ""

    def delegate(self, lifetime: int, user: str = "") -> Delegation:
        """Make a token for so many ns, whole seconds. Raises Refused where Slurm gives none."""
        whose = self._whose(user)
        seconds = max(1, round(lifetime / SECOND))
        token, told = token_of(*self.commands.run(["scontrol", "token", f"username={whose}", f"lifespan={seconds}"]))
        made = Delegation(secrets.token_hex(8), expiry(told), user)
        with self._lock:
            self._tokens[made.id] = made
            self._secrets[made.id] = token
            self._forget_expired()
        return made

    def renew(self, delegation: Delegation, lifetime: int) -> Delegation:
        """Make another token for the same user, under the same id."""
        made = self.delegate(lifetime, delegation.user)
        renewed = Delegation(delegation.id, made.expires, made.user)
        with self._lock:
            self._tokens[renewed.id] = renewed
            self._secrets[renewed.id] = self._secrets.pop(made.id)
            del self._tokens[made.id]
        return renewed

    def _forget_expired(self) -> None:
        """Forget tokens that have been over for an hour."""
        end = time.time_ns() - 3600 * SECOND
        for each in [each.id for each in self._tokens.values() if 0 < each.expires < end]:
            del self._tokens[each], self._secrets[each]


def _script(job: JobSpec) -> str:
    return f"#!/bin/sh\n{shell_line(job)}\n"
