"""The official Python bindings of XRootD as a client of native tests: `client: bindings`."""

from __future__ import annotations

import importlib
import itertools
import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from pileup.builtin.credentials.authorities import is_folder
from pileup.builtin.credentials.token_source import TokenSource
from pileup.builtin.xrootd.location import ClientSettings
from pileup.builtin.xrootd.words import BROKEN, EXPIRED, QUICK, IsFolder, failure, to_bearer
from pileup.plugin import Call, Failed, PluginError, ProgramClient, Refused, Step
from pileup.plugin.program_client import Range
from pileup.plugin.units import format_time

WAIT = 30
"""Seconds that connecting may take before the clock runs."""
INSTALL = "pip install 'pileup[xrootd]'"
PIECE = 2 << 20
"""Bytes of a read where the test says nothing: the bindings' own (File.readchunks)."""
LONGEST_PIECE = 2097136
"""Bytes of the largest piece of a vector read (XRootD.client.File.vector_read)."""
NO_ANSWER = EXPIRED | BROKEN
UNASKED = {"RequestTimeout": 2}
"""Seconds that the library may take to close, when pileup ends, files of servers that do not answer any more; every
other request gets its own timeout."""
LONGEST_TIMEOUT = 0xFFFF
"""Seconds."""
MOST_PIECES = 1024
"""Pieces of one vector read."""


@cache
def library() -> tuple[Any, Any]:
    """Return the bindings, set up, and their flags. Raises PluginError when they are not installed."""
    try:
        client: Any = importlib.import_module("XRootD.client")
        flags: Any = importlib.import_module("XRootD.client.flags")
    except ImportError as problem:
        raise PluginError("`client: bindings` needs the package xrootd", "it to be installed", INSTALL) from problem
    for name, value in {**QUICK, **UNASKED}.items():
        client.EnvPutInt(name, value)
    return client, flags


class SessionNames:
    """User names: the library makes a session for each. Names given back are taken again, so are their sessions."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: list[str] = []
        self._new = itertools.count()

    def take(self) -> str:
        """Return a name that nobody has."""
        with self._lock:
            return self._free.pop() if self._free else f"p{next(self._new)}"

    def give_back(self, name: str) -> None:
        """Take a name back."""
        with self._lock:
            self._free.append(name)


NAMES = SessionNames()
TRUSTED: set[str] = set()
"""The CA that was named to the library."""


class XrootdBindings(ProgramClient):
    """A session of the official bindings, distinguished from others by its user name.

    Calls block without the interpreter's lock; the library looks at its timeouts once a second.
    """

    name = "bindings"

    def __init__(self, settings: ClientSettings, number: int) -> None:
        self._library, self._flags = library()
        parts = urlsplit(settings["url"])
        self._base = "/" + parts.path.strip("/")
        self._name = NAMES.take()
        self._host = f"{parts.scheme}://{self._name}@{parts.netloc.rpartition('@')[2]}"
        self._token = TokenSource(settings.get("token"), settings.get("token_file"))
        self._shown = ""
        """The token of the last request."""
        self._relay = settings.get("via")
        let_in(settings)
        self._system = self._library.FileSystem(self._host)
        self._kept: tuple[str, Any] | None = None
        self._open: Any = None
        """The file that is being read."""
        self._size = 0

    @classmethod
    def problem(cls, step: Step) -> str:
        """Refuse what the library has no call for."""
        if find_spec("XRootD") is None:
            return f"`client: bindings` needs the package xrootd; expected it to be installed ({INSTALL})"
        if step.verb == "read" and step.pieces and (step.length or 0) > LONGEST_PIECE:
            return f"`client: bindings` reads vectors of larger pieces; expected at most {LONGEST_PIECE} bytes"
        if step.verb == "read" and step.read_ahead:
            return "`client: bindings` has no read-ahead; expected `read_ahead: 0`"
        return super().problem(step)

    def open(self) -> None:
        """Connect and log in; what goes wrong is met again."""
        self._system.ping(timeout=WAIT)

    def close(self) -> None:
        """Close what is open; the session is kept for who gets its name next, the library cannot end one."""
        self._drop()
        NAMES.give_back(self._name)

    def stat(self, call: Call) -> int:
        """Return the size of a file."""
        found = self._call(call, self._system.stat, self._path(call.key))
        return int(found.size)

    def list(self, call: Call) -> int:
        """Return how many entries a folder has; the server sends the attributes of each."""
        found = self._call(call, self._system.dirlist, self._path(call.key), self._flags.DirListFlags.STAT)
        return len(found.dirlist)

    def delete(self, call: Call) -> None:
        """Remove a file, or an empty folder where the name ends with a slash."""
        if not call.key.endswith("/"):
            try:
                self._call(call, self._system.rm, self._path(call.key))
            except IsFolder:
                pass
            else:
                return
        self._call(call, self._system.rmdir, self._path(call.key))

    def mkdir(self, call: Call) -> None:
        """Make a folder."""
        modes = self._flags.AccessMode
        mode = modes.UR | modes.UW | modes.UX | modes.GR | modes.GX | modes.OR | modes.OX
        self._call(call, self._system.mkdir, self._path(call.key), self._flags.MkDirFlags.NONE, mode)

    def rename(self, call: Call, to: str) -> None:
        """Give a file another name."""
        self._call(call, self._system.mv, self._path(call.key), self._path(to))

    def checksum(self, call: Call) -> int:
        """Return the Adler-32 that the server states."""
        asked = self._path(call.key) + ("&" if "?" in self._path(call.key) else "?") + "cks.type=adler32"
        answer = self._call(call, self._system.query, self._flags.QueryCode.CHECKSUM, asked)
        words = answer.rstrip(b"\0\n").decode("ascii", "replace").split()
        if len(words) != 2 or words[0] != "adler32":
            raise Failed("checksum: the server states no adler32")
        return int(words[1], 16)

    def open_file(self, call: Call) -> None:
        """Open a file and close it."""
        self._call(call, self._opened(call).close)

    def begin_read(self, call: Call) -> int | None:
        """Open the file, or take the one that was kept; the library knows its size since it was opened."""
        kept, self._kept = self._kept, None
        if kept is not None and kept[0] != call.key:
            kept[1].close(timeout=_whole(call.seconds))
            kept = None
        self._open = kept[1] if kept is not None else self._opened(call)
        status, found = self._open.stat(timeout=_whole(call.seconds))
        if not status.ok:
            raise to_bearer(failure(status.code, status.errno, status.message), self._shown)
        self._size = int(found.size)
        return self._size

    def end_read(self, call: Call, keep: bool) -> None:
        """Keep the file for the next read, or close it."""
        file, self._open = self._open, None
        if keep:
            self._kept = call.key, file
        elif file is not None and file.is_open():
            self._call(call, file.close)

    def read(self, call: Call, offset: int, length: int | None) -> Iterator[bytes]:
        """Yield pieces of a file, each of one request; none behind the size that it had when it was opened."""
        end = self._size if length is None else min(self._size, offset + length)
        piece = call.step.buffer or PIECE
        while offset < end:
            data = self._call(call, self._open.read, offset, min(piece, end - offset))
            if not data:
                return
            yield data
            offset += len(data)

    def read_pieces(self, call: Call, ranges: Sequence[Range]) -> Iterator[bytes]:
        """Yield pieces of a file, so many in a request as one takes."""
        for begin in range(0, len(ranges), MOST_PIECES):
            found = self._call(call, self._open.vector_read, list(ranges[begin : begin + MOST_PIECES]))
            yield from (chunk.buffer for chunk in found.chunks)

    def write(self, call: Call, pieces: Iterator[bytes], size: int) -> None:
        """Write a whole file."""
        flags, modes = self._flags.OpenFlags, self._flags.AccessMode
        mode = modes.UR | modes.UW | modes.GR | modes.OR
        file = self._opened(call, (flags.NEW if call.step.new else flags.DELETE) | flags.UPDATE, mode)
        offset = 0
        for piece in pieces:
            self._call(call, file.write, piece, offset)
            offset += len(piece)
        self._call(call, file.close)

    def _call(self, call: Call, function: Callable[..., Any], *arguments: Any) -> Any:
        """Make one request and return its answer. Raises what the status means for the load."""
        status, answer = function(*arguments, timeout=_whole(call.leaves()))
        if status.code not in NO_ANSWER and (call.step.verb != "read" or not status.ok):
            call.first_byte()
        if not status.ok:
            raise to_bearer(_problem(call, status), self._shown)
        return answer

    def _opened(self, call: Call, flags: int | None = None, mode: int = 0) -> Any:
        file = self._library.File()
        url = f"{self._host}/{self._path(call.key)}"
        self._call(call, file.open, url, self._flags.OpenFlags.READ if flags is None else flags, mode)
        if self._relay and str(file.get_property("DataServer")).rpartition("@")[2] != self._relay:
            call.past_relay += 1
        return file

    def _drop(self) -> None:
        if self._kept is not None:
            self._kept[1].close(timeout=WAIT)
            self._kept = None

    def _path(self, key: str) -> str:
        """Return the path of an object on the server, with the token that gives access."""
        path = f"{self._base}/{key.strip('/')}" if key.strip("/") else self._base
        token = self._shown = self._token.get()
        return f"{path}?authz=Bearer%20{token}" if token else path


def let_in(settings: ClientSettings) -> None:
    """Name proxy and CA to the library: it knows no other way than the environment, and reads it once.

    Call it before the first connection of the process.
    """
    if proxy := settings.get("proxy"):
        os.environ["X509_USER_PROXY"] = proxy
    if settings.get("ca") and (proxy or settings["url"].startswith("roots:")):
        _trust(settings["ca"])


def _whole(seconds: float) -> int:
    """Return a timeout as the library takes it, which looks at its clock once a second: never too early."""
    return min(math.ceil(seconds) + 1, LONGEST_TIMEOUT)


def _problem(call: Call, status: Any) -> Exception:
    """Return what to raise for a status: only a server that asks to wait for longer is given up before the time."""
    if status.code in EXPIRED and time.monotonic() < call.deadline:
        return Refused(f"the server asks to wait, longer than the timeout of {format_time(call.timeout)} allows")
    return failure(status.code, status.errno, status.message)


def _trust(ca: str) -> None:
    """Name the CA to the library: it knows no other way than the environment, and reads it once.

    Raises PluginError for a second one.
    """
    if TRUSTED and ca not in TRUSTED:
        raise PluginError(
            "`client: bindings` trusts one `ca` in a process, and it trusts another one already",
            "one file or folder for all targets",
            "a folder may hold both",
        )
    TRUSTED.add(ca)
    name, other = ("X509_CERT_DIR", "X509_CERT_FILE") if is_folder(ca) else ("X509_CERT_FILE", "X509_CERT_DIR")
    os.environ.pop(other, None)
    os.environ[name] = ca
