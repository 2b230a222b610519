"""ARC's REST interface 1.0 (https://www.nordugrid.org/arc/arc6/tech/rest/rest.html), as one user of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode

from pileup.builtin.arc.words import ASKED
from pileup.builtin.http.connection import Answer, Connections, judge
from pileup.plugin import Failed, Refused

BASE = "rest/1.0/"
AT_ONCE = 1000
"""Most jobs in one question; the server takes 1 MB."""
NOT_ALLOWED = ("No more jobs allowed", "User can't be assigned configuration", "not allowed")
"""Beginnings of reasons with which it refuses, with the status of an error."""
JSON = "application/json"
PEM = "application/x-pem-file"
XRSL = "application/rsl"


class Rest:
    """What one user can ask. Every method raises Failed, Refused or Ambiguous as Connections and `judge` do."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def versions(self) -> list[str]:
        """Return the versions of the interface that the service knows."""
        found = _read(self._send("GET", "rest"), "rest")
        return [str(each) for each in _several(found.get("version"))]

    def ids(self) -> list[str]:
        """Return the ids of all jobs of this user."""
        return [str(job["id"]) for job in self._jobs("")]

    def states(self) -> dict[str, str]:
        """Return id -> state of all jobs of this user.

        Unlike `status` this is never late: it is read from where the service keeps it. All jobs in the batch system
        are called RUNNING.
        """
        return {str(job["id"]): str(job["state"]) for job in self._jobs(urlencode({"state": ",".join(ASKED)}))}

    def submit(self, request: str) -> list[dict[str, object]]:
        """Submit what is described in xRSL; return for each job `status-code`, `reason`, and `id` if it was taken."""
        answer = self._send("POST", f"{BASE}jobs", request.encode(), XRSL, "action=new", HTTPStatus.CREATED)
        return _several(_read(answer, "jobs").get("job"))

    def act(self, action: str, ids: Sequence[str]) -> Iterator[dict[str, object]]:
        """Do something to jobs (`status`, `info`, `kill`, `clean`); yield for each `id`, `status-code`, `reason`."""
        for at in range(0, len(ids), AT_ONCE):
            asked = json.dumps({"job": [{"id": each} for each in ids[at : at + AT_ONCE]]}).encode()
            answer = self._send("POST", f"{BASE}jobs", asked, JSON, f"action={action}", HTTPStatus.CREATED)
            yield from _several(_read(answer, "jobs").get("job"))

    def failure(self, job: str) -> str:
        """Return why a job failed, "" when it did not or nobody knows it."""
        return " ".join(self._diagnosis(job, "failed").split())

    def facts(self, job: str, what: str) -> dict[str, str]:
        """Return what the service has written down of a job, names in small letters; {} when nobody knows it.

        `local` has how it was taken in and when it should be cleaned up, `diag` what the batch system said at its end.
        """
        lines = (line.partition("=") for line in self._diagnosis(job, what).splitlines())
        return {name.strip().lower(): value.strip() for name, sign, value in lines if sign}

    def _diagnosis(self, job: str, what: str) -> str:
        path = f"{BASE}jobs/{quote(job, safe='')}/diagnose/{what}"
        answer = self._connections.send("GET", path)
        if answer.status == HTTPStatus.NOT_FOUND:
            return ""
        judge(answer.head, "GET", path)
        return answer.body.decode("utf-8", "replace")

    def file(self, job: str, name: str) -> bytes:
        """Return a file of a job's session folder. Raises NotThere for one that is not there."""
        path = f"{BASE}jobs/{quote(job, safe='')}/session/{quote(name, safe='')}"
        answer = self._connections.send("GET", path)
        judge(answer.head, "GET", path)
        return answer.body

    def ask_to_sign(self) -> tuple[str, str]:
        """Begin a delegation; return its id and the request to be signed."""
        answer = self._send("POST", f"{BASE}delegations", b"", JSON, "action=new", HTTPStatus.CREATED)
        place = answer.head.getheader("Location") or ""
        if "/" not in place:
            raise Failed("a delegation has no Location")
        return place.rsplit("/", 1)[1], answer.body.decode("ascii", "replace")

    def ask_to_renew(self, delegation: str) -> str:
        """Begin to renew a delegation; return the request to be signed."""
        path = f"{BASE}delegations/{quote(delegation, safe='')}"
        return self._send("POST", path, b"", JSON, "action=renew", HTTPStatus.CREATED).body.decode("ascii", "replace")

    def hand_over(self, delegation: str, proxy: str) -> None:
        """End a delegation or its renewal with what was signed."""
        self._send("PUT", f"{BASE}delegations/{quote(delegation, safe='')}", proxy.encode(), PEM)

    def take_back(self, delegation: str) -> None:
        """Delete a delegation; one that is not there is fine."""
        path = f"{BASE}delegations/{quote(delegation, safe='')}"
        passing = (HTTPStatus.OK, HTTPStatus.ACCEPTED, HTTPStatus.NO_CONTENT, HTTPStatus.NOT_FOUND)
        self._send("POST", path, b"", JSON, "action=delete", *passing)

    def delegations(self) -> list[str]:
        """Return the ids of the delegations of this user."""
        found = _read(self._send("GET", f"{BASE}delegations"), "delegations")
        return [str(each["id"]) for each in _several(found.get("delegation"))]

    def _jobs(self, query: str) -> list[dict[str, object]]:
        return _several(_read(self._send("GET", f"{BASE}jobs", query=query), "jobs").get("job"))

    def _send(
        self, method: str, path: str, body: bytes | None = None, kind: str = "", query: str = "", *passing: int
    ) -> Answer:
        headers = {"Accept": JSON, **({"Content-Type": kind} if kind else {})}
        answer = self._connections.send(method, path, body, headers, query)
        if answer.status not in passing and answer.head.reason.startswith(NOT_ALLOWED):
            raise Refused(answer.head.reason)
        judge(answer.head, method, path, *passing)
        return answer


def _read(answer: Answer, what: str) -> dict[str, object]:
    """Return the JSON object of an answer; an empty list is not text at all."""
    try:
        found = json.loads(answer.body or b"{}")
    except ValueError as problem:
        raise Failed(f"the answer about {what} is not JSON") from problem
    if not isinstance(found, dict):
        raise Failed(f"the answer about {what} is not a JSON object")
    return found


def _several(found: Any) -> list[Any]:
    """Return a list: the service writes one of a single element as that element, and an empty one not at all."""
    if found in (None, ""):
        return []
    return found if isinstance(found, list) else [found]
