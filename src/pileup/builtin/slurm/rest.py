"""Slurm's REST daemon over HTTP/1.1, by a unix socket or a port: one connection for each thread, little work a call.

A submission is not idempotent: what has left is never sent again.
"""

from __future__ import annotations

import select
import socket
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from pileup.plugin import Ambiguous, Failed, TargetError, port_of

PIECE = 1 << 16
LARGEST_HEAD = 1 << 16
LARGEST_ANSWER = 256 << 20
PORT = 6820
"""Where slurmrestd listens when nobody says so."""
EXPECTED = "one like unix:/run/slurmrestd.sock or https://host:6820"


class _Connection(socket.socket):
    """The connection of a thread, closed when that has ended."""

    def __del__(self) -> None:
        self.close()


class _TlsConnection(ssl.SSLSocket):
    """The same over TLS."""

    def __del__(self) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a REST daemon listens: a path, or host and port."""

    path: str = ""
    host: str = ""
    port: int = PORT
    tls: bool = False

    def connect(self, seconds: float, context: ssl.SSLContext | None) -> socket.socket:
        """Return a connection. Raises OSError."""
        if self.path:
            made = _Connection(socket.AF_UNIX)
            made.settimeout(seconds)
            try:
                made.connect(self.path)
            except OSError:
                made.close()
                raise
            return made
        with socket.create_connection((self.host, self.port), seconds) as plain:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if not self.tls:
                made = _Connection(fileno=plain.detach())
                made.settimeout(seconds)
                return made
            wrapping = context or ssl.create_default_context()
            wrapping.sslsocket_class = _TlsConnection
            return wrapping.wrap_socket(plain, server_hostname=self.host)

    def __str__(self) -> str:
        return self.path or f"{self.host}:{self.port}"


def endpoint_of(url: str) -> Endpoint:
    """Take a url apart. Raises TargetError for one that is none of a REST daemon."""
    try:
        parts = urlsplit(url)
    except ValueError as problem:
        raise TargetError(f"{url!r} is not a url: {problem}", EXPECTED) from None
    if parts.scheme == "unix" and parts.path.startswith("/") and not parts.netloc:
        return Endpoint(parts.path)
    if parts.scheme in {"http", "https"} and parts.hostname and parts.path in {"", "/"} and not parts.query:
        if parts.username or parts.password:
            raise TargetError(f"the url of {parts.hostname} holds a user name or a password", "it under `credentials`")
        return Endpoint(host=parts.hostname, port=port_of(parts) or PORT, tls=parts.scheme == "https")
    raise TargetError(f"{url!r} is not a url of slurmrestd", EXPECTED)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: its HTTP status and its body."""

    status: int
    body: bytes


class Rest:
    """Connections to one REST daemon, one per thread, kept between requests."""

    def __init__(self, endpoint: Endpoint, seconds: float, context: ssl.SSLContext | None = None) -> None:
        self._endpoint = endpoint
        self._seconds = seconds
        self._context = context
        self._local = threading.local()

    def ask(self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
        """Send a request and read the answer.

        Raises Failed when there is no connection, Ambiguous when no whole answer comes after the request has left.
        """
        connection = self._connection()
        lines = [
            f"{method} {path} HTTP/1.1\r\nHost: {self._endpoint.host or 'localhost'}\r\nAccept: application/json\r\n"
        ]
        lines += [f"{name}: {value}\r\n" for name, value in (headers or {}).items()]
        if body:
            lines.append(f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n")
        kept = False
        try:
            connection.sendall("".join((*lines, "\r\n")).encode() + body)
            answer, kept = _received(connection)
        except TimeoutError:
            raise Ambiguous(f"no answer to {method} within {self._seconds:g} s") from None
        except OSError as problem:
            raise Ambiguous(f"the connection broke before an answer to {method}: {problem.strerror}") from problem
        finally:
            if not kept:
                self.close()
        return answer

    def close(self) -> None:
        """Close the connection of this thread, if there is one."""
        connection: socket.socket | None = getattr(self._local, "connection", None)
        self._local.connection = None
        if connection is not None:
            connection.close()

    def _connection(self) -> socket.socket:
        kept: socket.socket | None = getattr(self._local, "connection", None)
        if kept is not None and not _readable(kept):
            return kept
        self.close()  # something to read before a question is its end
        try:
            made = self._endpoint.connect(self._seconds, self._context)
        except OSError as problem:
            said = "no answer" if isinstance(problem, TimeoutError) else problem.strerror or str(problem)
            raise Failed(f"no connection to {self._endpoint}: {said}") from problem
        self._local.connection = made
        return made


def _readable(connection: socket.socket) -> bool:
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(0))


def _received(connection: socket.socket) -> tuple[Answer, bool]:
    """Read one answer; and whether the connection may be used again."""
    data = b""
    while (end := data.find(b"\r\n\r\n")) < 0:
        data += _more(connection)
        if len(data) > LARGEST_HEAD:
            raise Failed("the answer is not HTTP")
    head, _, rest = data[:end].partition(b"\r\n")
    try:
        status = int(head.split(b" ", 2)[1])
        fields = dict(_fields(rest))
        length = int(fields.get(b"content-length", b"0"))
    except (IndexError, ValueError):
        raise Failed("the answer is not HTTP") from None
    if not 0 <= length <= LARGEST_ANSWER:
        raise Failed(f"the answer would have {length} bytes")
    body = bytearray(data[end + 4 :])
    while len(body) < length:
        body += _more(connection)
    return Answer(status, bytes(body[:length])), fields.get(b"connection", b"").lower() != b"close"


def _fields(lines: bytes) -> list[tuple[bytes, bytes]]:
    parts = (line.partition(b":") for line in lines.split(b"\r\n"))
    return [(name.strip().lower(), value.strip()) for name, _, value in parts]


def _more(connection: socket.socket) -> bytes:
    piece = connection.recv(PIECE)
    if not piece:
        raise ConnectionResetError(104, "closed by the server")
    return piece
