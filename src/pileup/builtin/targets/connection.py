"""HTTP connections for Python tests: one per thread, from the standard library."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from pileup.builtin.targets.identity import Identity
from pileup.builtin.targets.location import Location
from pileup.plugin import Ambiguous, Failed, Refused

PIECE = 1 << 20
REFUSALS = frozenset({401, 403, 407, 423, 429, 503, 507})
"""Statuses with which a server says no, rather than does something wrong."""
SAFE_TO_REPEAT = frozenset({"GET", "HEAD", "OPTIONS", "PROPFIND", "PUT", "MKCOL"})
LARGEST_ANSWER = 64 << 20
"""Bytes of an answer that is held in memory."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer whose body has been read."""

    answer: http.client.HTTPResponse
    body: bytes

    @property
    def status(self) -> int:
        """HTTP status."""
        return self.answer.status


class Connections:
    """Connections to one place, one per thread, kept between requests."""

    def __init__(self, location: Location, identity: Identity, headers: dict[str, str], patience: float) -> None:
        self._location = location
        self._headers = {"User-Agent": "pileup", **headers, **identity.headers()}
        self._tls = identity.tls() if location.scheme == "https" else None
        self._patience = patience
        self._local = threading.local()

    def send(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Answer:
        """Send a request and read the whole answer.

        Raises Failed when there is no connection, Ambiguous when no whole answer comes after the request has left.
        """
        answer = self.begin(method, path, body, headers)
        return Answer(answer, b"".join(self.pieces(answer, path, LARGEST_ANSWER)))

    def begin(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> http.client.HTTPResponse:
        """Send a request and return the answer before its body is read."""
        old = getattr(self._local, "connection", None)
        try:
            return self._once(method, path, body, headers)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError) as problem:
            self.close()
            if old is None or method not in SAFE_TO_REPEAT:
                raise Ambiguous(f"the server closed the connection before it answered {method}") from problem
        try:  # a connection kept from before may have been closed meanwhile: that is no fault of the server
            return self._once(method, path, body, headers)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError) as problem:
            self.close()
            raise Ambiguous(f"the server closed the connection before it answered {method}") from problem

    def pieces(self, answer: http.client.HTTPResponse, path: str, largest: int | None = None) -> Iterator[bytes]:
        """Yield the body of an answer; a body that is cut short fails."""
        expected, received = answer.length, 0
        try:
            while piece := answer.read(PIECE):
                received += len(piece)
                if largest is not None and received > largest:
                    raise Failed(f"{path!r}: the answer is larger than {largest} bytes")
                yield piece
            if expected is not None and received != expected:
                raise Failed(f"{path!r}: the answer ended after {received} of {expected} bytes")
        except TimeoutError as problem:
            raise Ambiguous(f"{path!r}: the answer stopped half-way for {self._patience:g} s") from problem
        except (OSError, http.client.HTTPException) as problem:
            raise Failed(f"{path!r}: the answer broke off: {type(problem).__name__}") from problem
        finally:
            if not answer.isclosed() or (expected is not None and received != expected):
                self.close()

    def close(self) -> None:
        """Close the connection of this thread, if there is one."""
        connection = getattr(self._local, "connection", None)
        self._local.connection = None
        if connection is not None:
            connection.close()

    def _once(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str] | None
    ) -> http.client.HTTPResponse:
        connection = self._connected()
        try:
            connection.request(method, self._location.path_of(path), body, {**self._headers, **(headers or {})})
            return connection.getresponse()
        except TimeoutError as problem:
            self.close()
            raise Ambiguous(f"no answer to {method} within {self._patience:g} s") from problem
        except http.client.RemoteDisconnected:
            raise
        except http.client.HTTPException as problem:
            self.close()
            raise Failed(f"the server answered {method} with what is no HTTP: {type(problem).__name__}") from problem

    def _connected(self) -> http.client.HTTPConnection:
        kept: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if kept is not None:
            return kept
        connection: http.client.HTTPConnection
        host, port = self._location.host, self._location.port
        if self._tls is None:
            connection = http.client.HTTPConnection(host, port, timeout=self._patience)
        else:
            connection = http.client.HTTPSConnection(host, port, timeout=self._patience, context=self._tls)
        try:
            connection.connect()
        except OSError as problem:
            raise Failed(f"no connection to {self._location.authority}: {problem.strerror or problem}") from problem
        self._local.connection = connection
        return connection


def judge(answer: http.client.HTTPResponse, method: str, path: str, *passing: int) -> None:
    """Raise Refused or Failed unless the status is one of those that pass (any 2xx when none is given)."""
    status = answer.status
    if status in passing or (not passing and 200 <= status < 300):
        return
    what = f"{method} {path!r}: {status} {answer.reason}".rstrip()
    if status in REFUSALS:
        raise Refused(what)
    raise Failed(f"there is nothing at {path!r} ({status})" if status == 404 else what)
