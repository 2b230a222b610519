"""The practice batch system as a kind of target."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any, ClassVar, TypedDict, cast
from urllib.parse import urlencode

from pileup.builtin.http.connection import judge
from pileup.builtin.http.target import HttpTarget
from pileup.model.practice import SETTINGS, BatchSettings
from pileup.plugin import Failed, Launcher, Refused
from pileup.plugin.batch import BatchTarget, Changes, Delegation, Job, JobSpec, JobState, Purged, Submission
from pileup.plugin.units import counted

READY = r"^pileup practice batch ready at (?P<url>\S+)$"


class JobTold(TypedDict):
    """A job as the server reports on it; times in ns since the epoch."""

    name: str
    id: int
    state: str
    submitted: int
    started: int
    ended: int
    reason: str
    user: str


class _Answer(TypedDict, total=False):
    """What the server answers; which words depends on what it was asked."""

    error: str
    refused: str | None
    ids: list[int]
    jobs: list[JobTold]
    next: str
    more: bool
    left: list[int]
    purged: int
    busy: list[int]
    missing: list[int]
    states: dict[str, int]
    id: int
    expires: int
    user: str
    lost: int


class PracticeBatchTarget(HttpTarget, BatchTarget):
    """Batch system of known truth: its slots, cycle, limits, costs, failures and losses are set, and logged.

    With `launch` pileup starts one on this machine and ends it after the run, for example `launch: {slots: 500, cycle:
    10 s, submit_cost: {exponential: 5 ms}, limit: 10000}`; its settings are those of `pileup practice batch`. In the
    folder of the target below the run, `jobs.csv` says what happened to each job, over restarts, and
    `practice-batch.csv` what was done to each request (`practice-batch-2.csv` after a restart). A restart after a kill
    forgets submissions since the last checkpoint. Jobs are simulated: none sleeps, uses CPU or runs a command, each is
    over after its `duration`. With the setting `users` only these users, and those registered later, have access. A job
    is refused if its delegation has expired, was revoked or belongs to another user. Options and credentials are those
    of kind `http`.
    """

    kind = "practice-batch"
    provides: ClassVar[frozenset[str]] = frozenset({"any", "http", "batch"})
    launch_settings: ClassVar[Any] = BatchSettings
    runs_jobs: ClassVar[bool] = False

    @classmethod
    def launcher(cls, settings: Mapping[str, object], folder: Path) -> Launcher | None:
        """Return how to start one. Raises ValueError for a setting that is unknown or out of bounds."""
        wanted = BatchSettings.model_validate(settings)
        port = wanted.port or "{port}"  # the same one again after a restart
        told = {SETTINGS: json.dumps(settings)}  # as written: quantities keep their units
        command = (sys.executable, "-m", "pileup", "practice", "batch", "--port", str(port))
        logs = ("--jobs", "{folder}/jobs.csv", "--log", "{folder}/practice-batch{again}.csv")
        return Launcher.one((*command, *logs), READY, environment=told)

    def submit(self, jobs: Sequence[JobSpec]) -> list[Submission]:
        """Hand jobs over in one request."""
        wanted = [_wanted(job) for job in jobs]
        head, answer = self._ask("POST", "jobs", {"jobs": wanted}, HTTPStatus.CREATED, HTTPStatus.TOO_MANY_REQUESTS)
        if head == HTTPStatus.TOO_MANY_REQUESTS:
            raise Refused(str(answer.get("refused") or answer.get("error")))
        ids = [str(number) for number in answer["ids"]]
        reason = str(answer["refused"] or "")
        if len(ids) != len(jobs) and not reason:
            raise Failed(f"{counted(len(ids), 'id')} for {counted(len(jobs), 'job')}")
        taken = [Submission(job.name, number) for job, number in zip(jobs, ids, strict=False)]
        return taken + [Submission(job.name, refused=reason) for job in jobs[len(ids) :]]

    def status(self, names: Sequence[str] = (), ids: Sequence[str] = ()) -> list[Job]:
        """Return what the queue knows of these jobs."""
        asked = {"names": list(names), "ids": [int(number) for number in ids]}
        return _jobs(self._asked("POST", "status", asked))

    def changes(self, cursor: str, still_open: Callable[[], Sequence[str]], most: int = 5000) -> Changes:
        """Return what began or ended since a cursor; the system says that by itself."""
        page = self._asked("GET", "changes", query=urlencode({"since": cursor or 0, "most": most}))
        return Changes(tuple(_jobs(page)), str(page["next"]), bool(page["more"]))

    def cancel(self, ids: Sequence[str]) -> list[str]:
        """End jobs; return the ids of those that could not be ended."""
        answer = self._asked("POST", "cancel", {"ids": [int(number) for number in ids]})
        return [str(number) for number in answer["left"]]

    def purge(self, ids: Sequence[str] = (), oldest: int = 0) -> Purged:
        """Take jobs that have ended out of the queue."""
        answer = self._asked("POST", "purge", {"ids": [int(number) for number in ids], "oldest": oldest})
        busy, missing = (tuple(str(number) for number in answer[name]) for name in ("busy", "missing"))
        return Purged(answer["purged"], busy, missing)

    def counts(self) -> dict[JobState, int]:
        """Return how many jobs there are in each state."""
        return {JobState(name): number for name, number in self._asked("GET", "counts")["states"].items()}

    def history(self, names: Sequence[str]) -> list[Job]:
        """Return what the accounting knows of jobs that have ended, by name."""
        return _jobs(self._asked("POST", "history", {"names": list(names)}))

    def delegate(self, lifetime: int, user: str = "") -> Delegation:
        """Hand credentials over; in practice they are a number with an owner and an end."""
        return self._delegation({"lifetime": lifetime} | ({"user": user} if user else {}))

    def renew(self, delegation: Delegation, lifetime: int) -> Delegation:
        """Let a delegation last for so many ns from now on."""
        return self._delegation({"id": int(delegation.id), "lifetime": lifetime})

    def revoke(self, delegation: Delegation) -> None:
        """Take a delegation back; one that is not there any more is fine."""
        self._asked("POST", "revoke", {"id": int(delegation.id)})

    def introduce(self, user: str) -> None:
        """Make somebody known, where the setting `users` keeps others out."""
        self._asked("POST", "users", {"user": user})

    def _delegation(self, asked: Mapping[str, object]) -> Delegation:
        _, answer = self._ask("POST", "delegations", asked, HTTPStatus.CREATED)
        return Delegation(str(answer["id"]), answer["expires"], answer.get("user", ""))

    def crash(self, away: int = 0) -> int:
        """Let it break off as if it was killed, and be away for so many ns; return how many jobs it forgot."""
        return int(self._asked("POST", "crash", {"away": away})["lost"])

    def checkpoint(self) -> None:
        """Let it make everything safe against a crash now."""
        self._asked("POST", "checkpoint", {})

    def _asked(self, method: str, path: str, body: Mapping[str, object] | None = None, query: str = "") -> _Answer:
        return self._ask(method, path, body, HTTPStatus.OK, query=query)[1]

    def _ask(
        self, method: str, path: str, body: Mapping[str, object] | None, *passing: int, query: str = ""
    ) -> tuple[int, _Answer]:
        """Ask for something. Raises Refused, Failed or Ambiguous unless the status is one of those that pass."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} if data else None
        answer = self.connections.send(method, path, data, headers, query)
        if answer.status == HTTPStatus.FORBIDDEN:
            raise Refused(str(_read(answer.body, f"{method} {path!r}").get("error")))
        judge(answer.head, method, path, *passing)
        return answer.status, _read(answer.body, f"{method} {path!r}")


def _read(body: bytes, of: str) -> _Answer:
    """Return the JSON object of an answer. Raises Failed when it is not one."""
    try:
        found = json.loads(body)
    except ValueError as problem:
        raise Failed(f"{of}: the answer is not JSON") from problem
    if not isinstance(found, dict):
        raise Failed(f"{of}: the answer is not a JSON object")
    return cast(_Answer, found)


def _wanted(job: JobSpec) -> dict[str, str | float]:
    """What the server is reported: it only pretends, so that what a job would do is of no matter, and how long is."""
    if job.environment or job.files or job.outputs:
        raise Failed(f"job {job.name!r} has an environment or files, which a simulated job cannot have")
    wanted: dict[str, str | float] = {"name": job.name, "duration": job.duration}
    if job.delegation:
        wanted["delegation"] = int(job.delegation)
    return wanted | ({"user": job.user} if job.user else {})


def _jobs(answer: _Answer) -> list[Job]:
    return [_job(told) for told in answer["jobs"]]


def _job(told: JobTold) -> Job:
    return Job(
        told["name"],
        str(told["id"]),
        JobState(told["state"]),
        told["submitted"],
        told["started"],
        told["ended"],
        told["reason"],
        told["user"],
    )
