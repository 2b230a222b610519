"""What the program curl says: heads before the body on its standard output, its end in a code and its last words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import chain
from urllib.parse import urljoin, urlsplit

from pileup.builtin.command.pipes import Process, ended, received
from pileup.builtin.http.connection import REFUSALS
from pileup.plugin import Ambiguous, Call, Failed, Refused

HEAD = 64 << 10
"""Most bytes of heads."""
ANSWER = 64 << 20
"""Most bytes of an answer that is held in memory."""
END = b"\r\n\r\n"
Server = tuple[str | None, int | None]
"""Host and port."""
PORTS = {"http": 80, "https": 443}
REDIRECTS = frozenset({301, 302, 303, 307, 308})
NO_REPLY, NO_SEND, NO_RECEIVE, PARTIAL, TIMEOUT, REFUSED = 52, 55, 56, 18, 28, 7
FAILED = {
    6: "name not found",
    REFUSED: "connection refused",
    8: "the answer is not HTTP/1",
    1: "the answer is not HTTP/1",
    35: "TLS: handshake failure",
    58: "TLS: the client certificate cannot be used",
    60: "TLS: certificate not trusted",
    77: "TLS: the CA certificates cannot be read",
    100: "the head of the answer is larger than 64 KiB",
}
"""Codes of curl (libcurl-errors(3)) in the words of the engine's client."""


@dataclass(slots=True)
class Answer:
    """An answer under way: the last head, what has come of its body, and what is still to come."""

    process: Process
    call: Call
    follows: bool
    """Whether curl follows redirects: their heads come before that of the answer."""
    token: str = field(default="", repr=False)
    """The token that its request has shown."""
    at: str = ""
    """The url that was asked."""
    home: Server | None = None
    """The server that the relay of the target leads to; None without one."""
    status: int = 0
    headers: dict[str, str] | None = None
    """By name in small letters; None: no head has come."""
    got: int = 0

    def read(self) -> Iterator[bytes]:
        """Read heads, then yield nothing once, then the body; judge the end of the program after it.

        Raises Failed, Ambiguous, TimeoutError.
        """
        pieces = received(self.process, self.call)
        rest = self._heads(pieces)
        if self.headers is None:
            self._judge()
            raise Ambiguous("connection closed before the answer")
        self.call.first_byte()
        yield b""
        for piece in chain([rest] if rest else [], pieces):
            self.got += len(piece)
            yield piece
        self._judge()

    def _heads(self, pieces: Iterator[bytes]) -> bytes:
        """Read heads up to that of the answer itself; return what of its body came with it."""
        buffer = b""
        for piece in pieces:
            buffer += piece
            while END in buffer:
                head, _, buffer = buffer.partition(END)
                status, headers = _parsed(head)
                gone_on = status < 200 or (self.follows and status in REDIRECTS and "location" in headers)
                if not gone_on:
                    self.status, self.headers = status, headers
                    return buffer
                self._goes_on(headers)
            if len(buffer) > HEAD:
                raise Failed("the head of the answer is larger than 64 KiB")
        return b""

    def _goes_on(self, headers: dict[str, str]) -> None:
        """Count a redirect that leads past the relay: curl connects to that of the url's host and port alone."""
        if self.home is not None and "location" in headers:
            self.at = urljoin(self.at, headers["location"])
            self.call.past_relay += server_of(self.at) != self.home

    def _judge(self) -> None:
        """Judge the end of the program. Raises Failed, Ambiguous, TimeoutError."""
        code, said = ended(self.process, self.call)
        hops, _, words = said.partition("\n")
        self.call.calls += int(hops) if hops.isdigit() else 0
        if code == 0:
            return
        if code == TIMEOUT:
            raise TimeoutError
        if code in (PARTIAL, NO_RECEIVE) and self.headers is not None:
            stated = self.headers.get("content-length")
            raise Failed(f"truncated: {self.got} of {stated} bytes" if stated else "truncated: the answer ended early")
        if code in (NO_REPLY, NO_SEND, NO_RECEIVE):
            how = "reset" if "reset" in words else "closed"
            raise Ambiguous(f"connection {how} before the answer")
        if code == 47:
            raise Failed("redirected more often than `redirects` allows")
        at_relay = code == REFUSED and self.home is not None and not self.call.past_relay
        before = "the relay before the target: " if at_relay else ""
        raise Failed(before + FAILED.get(code, f"curl ended with code {code}"))


def server_of(url: str) -> Server:
    """Return host and port of a url; none of one that is not valid."""
    try:
        parts = urlsplit(url)
        return parts.hostname, parts.port or PORTS.get(parts.scheme)
    except ValueError:
        return None, None


def _parsed(head: bytes) -> tuple[int, dict[str, str]]:
    lines = head.decode("latin-1").split("\r\n")
    words = lines[0].split(" ", 2)
    if len(words) < 2 or not words[0].startswith("HTTP/1") or not words[1].isdigit():
        raise Failed("the answer is not HTTP/1")
    named = (line.partition(":") for line in lines[1:])
    return int(words[1]), {name.strip().lower(): value.strip() for name, _, value in named}


def failure(status: int) -> Failed | Refused:
    """Return what a status means that does not pass, in the words of the engine's client."""
    try:
        text = f"HTTP {status} {HTTPStatus(status).phrase}"
    except ValueError:
        text = f"HTTP {status}"
    return Refused(text) if status in REFUSALS else Failed(text)
