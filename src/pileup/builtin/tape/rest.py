"""Tape systems that speak the WLCG Tape REST API, version 1."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from functools import cached_property
from typing import ClassVar, NamedTuple
from urllib.parse import quote

from pileup.builtin.http.connection import Answer, Connections, judge
from pileup.builtin.http.location import Location, locate
from pileup.builtin.http.target import HttpTarget
from pileup.builtin.tape.answers import Endpoint, endpoint_of, localities_of, problem_of, request_of, staged_of
from pileup.plugin import Ambiguous, Duration, Failed, NotThere, Refused, TargetError, VerdictException, option
from pileup.plugin.tape import StagedFile, StagingTarget, Step, TapeTarget

WELL_KNOWN = ".well-known/wlcg-tape-rest-api"
TOO_LARGE = 413


class Api(NamedTuple):
    """Where the API of a system is, and what the system says of itself."""

    connections: Connections
    endpoint: Endpoint


class TapeRestTarget(HttpTarget, TapeTarget, StagingTarget):
    """Tape system with the WLCG Tape REST API (v1): dCache, EOS with CTA, StoRM, or a practice tape library.

    The url is that of the server, whose `/.well-known/wlcg-tape-rest-api` names the API, or that of the API itself
    (`https://se01.site.org:3880/api/v1/tape`) where there is no such page. The API may be at another port of the same
    host, or at a host of `trust`. Paths of files are as the system knows them, not relative to the url. A token needs
    the scope `storage.stage`. Files of a request have the states of the API; where a system says `onDisk` instead, as
    EOS does, a file is COMPLETED when it is on disk and FAILED when it has an error. A file or request that the system
    does not know any more is lost. Options and credentials are those of kind `http`.

    Tests of whole requests are `tape.stage` and `tape.storm` with `tape.poll`. `tape.project` asks for each file in a
    request of its own, and then every `poll`: its times are those of the polls, except on a practice tape library.
    """

    kind = "tape-rest"
    provides: ClassVar[frozenset[str]] = HttpTarget.provides | TapeTarget.provides | StagingTarget.provides
    _more: ClassVar[str] = ""
    """Query of a poll: a practice library is asked for its own times."""

    poll: Duration = option(10**9, gt=0, help="time between two polls of a file of `tape.project`")

    @property
    def nodes(self) -> int:
        """Worker nodes that the system knows; 1 where it says nothing."""
        return self._api.endpoint.nodes

    def probe(self) -> str:
        """Ask for the metadata. Raises TargetError where nothing answers, or what is not such an API."""
        answer = self._look("HEAD")
        try:
            endpoint = self._api.endpoint
        except VerdictException as problem:
            raise TargetError(f"{self.url}: {problem.what}", "an answer", "is it up, is the url right?") from problem
        if not endpoint.site:
            self._ask_where()
        return f"Tape REST API v1 of {endpoint.site or answer.getheader('Server') or 'an unnamed site'}"

    def remarks(self) -> list[str]:
        """Warn where requests do not go through the relay of `path`."""
        where = locate(self._api.endpoint.url)
        past = self.via and where.authority != self.location.authority
        told = [f"its API is at {where.authority}, which the relay of `path` does not lead to"] if past else []
        return super().remarks() + told

    def _ask_where(self) -> None:
        """Raise TargetError where there is no such API: one that says nothing of itself says where files are."""
        try:
            self.locality(["/"])
        except Refused:
            pass  # there is one, which wants to know more of us
        except (Failed, Ambiguous) as problem:
            told = f"{self.url} names no Tape REST API, and is none: {problem.what}"
            raise TargetError(told, f"one, or /{WELL_KNOWN}", "correct the url") from problem

    @cached_property
    def _api(self) -> Api:
        """Find the API. Raises TargetError where the url has none that may be used, and what a request raises."""
        root = Connections(self._home(), self.identity, self.sent_headers(), self.patience / 1e9, reach=self.reach())
        answer = root.send("GET", WELL_KNOWN)
        if answer.status == 404:
            return Api(self.connections, Endpoint(self.location.url, "", 1))
        judge(answer.head, "GET", WELL_KNOWN)
        found = endpoint_of(self.url, answer.body)
        where = self._allowed(locate(found.url))
        if where.authority == self.location.authority:
            reached = Connections(where, self.identity, self.sent_headers(), self.patience / 1e9, reach=self.reach())
        else:
            reached = root.beside(where)
        return Api(reached, found)

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

    def recall(self, node: int, path: str, size: int) -> AsyncIterator[Step]:
        """Ask for a file in a request of its own; its size is what it is."""
        from pileup.builtin.tape.recall import recalled  # noqa: PLC0415  it imports asyncio

        return recalled(self, node, path)

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

    def followed(self, request: str) -> list[StagedFile]:
        """The same, with the times that a practice library knows."""
        return staged_of(self._ask("GET", f"stage/{request}", query=self._more).body)

    def cancel(self, request: str, paths: Sequence[str]) -> None:
        """Cancel files of a request."""
        self._ask("POST", f"stage/{request}/cancel", {"paths": list(paths)})

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
