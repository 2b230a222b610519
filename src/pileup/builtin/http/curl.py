"""The program curl as a client of native tests: `client: curl`, a process and a connection for each operation."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from typing import Required
from urllib.parse import quote

from pileup.builtin.command.pipes import close, send
from pileup.builtin.credentials.authorities import is_folder
from pileup.builtin.credentials.identity import EngineIdentity
from pileup.builtin.credentials.token_end import is_over
from pileup.builtin.credentials.token_source import TokenSource
from pileup.builtin.http.connection import ABOUT_WHO
from pileup.builtin.http.curl_answer import ANSWER, Answer, failure, server_of
from pileup.builtin.http.location import locate
from pileup.builtin.http.multistatus import PROPFIND, parse_entries
from pileup.plugin import Ambiguous, Call, Cause, Failed, NotThere, ProgramClient, Refused, Step, ThereAlready
from pileup.plugin.processes import started
from pileup.plugin.verbs import Names

COMMAND = "curl"
INSTALL = "apt install curl"
ALWAYS = (
    "silent",
    "include",
    "globoff",
    "path-as-is",
    "http1.1",
    'noproxy = "*"',
    r'write-out = "%{stderr}%{num_redirects}\n"',
)
PARTIAL, NOTHING_THERE, NOT_ALLOWED, SOMETHING_THERE, BEHIND_THE_END = 206, 404, 405, 412, 416
Lines = list[str]
"""Of a configuration."""
WRITTEN = (200, 201, 202, 204)
DRAINED = 64 << 10
"""Bytes that are read of an answer that does not pass."""
NO_TYPE = 'header = "Content-Type:"'
SEARCHED = 1 << 20
"""Bytes of an answer in which a text is looked for."""


class HttpSettings(EngineIdentity, total=False):
    """What a client of HTTP is reported, the engine's and curl alike. Holds secrets."""

    url: Required[str]
    via: str
    keep_alive: bool
    resume: bool
    redirects: int
    trust: Sequence[str]
    redirect_writes: bool
    expect: str
    reconnect_pause: int
    headers: Sequence[Sequence[str]]


class Curl(ProgramClient):
    """Asks by curl: its start, its connection and its TLS handshake count in every operation.

    Its CPU time is that of pileup's children. What it needs, secrets too, goes in an open file of its own, never by
    the command line, and no setting of the user's own curl is read. What it knows of redirects and of asking before a
    large upload is its own.
    """

    name = "curl"

    def __init__(self, settings: HttpSettings, number: int) -> None:
        self._where = locate(settings["url"])
        self._token = TokenSource(settings.get("token"), settings.get("token_file"))
        self._redirects = int(settings.get("redirects", 0))
        self._redirects_writes = bool(settings.get("redirect_writes"))
        self._total: int | None = None
        """Size of the object that is being read, where the last answer has said it."""
        self._always = [*ALWAYS, *_who(settings)]
        self._relayed = "via" in settings
        if via := settings.get("via"):
            host = f"[{self._where.host}]" if ":" in self._where.host else self._where.host
            self._always.append(_line("connect-to", f"{host}:{self._where.port}:{via}"))
        self._always += [_line("header", f"{name}: {value}") for name, value in settings.get("headers", ())]
        if settings.get("expect") == "never":
            self._always.append(_line("header", "Expect:"))

    @classmethod
    def problem(cls, step: Step) -> str:
        """Refuse what curl cannot be asked for."""
        if shutil.which(COMMAND) is None:
            return f"`client: curl` needs the program curl; expected it to be installed ({INSTALL})"
        if step.verb == "read" and step.pieces > 1:
            return "`client: curl` reads one range in a request; expected no vector read, or `client: native`"
        if step.verb == "request" and step.content is not None:
            return "`client: curl` sends no body with a request; expected none, or `client: native`"
        if step.read_ahead:
            return "`client: curl` asks for nothing ahead; expected no `read_ahead`"
        return super().problem(step)

    def stat(self, call: Call) -> int:
        """Ask for the head of an object."""
        # it may be left out where it is 0 (RFC 9110, 8.6)
        size = self._whole(call, ["head"])[0].headers.get("content-length", "0")
        if not size.isdigit():
            raise Failed("the answer states no size")
        return int(size)

    def open_file(self, call: Call) -> None:
        """Ask for the head of an object: HTTP has no other way to open one."""
        self._whole(call, ["head"])

    def checksum(self, call: Call) -> int:
        """Ask for the Adler-32 (RFC 3230)."""
        stated = self._whole(call, ["head", _line("header", "Want-Digest: adler32")])[0].headers.get("digest", "")
        for one in stated.split(","):
            kind, _, value = one.strip().partition("=")
            if kind.lower() == "adler32":
                return int(value, 16)
        raise Failed("checksum: the server states no adler32")

    def list(self, call: Call) -> int:
        """Ask for a folder with PROPFIND."""
        words = [_line("request", "PROPFIND"), _line("header", "Depth: 1"), _line("data-raw", PROPFIND.decode())]
        words.append(_line("header", "Content-Type: application/xml"))
        body = self._whole(call, words, folder=True, passing=(207,))[1]
        return len(parse_entries([body], self._where.path_of(_folder(call.key)))) - 1

    def read(self, call: Call, offset: int, length: int | None) -> Iterator[bytes]:
        """Yield the body of a GET; of ranges, one request after another, where a part is wanted or `buffer` is set."""
        buffer = call.step.buffer
        if buffer is None:
            yield from self._part(call, offset, length)
            return
        self._total = None
        at, end = offset, None if length is None else offset + length
        while end is None or at < end:
            wanted, got = buffer if end is None else min(buffer, end - at), 0
            for piece in self._part(call, at, wanted):
                got += len(piece)
                yield piece
            at += got
            if got < wanted or at == self._total:
                return
            end = self._total if end is None else end

    def _part(self, call: Call, offset: int, length: int | None) -> Iterator[bytes]:
        """Yield a part of an object; all of it when none is wanted."""
        part = offset > 0 or length is not None
        last = "" if length is None else str(offset + length - 1)
        with self._asked(call, [_line("range", f"{offset}-{last}")] if part else []) as answer:
            pieces = answer.read()
            next(pieces)
            if part and answer.status == BEHIND_THE_END:
                return
            if part and answer.status == 200:
                _not_passed(answer, pieces)
                raise Failed("HTTP 200 OK, though only a part was asked for")
            if answer.status != (PARTIAL if part else 200):
                raise _not_passed(answer, pieces)
            span, _, total = (answer.headers or {}).get("content-range", "").partition("/")
            if part and not span.startswith(f"bytes {offset}-"):
                raise Failed("another range than the one asked for")
            self._total = int(total) if total.isdigit() else None
            yield from pieces

    def write(self, call: Call, pieces: Iterator[bytes], size: int) -> None:
        """Send an object with PUT, whose size curl is reported so that it goes as it is."""
        new = [_line("header", "If-None-Match: *")] if call.step.new else []
        if size == 0:
            for _ in pieces:  # there are none: that is said by asking for one
                pass
            self._whole(call, [_line("request", "PUT"), _line("data-raw", ""), NO_TYPE, *new], passing=WRITTEN)
            return
        words = [*new, _line("upload-file", "-"), _line("header", "Transfer-Encoding:")]
        words.append(_line("header", f"Content-Length: {size}"))
        with self._asked(call, words, stdin=True) as answer:
            send(answer.process, call, pieces)
            _drained(answer, WRITTEN)

    def delete(self, call: Call) -> None:
        """Remove an object with DELETE."""
        self._whole(call, [_line("request", "DELETE")], passing=(200, 202, 204))

    def mkdir(self, call: Call) -> None:
        """Make a folder with MKCOL."""
        self._whole(call, [_line("request", "MKCOL")], folder=True, passing=(200, 201, 204))

    def rename(self, call: Call, to: str) -> None:
        """Give an object another name with MOVE."""
        where = [_line("header", f"Destination: {self._url(to)}")]
        where += [_line("header", "Overwrite: F")] if call.step.new else []
        self._whole(call, [_line("request", "MOVE"), *where], passing=(200, 201, 204), follows=False)

    def request(self, call: Call) -> None:
        """Send a request with a method and headers of its own."""
        step, expect = call.step, call.step.expect
        words = [_line("header", f"{name}: {value}") for name, value in step.headers]
        words.append("head" if step.method == "HEAD" else _line("request", step.method or "GET"))
        passing = expect.statuses or tuple(range(200, 300))
        body = self._whole(call, words, passing=passing, follows=False)[1]
        call.came(len(body))
        if expect.contains is not None and expect.contains.encode() not in body[:SEARCHED]:
            raise Failed(f'answer does not contain "{expect.contains}"')

    def _whole(
        self,
        call: Call,
        words: Lines,
        *,
        folder: bool = False,
        passing: tuple[int, ...] = (200,),
        follows: bool = True,
    ) -> tuple[_Headed, bytes]:
        """Ask, and return an answer that passes, with its body."""
        with self._asked(call, words, folder=folder, follows=follows) as answer:
            body = _drained(answer, passing)
            return _Headed(answer.headers or {}), body

    @contextmanager
    def _asked(
        self, call: Call, words: Lines, *, folder: bool = False, stdin: bool = False, follows: bool = True
    ) -> Iterator[Answer]:
        """Start curl with these words of its configuration beside those of every request."""
        if ".." in call.key.split("/"):
            raise Failed("the path leaves the target's folder; expected one without ..")
        traits = call.step.traits
        url = self._url(_folder(call.key) if folder else call.key, plain=traits.names is Names.URL)
        stays = traits.changes and not self._redirects_writes
        follows = follows and self._redirects > 0 and not stays
        lines = [*self._always, _line("url", url), f"max-time = {call.seconds:.3f}", *words]
        token = self._token.get()
        if token:
            lines.append(_line("oauth2-bearer", token))
        if follows:
            lines += ["location", f"max-redirs = {self._redirects}"]
        with _handed("\n".join(lines)) as number:
            command = [COMMAND, "--disable", "--config", f"/dev/fd/{number}"]
            with started(command, stdin=stdin, handed=(number,)) as process:
                call.leaves()
                try:
                    yield Answer(process, call, follows, token, at=url, home=server_of(url) if self._relayed else None)
                finally:
                    close(process)

    def _url(self, key: str, plain: bool = False) -> str:
        """Return the url of an object; a `plain` key is part of a url already."""
        base = f"{self._where.scheme}://{self._where.authority}"
        if not plain:
            return base + self._where.path_of(key)
        key = quote(key, safe="/~!$&'()*+,;=:@%?")
        path = self._where.path_of("")
        return base + (path + key if not key or key.startswith("?") else f"{path.rstrip('/')}/{key.lstrip('/')}")


class _Headed:
    """An answer whose body has been read."""

    def __init__(self, headers: dict[str, str]) -> None:
        self.headers = headers


def _drained(answer: Answer, passing: tuple[int, ...]) -> bytes:
    """Return the whole body of an answer with a status that passes."""
    pieces = answer.read()
    body = bytearray()
    for piece in pieces:
        if answer.status not in passing:
            raise _not_passed(answer, chain([piece], pieces))
        body += piece
        if len(body) > ANSWER:
            raise Failed("the answer is larger than 64 MiB")
    return bytes(body)


def _not_passed(answer: Answer, pieces: Iterator[bytes]) -> Exception:
    """Return what a status means that does not pass; its body counts as far as the engine reads it."""
    problem, step, size = _failure(answer), answer.call.step, 0
    if step.missing_ok and isinstance(problem, NotThere | ThereAlready):
        return problem
    with suppress(Ambiguous, Failed, Refused):
        for piece in pieces:
            size += len(piece)
            answer.call.came(len(piece))
            if size > DRAINED:
                break
    return problem


def _failure(answer: Answer) -> Exception:
    """Return what a status means that does not pass."""
    problem, verb = failure(answer.status), answer.call.step.verb
    if answer.status in ABOUT_WHO and is_over(answer.token):
        problem.because(Cause.TOKEN_EXPIRED)
    if verb == "delete" and answer.status == NOTHING_THERE:
        return NotThere(str(problem))
    if answer.call.step.new and answer.status == SOMETHING_THERE:
        return Failed("exists already; this run did not make it")
    if verb == "mkdir" and answer.status == NOT_ALLOWED:
        return ThereAlready(str(problem))
    return problem


@contextmanager
def _handed(text: str) -> Iterator[int]:
    """Give the number of an open file with this text, which no other user can read and which is gone afterwards."""
    number = os.memfd_create("curl")
    try:
        os.write(number, text.encode())
        yield number
    finally:
        os.close(number)


def _who(settings: HttpSettings) -> Iterator[str]:
    """Yield what curl is to know of who we are and whom we believe."""
    if settings.get("user") is not None:
        yield _line("user", f"{settings['user']}:{settings.get('password') or ''}")
    if ca := settings.get("ca"):
        yield _line("capath" if is_folder(ca) else "cacert", ca)
    if settings.get("insecure"):
        yield "insecure"
    for path, option in ((settings.get("certificate"), "cert"), (settings.get("key"), "key")):
        if path:
            yield _line(option, path)


def _line(name: str, value: str) -> str:
    """Return a line of a configuration (curl(1), --config)."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'{name} = "{escaped}"'


def _folder(path: str) -> str:
    """Return the path of a folder with the slash that servers want at its end."""
    return f"{path.rstrip('/')}/"
