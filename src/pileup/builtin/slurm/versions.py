"""Versions of Slurm's REST interface: which one a daemon serves, and how a request and an answer look in each.

v0.0.38 was run (Slurm 22.05). v0.0.39 to v0.0.44 (23.02 to 25.11) are by the published OpenAPI: environments are lists
from v0.0.39 on; from v0.0.40 on numbers are {"set", "infinite", "number"}, the state of a job is a list, the script
belongs to the job, and the controller is `pinged`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypedDict

from pileup.builtin.slurm.rest import Answer
from pileup.builtin.slurm.words import judged, problem_of
from pileup.plugin import Ambiguous, Failed, Refused, TargetError

OLDEST, NEWEST = 38, 44
LISTED = re.compile(rb'"\\?/slurm\\?/v0\.0\.(\d+)\\?/')
"""A path of the controller in what a daemon lists (GET /openapi/v3), its slashes escaped or not."""
LISTING = "/openapi/v3"
OK = 200
UNKNOWN = 404
REFUSED = (401, 403)


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the interface."""

    number: int

    def __str__(self) -> str:
        return f"v0.0.{self.number}"

    def path(self, rest: str) -> str:
        """Return the path of something of the controller."""
        return f"/slurm/{self}{rest}"

    def submission(self, job: dict[str, object], script: str, environment: dict[str, str]) -> bytes:
        """Return the body that submits a job."""
        variables: Any = environment
        if self.number >= 39:
            variables = [f"{name}={value}" for name, value in environment.items()]
        described = {**job, "environment": variables}
        if self.number >= 40:
            return json.dumps({"job": {**described, "script": script}}).encode()
        return json.dumps({"job": described, "script": script}).encode()


def negotiate(ask: Callable[[str], Answer]) -> Version:
    """Return the version to speak: the newest that is known here of those that a daemon lists.

    One that lists nothing is asked for the newest first. `ask` gets a path. Raises Failed, Refused or Ambiguous as it
    does, and TargetError for a daemon whose versions are all older or newer.
    """
    answer = ask(LISTING)
    listed = {int(found) for found in LISTED.findall(answer.body)} if answer.status == OK else set()
    if listed:
        known = [number for number in listed if OLDEST <= number <= NEWEST]
        if not known:
            said = ", ".join(str(Version(number)) for number in sorted(listed))
            raise TargetError(f"slurmrestd serves {said}", f"one of {Version(OLDEST)} to {Version(NEWEST)}")
        return Version(max(known))
    for number in range(NEWEST, OLDEST - 1, -1):
        answer = ask(Version(number).path("/ping"))
        if answer.status == OK:
            return Version(number)
        if answer.status != UNKNOWN:  # it refuses to who asks, whatever the version
            raise verdict_of(answer, "GET /ping")
    raise TargetError(
        f"slurmrestd knows no {Version(OLDEST).path('/ping')}, nor a newer one: HTTP {answer.status}",
        "a url of slurmrestd whose REST interface is v0.0.38 or later",
    )


def verdict_of(answer: Answer, what: str) -> Ambiguous | Failed | Refused:
    """Return what an answer of slurmrestd other than 200 means."""
    number, text = problem_of(answer.body)
    if answer.status in REFUSED:
        return Refused(f"{what}: {answer.status} {text}".rstrip())
    told = f"{text} (error {number})" if number > 0 else text or f"HTTP {answer.status}"
    return judged(told, what)


def number_of(value: Any) -> int | None:
    """Return a number as any version reports it; None for one that is not set, infinite, or no number."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") and not value.get("infinite") else None
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def state_word(value: Any) -> str:
    """Return the state of a job: the word, or the first of a list, which the flags come after."""
    if isinstance(value, list):
        value = value[0] if value else ""
    return str(value)


def job_id(body: bytes) -> str:
    """Return the id in an answer to a submission. Raises Failed when it reports none."""
    told: Any = {}
    with suppress(ValueError):
        told = json.loads(body)
    found = told if isinstance(told, dict) else {}
    number = number_of(found.get("job_id")) or number_of((found.get("result") or {}).get("job_id"))
    if not number:
        raise Failed("POST /job/submit: the answer reports no id")
    return str(number)


class Greeting(TypedDict, total=False):
    """What slurmrestd reports on itself, beside what was asked for."""

    meta: dict[str, dict[str, str]] | None
    pings: list[dict[str, object]] | None


def release_of(told: Greeting) -> str:
    """Return the release of Slurm that an answer names, empty when it names none."""
    meta = told.get("meta") or {}
    return str((meta.get("Slurm") or meta.get("slurm") or {}).get("release", ""))


def any_up(told: Greeting) -> bool:
    """Whether one of the controllers of an answer to GET ping is up."""
    pings = told.get("pings") or ()
    return any(each.get("ping") == "UP" or each.get("pinged") == "UP" or each.get("responding") for each in pings)
