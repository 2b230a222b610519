"""HTTP connections for Python tests: one per thread, from the standard library."""

from __future__ import annotations

import fcntl
import http.client
import os
import select
import socket
import ssl
import sys
import termios
import threading
import weakref
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from pileup.builtin.credentials.identity import Identity
from pileup.builtin.credentials.server_certificates import Untrusted, compare, described, shown, unverified
from pileup.builtin.credentials.token_end import is_over
from pileup.builtin.http.location import Location
from pileup.plugin import Ambiguous, Cause, Failed, NotThere, Refused

PIECE = 1 << 20
REFUSALS = frozenset({401, 403, 429, 503, 507})
"""Statuses with which a server refuses, rather than fails."""
ABOUT_WHO = (401, 403)
"""Statuses with which a server refuses a token that is over."""
NOTHING_THERE = 404
REDIRECTS = range(300, 400)
SAFE_TO_REPEAT = frozenset({"GET", "HEAD", "OPTIONS", "PROPFIND", "PUT", "MKCOL"})
"""Methods that do the same when they are done twice (RFC 9110, 9.2.2)."""
LARGEST_ANSWER = 64 << 20
"""Bytes of an answer that is held in memory."""


NOT_TLS = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"})
"""What the TLS library calls bytes that are something else."""
NO_ANSWER = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError)


class RequestNotRead(Ambiguous):
    """The server closed the connection and had not read the request."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer whose body has been read."""

    head: http.client.HTTPResponse
    body: bytes

    @property
    def status(self) -> int:
        """HTTP status."""
        return self.head.status


class BearerResponse(http.client.HTTPResponse):
    """An answer that knows which token its request has shown."""

    token = ""


class BearerConnection(http.client.HTTPConnection):
    """A connection whose answers are such."""

    response_class = BearerResponse


class BearerTlsConnection(http.client.HTTPSConnection):
    """The same with TLS."""

    response_class = BearerResponse


class Exchange:
    """A request that was answered; the connection is its own until the body has been read."""

    def __init__(self, home: Connections, connection: http.client.HTTPConnection, path: str) -> None:
        home.expect(connection)
        self.head = connection.getresponse()
        self._home = home
        self._connection = connection
        self._path = path

    def pieces(self) -> Generator[bytes]:
        """Yield the body in pieces of at most 1 MiB; one that is cut short fails. At its end the connection is kept."""
        expected, received, whole = self.head.length, 0, False
        try:
            while piece := self.head.read(PIECE):
                received += len(piece)
                yield piece
            whole = expected is None or received == expected
        except TimeoutError as problem:
            raise Ambiguous(f"{self._path!r}: the answer stopped half-way") from problem
        except (OSError, http.client.HTTPException) as problem:
            raise Failed(f"{self._path!r}: the answer broke off ({type(problem).__name__})") from problem
        finally:
            if whole:
                self._home.keep(self._connection)
            else:
                self.drop()
        if not whole:
            raise Failed(f"{self._path!r}: the answer ended after {received} of {expected} bytes")

    def body(self) -> bytes:
        """Return the whole body. Raises Failed for one of more than LARGEST_ANSWER."""
        parts, size = [], 0
        for piece in self.pieces():
            parts.append(piece)
            size += len(piece)
            if size > LARGEST_ANSWER:
                self.drop()
                raise Failed(f"{self._path!r}: the answer is larger than {LARGEST_ANSWER} bytes")
        return b"".join(parts)

    def drop(self) -> None:
        """Close the connection, whatever is still to come."""
        self.head.close()
        self._connection.close()


class ThreadConnection:
    """The connection that a thread keeps, if any; it is closed when the thread or the target goes.

    Not by `__del__`: of what is garbage together, the socket may be finalized first, and warns that nobody closed it.
    """

    def __init__(self) -> None:
        self.kept: list[http.client.HTTPConnection] = []
        weakref.finalize(self, _close, self.kept)


class Connections:
    """Connections to one place, one per thread kept between requests."""

    def __init__(
        self,
        location: Location,
        identity: Identity,
        headers: dict[str, str],
        patience: float,
        *,
        prompt: bool = False,
        reach: tuple[str, int] | None = None,
    ) -> None:
        """`patience` in seconds; `reach` is where to connect to, where that is not the place itself.

        `prompt` lets the kernel acknowledge an answer's beginning at once.

        A server that writes head and body apart, with Nagle's algorithm, else waits 40 ms for that in each answer.
        """
        self._location = location
        self._identity = identity
        self._reach = reach or (location.host, location.port)
        self._prompt = prompt
        self._headers = {"User-Agent": "pileup", **headers, **identity.headers()}
        self._token = identity.source()
        self._tls = identity.tls() if location.scheme == "https" else None
        self._pinned = identity.certificate_sha256
        self._patience = patience
        self._local = threading.local()

    def beside(self, location: Location) -> Connections:
        """Return connections to another place of the same server, as the same client."""
        return Connections(location, self._identity, {}, self._patience)

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        query: str = "",
    ) -> Answer:
        """Send a request and read the whole answer. A query comes encoded.

        Raises Failed when there is no connection, Ambiguous when no answer comes after the request has left.
        """
        exchange = self.begin(method, path, body, headers, query)
        return Answer(exchange.head, exchange.body())

    def begin(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        query: str = "",
    ) -> Exchange:
        """Send a request and return the answer before its body is read."""
        wanted = self._location.path_of(path) + (f"?{query}" if query else "")
        ask = partial(self._once, method=method, path=path, wanted=wanted, body=body, headers=headers)
        kept = self._taken()
        if kept is not None:
            try:
                with _watched(kept):
                    return ask(kept)
            except RequestNotRead as problem:  # it was closed meanwhile: that is no error of the server
                if method not in SAFE_TO_REPEAT:
                    raise Ambiguous(f"the server closed the connection before it answered {method}") from problem
        return ask(self._connected())

    def expect(self, connection: http.client.HTTPConnection) -> None:
        """Make a connection ready for an answer."""
        if self._prompt and connection.sock is not None:
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)  # holds for the next segments only

    def keep(self, connection: http.client.HTTPConnection) -> None:
        """Take a connection back for the next request of this thread."""
        kept = self._mine().kept
        if kept:
            connection.close()
        else:
            kept.append(connection)

    def close(self) -> None:
        """Close the connection of this thread, if there is one."""
        connection = self._taken()
        if connection is not None:
            connection.close()

    def _mine(self) -> ThreadConnection:
        """Return what this thread keeps."""
        found: ThreadConnection | None = getattr(self._local, "kept", None)
        if found is None:
            found = self._local.kept = ThreadConnection()
        return found

    def _taken(self) -> http.client.HTTPConnection | None:
        """Take the kept connection of this thread out, unless the server has closed it meanwhile."""
        kept = self._mine().kept
        connection = kept.pop() if kept else None
        if connection is None or connection.sock is None:
            return None
        poll = select.poll()
        poll.register(connection.sock, select.POLLIN)
        if poll.poll(0):  # nothing was asked, so this is an end, and what is sent now might be lost
            connection.close()
            return None
        return connection

    def _once(
        self,
        connection: http.client.HTTPConnection,
        *,
        method: str,
        path: str,
        wanted: str,
        body: bytes | None,
        headers: dict[str, str] | None,
    ) -> Exchange:
        token = self._bearer()
        bearer = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            connection.request(method, wanted, body, {**self._headers, **bearer, **(headers or {})})
            exchange = Exchange(self, connection, path)
        except TimeoutError as problem:
            connection.close()
            raise Ambiguous(f"no answer to {method} within {self._patience:g} s") from problem
        except NO_ANSWER as problem:
            connection.close()
            raise Ambiguous(f"the server closed the connection before it answered {method}") from problem
        except http.client.HTTPException as problem:
            connection.close()
            raise Failed(f"the server answered {method} with what is not HTTP ({type(problem).__name__})") from problem
        except OSError as problem:
            connection.close()
            raise Ambiguous(f"no answer to {method}: {problem.strerror or problem}") from problem
        if isinstance(exchange.head, BearerResponse):
            exchange.head.token = token
        return exchange

    def _bearer(self) -> str:
        """Return the token of now, empty for none. Raises Failed when its file cannot be read any more."""
        try:
            return self._token.get()
        except OSError as problem:
            raise Failed(f"the token file cannot be read: {problem.strerror}") from problem

    def _connected(self) -> http.client.HTTPConnection:
        connection = self._made(self._tls)
        try:
            connection.connect()
            if self._tls is not None and self._pinned:
                compare(connection.sock, self._pinned)
        except ssl.SSLCertVerificationError as problem:
            connection.close()
            raise Untrusted(f"TLS: certificate not trusted ({_said(problem)}): {self._stranger()}") from problem
        except OSError as problem:
            connection.close()
            raise Failed(f"no connection to {self._location.authority}: {_said(problem)}") from problem
        except Untrusted:
            connection.close()
            raise
        return connection

    def _made(self, tls: ssl.SSLContext | None) -> http.client.HTTPConnection:
        host, port = self._location.host, self._location.port
        if tls is None:
            made: http.client.HTTPConnection = BearerConnection(host, port, timeout=self._patience)
        else:
            made = BearerTlsConnection(host, port, timeout=self._patience, context=tls)
        # the library's own seam, below Host and TLS names; a method would keep this object, and with it the connection
        made._create_connection = partial(_reached, self._reach)  # type: ignore[attr-defined]
        return made

    def _stranger(self) -> str:
        """Return whose certificate it is that is not trusted: a second look, which sends the server nothing."""
        connection = self._made(unverified())
        try:
            connection.connect()
            return described(shown(connection.sock))
        except OSError as problem:
            return f"it cannot be read ({_said(problem)})"
        finally:
            connection.close()


def _close(kept: Iterable[http.client.HTTPConnection]) -> None:
    for each in kept:
        each.close()


def _reached(reach: tuple[str, int], _address: tuple[str, int], *how: Any) -> socket.socket:
    """Connect to where a place is reached, instead of the address that the library was given."""
    return socket.create_connection(reach, *how)


@contextmanager
def _watched(connection: http.client.HTTPConnection) -> Iterator[None]:
    """Look at a kept connection that ends, which the library closes at once, before it is gone.

    Raises RequestNotRead for what the server has not read: a reset, alone or behind an end in order, is what a system
    sends for that; so is an end before which its machine had not acknowledged the head of the request (SIOCOUTQ).
    """
    watched = socket.socket(fileno=os.dup(connection.sock.fileno()))  # one of TLS cannot be doubled as such
    try:
        yield
    except Ambiguous as problem:
        cause = problem.__cause__
        if not isinstance(cause, NO_ANSWER):
            raise
        left = int.from_bytes(fcntl.ioctl(watched, termios.TIOCOUTQ, bytes(4)), sys.byteorder, signed=True)
        reset = watched.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0
        if reset or left > 0 or not isinstance(cause, http.client.RemoteDisconnected):
            raise RequestNotRead(problem.what) from problem
        raise
    finally:
        watched.close()


def _said(problem: OSError) -> str:
    """Return what the system or the TLS library says; a wrong certificate says why in an attribute of its own."""
    if isinstance(problem, TimeoutError):
        return "no answer"
    if isinstance(problem, ssl.SSLError) and problem.reason in NOT_TLS:
        return "the server does not speak TLS on this port"
    return str(getattr(problem, "verify_message", "") or problem.strerror or problem)


def judge(answer: http.client.HTTPResponse, method: str, path: str, *passing: int) -> None:
    """Raise Refused or Failed unless the status is one of those that pass (any 2xx when none is given)."""
    status = answer.status
    if status in passing or (not passing and 200 <= status < 300):
        return
    what = f"{method} {path!r}: {status} {answer.reason}".rstrip()
    if status in REDIRECTS:
        leads = answer.getheader("Location")
        hint = "give the url that it leads to" if leads else "check the server's log, or ask its admin"
        raise Failed(
            f"{what}, {f'to {leads[:200]}' if leads else 'and no Location: it leads nowhere'}", "an answer", hint
        )
    if status in REFUSALS:
        over = status in ABOUT_WHO and isinstance(answer, BearerResponse) and is_over(answer.token)
        raise Refused(what).because(Cause.TOKEN_EXPIRED if over else Cause.NONE)
    if status == NOTHING_THERE:
        raise NotThere(f"there is nothing at {path!r} ({status})")
    raise Failed(what)
