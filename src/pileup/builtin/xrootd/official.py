"""The control plane through the official bindings, for servers that ask for what the engine's client does not speak."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from pileup.builtin.xrootd.bindings import let_in, library
from pileup.builtin.xrootd.location import ClientSettings, place_of
from pileup.builtin.xrootd.words import failure
from pileup.plugin import NotThere, ThereAlready

Attributes = tuple[int, int, int]
"""Size, flags and time of change."""


class OfficialSession:
    """What `_native.Session` does, with the same answers and exceptions, by the official bindings.

    The library keeps its connection after `close`; it looks for credentials in the environment, once in a process.
    """

    def __init__(self, settings: ClientSettings, timeout: float) -> None:
        self._library, self._flags = library()
        let_in(settings)
        place = place_of(settings["url"])
        self._host = place.url.partition("//")[0] + "//" + place.url.partition("//")[2].partition("/")[0]
        self._base = place.path
        self._timeout = math.ceil(timeout)
        self._system = self._library.FileSystem(self._host)

    def connect(self) -> None:
        """Have the server answer once."""
        self._call(self._system.ping)

    def stat(self, path: str) -> Attributes:
        """Return what is at a path."""
        found = self._call(self._system.stat, self._at(path))
        return int(found.size), int(found.flags), int(found.modtime)

    def list(self, path: str) -> Sequence[tuple[str, int, int, int]]:
        """Return what is in a folder."""
        found = self._call(self._system.dirlist, self._at(path), self._flags.DirListFlags.STAT)
        about = [(each.name, each.statinfo) for each in found.dirlist]
        return [(name, int(info.size), int(info.flags), int(info.modtime)) for name, info in about]

    def read(self, path: str, offset: int, length: int) -> bytes:
        """Return a part of a file."""
        file = self._opened(path, self._flags.OpenFlags.READ, 0)
        try:
            return bytes(self._call(file.read, offset, length))
        finally:
            file.close(timeout=self._timeout)

    def write(self, path: str, data: bytes, make_path: bool = False, new: bool = False) -> None:
        """Write a whole file; `new`: only where nothing is yet; `make_path`: with the folders above it."""
        flags, modes = self._flags.OpenFlags, self._flags.AccessMode
        how = (flags.NEW if new else flags.DELETE) | (flags.MAKEPATH if make_path else 0)
        file = self._opened(path, how | flags.UPDATE, modes.UR | modes.UW | modes.GR | modes.OR)
        self._call(file.write, data, 0)
        self._call(file.close)

    def delete(self, path: str) -> None:
        """Remove a file, or an empty folder where the name ends with a slash."""
        self._call(self._system.rmdir if path.endswith("/") else self._system.rm, self._at(path))

    def mkdir(self, path: str) -> None:
        """Make a folder."""
        modes = self._flags.AccessMode
        mode = modes.UR | modes.UW | modes.UX | modes.GR | modes.GX | modes.OR | modes.OX
        self._call(self._system.mkdir, self._at(path), self._flags.MkDirFlags.NONE, mode)

    def query(self, code: int, argument: str) -> bytes:
        """Ask the server something."""
        return bytes(self._call(self._system.query, code, argument))

    def close(self) -> None:
        """End it."""

    def _opened(self, path: str, flags: int, mode: int) -> Any:
        file = self._library.File()
        self._call(file.open, f"{self._host}/{self._at(path)}", flags, mode)
        return file

    def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        status, answer = function(*arguments, timeout=self._timeout)
        if status.ok:
            return answer
        problem = failure(status.code, status.errno, status.message)
        if isinstance(problem, NotThere):
            raise FileNotFoundError(str(problem))
        if isinstance(problem, ThereAlready):
            raise FileExistsError(str(problem))
        if isinstance(problem, TimeoutError):
            raise TimeoutError("no answer")
        raise problem

    def _at(self, path: str) -> str:
        name = path.strip("/")
        return f"{self._base}/{name}" if name else self._base or "/"
