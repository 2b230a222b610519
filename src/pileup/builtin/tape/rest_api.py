"""What targets with the WLCG Tape REST API have in common: where the API is, and its requests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar, NamedTuple
from urllib.parse import quote

from pileup.builtin.http.connection import Answer, Connections, judge
from pileup.builtin.http.location import Location, locate
from pileup.builtin.http.target import HttpTarget
from pileup.builtin.tape.answers import Endpoint, endpoint_of, localities_of, problem_of, request_of, staged_of
from pileup.plugin import Ambiguous, Failed, NotThere, Refused, TargetError
from pileup.plugin.tape import StagedFile, StagingTarget

WELL_KNOWN = ".well-known/wlcg-tape-rest-api"
TOO_LARGE = 413


class Api(NamedTuple):
    """Where the API of a system is, and what the system says of itself."""

    connections: Connections
    endpoint: Endpoint


class RestStaging(HttpTarget, StagingTarget):
    """A server with the WLCG Tape REST API (v1)."""

    _framework: ClassVar[bool] = True
    provides: ClassVar[frozenset[str]] = HttpTarget.provides | StagingTarget.provides

    @cached_property
    def _api(self) -> Api:
        """Find the API. Raises TargetError where the url has none that may be used, and what a request raises."""
        root = Connections(self._home(), self.identity, self.sent_headers(), self.patience / 1e9, reach=self.reach())
        answer = root.send("GET", WELL_KNOWN)
        if answer.status == 404:
            return self._without_metadata()
        judge(answer.head, "GET", WELL_KNOWN)
        found = endpoint_of(self.url, answer.body)
        where = self._allowed(locate(found.url))
        if where.authority == self.location.authority:
            reached = Connections(where, self.identity, self.sent_headers(), self.patience / 1e9, reach=self.reach())
        else:
            reached = root.beside(where)
        return Api(reached, found)

    def _without_metadata(self) -> Api:
        """Return the API of a server that says nothing of it: what the url leads to."""
        return Api(self.connections, Endpoint(self.location.url, "", 1))

    def _home(self) -> Location:
        where = self.location
        return Location(where.scheme, where.host, where.port, "")

    def _allowed(self, where: Location) -> Location:
        """Return a place that may have the credentials. Raises TargetError for any other."""
        here = self.location
        if where.scheme == here.scheme and {where.host, where.authority} & {here.host, *self.trust}:
            return where
        raise TargetError(
            f"{self.url} says that its Tape REST API is at {where.url}",
            f"{here.scheme}://{here.host}, at any port, or at a host of `trust`",
            f"add {where.authority} to the target's option `trust` if the credentials may go there",
        )

    def stage(self, paths: Sequence[str], lifetime: int = 0, node: int = 0) -> str:
        """Make a stage request."""
        lasts = {"diskLifetime": f"PT{max(1, lifetime // 10**9)}S"} if lifetime else {}
        site = self._api.endpoint.site if node else ""
        told = {"targetedMetadata": {site: {"node": node}}} if site else {}
        body = {"files": [{"path": path, **lasts, **told} for path in paths]}
        answer = self._ask("POST", "stage", body)
        return request_of(answer.body, answer.head.getheader("Location") or "")

    def staged(self, request: str) -> list[StagedFile]:
        """Ask how far a request is."""
        return staged_of(self._ask("GET", f"stage/{request}").body)

    def cancel(self, request: str, paths: Sequence[str]) -> None:
        """Cancel files of a request."""
        self._ask("POST", f"stage/{request}/cancel", {"paths": list(paths)})

    @property
    def opens(self) -> bool:
        """Whether the system says that it knows `open` and `close`."""
        return self._api.endpoint.opens

    def open_files(self, request: str, paths: Sequence[str]) -> None:
        """Open files of a request."""
        self._ask("POST", f"open/{request}", {"paths": list(paths)})

    def close_files(self, request: str, paths: Sequence[str]) -> None:
        """Close files of a request."""
        self._ask("POST", f"close/{request}", {"paths": list(paths)})

    def release(self, request: str, paths: Sequence[str]) -> None:
        """Release files of a request."""
        self._ask("POST", f"release/{request}", {"paths": list(paths)})

    def forget(self, request: str) -> None:
        """Delete a request."""
        self._ask("DELETE", f"stage/{request}")

    def locality(self, paths: Sequence[str]) -> dict[str, str]:
        """Ask where files are (`archiveinfo`)."""
        return localities_of(self._ask("POST", "archiveinfo", {"paths": list(paths)}).body)

    def _ask(self, method: str, path: str, body: object = None, query: str = "") -> Answer:
        """Send a request; what the system says against it is in the message of what is raised."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} if data else None
        answer = self._api.connections.send(method, quote(path), data, headers, query)
        try:
            judge(answer.head, method, path)
        except (Refused, Failed, Ambiguous) as problem:
            told = problem_of(answer.body)
            kind = Refused if answer.status == TOO_LARGE else NotThere if answer.status == 404 else type(problem)
            what = f"{method} {path!r}: {answer.status} {answer.head.reason}".rstrip()
            raise kind(f"{what}: {told}" if told else problem.what).because(problem.cause) from None
        return answer
