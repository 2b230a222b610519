"""Follows log files: returns new entries, over rotation and truncation, in bounded memory.

A reader of a log is a parser and a `Log`:

    def request(line: str) -> float | None:
        found = re.search(r" took ([0-9.]+) s$", line)
        return float(found[1]) if found else None

    log = Log(Path("/var/log/server.log"), by_line(request))
    times = list(log.entries())   # of the lines that were added since the last call
    log.close()

If entries have several lines, the parser keeps a state: see `Parser`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

from pileup.model.errors import PluginError

AT_ONCE = 4 << 20
"""Most bytes of a file read by one call; the rest is read by the next."""
LONGEST = 1 << 20
"""Bytes of a line; the rest of a longer one is left out."""
MARK = 64
"""Bytes before the position that are compared to see whether the file is still the same."""

Entry = TypeVar("Entry")
Parser = Callable[[Sequence[str]], Iterable[Entry]]
"""Takes complete lines in order and returns the entries that they complete. It keeps incomplete entries itself."""


def by_line(parse: Callable[[str], Entry | None]) -> Callable[[], Parser[Entry]]:
    """Return what makes a parser of a log whose entries are one line each; `parse` returns None for no entry."""

    def entries(lines: Sequence[str]) -> Iterator[Entry]:
        return (found for line in lines if (found := parse(line)) is not None)

    return lambda: entries


@dataclass(frozen=True, slots=True)
class Part:
    """Whole lines of one file, without their ends. `begins`: they are the first that were read of it."""

    lines: list[str]
    begins: bool


class Splitter:
    """Takes a file apart into whole lines, block by block. `within`: it begins within a line, which is left out."""

    def __init__(self, within: bool = False) -> None:
        self._rest = b""
        self._within = within
        self.shortened = 0
        """Lines that were longer than LONGEST, and are cut there."""

    def lines(self, data: bytes) -> list[str]:
        """Return the lines that are complete now, and keep the begin of the next."""
        whole, ended, rest = data.rpartition(b"\n")
        if not ended:
            self._keep(rest)
            return []
        whole = self._rest + whole
        self._rest = b""
        lines = whole.decode(errors="replace").split("\n")
        if len(whole) > LONGEST:
            self.shortened += sum(len(line) > LONGEST for line in lines)
            lines = [line[:LONGEST] for line in lines]
        if b"\r" in whole:
            lines = [line.removesuffix("\r") for line in lines]
        if self._within:
            del lines[0]
            self._within = False
        self._keep(rest)
        return lines

    def _keep(self, rest: bytes) -> None:
        """Keep the begin of a line, one byte more than the longest to know that it is longer."""
        self._rest = (self._rest + rest)[: LONGEST + 1]


class Tail:
    """Follows a file by its name and returns complete lines.

    It starts `back` bytes before the current end of the file, with the next complete line. A file that does not exist
    yet is read from its beginning. After a rotation the new file is read from its beginning, once it has content and
    the old one was read to its end. A truncated file is read from its beginning, also if it has grown beyond the old
    position since. After several rotations between two calls only the last file is read.

    `what` says in errors what is expected: "the log of slow queries".
    """

    def __init__(self, path: Path, *, back: int = 0, what: str = "a log that grows") -> None:
        self.path = path
        self._what = what
        self._file: BinaryIO | None = None
        self._begin()
        with suppress(PluginError):  # the first call says why
            self._file = self._opened()
            self._start(max(0, self._size() - back))

    def parts(self) -> Iterator[Part]:
        """Yield what was added since the last call, file by file. Raises PluginError when nothing can be read."""
        replaced = self._replaced()
        if self._file is None:
            self._file = self._opened()
        elif self._cut():
            self._begin()
        ended = yield from self._added()
        if replaced and ended:
            self.close()
            with suppress(PluginError):  # the next call says why
                self._file = self._opened()
                yield from self._added()

    def lines(self) -> list[str]:
        """Return the lines that were added since the last call. Raises PluginError when nothing can be read."""
        return [line for part in self.parts() for line in part.lines]

    def close(self) -> None:
        """Close the file. Later calls read it from the beginning."""
        if self._file is not None:
            self._file.close()
        self._file = None
        self._begin()

    def _begin(self) -> None:
        """Be at the begin of a file."""
        self._at = 0
        self._mark = b""
        self._splitter = Splitter()
        self._fresh = True

    def _start(self, position: int) -> None:
        """Be in the middle of a file."""
        self._at = position
        self._mark = self._read(max(0, position - MARK), min(position, MARK))
        self._splitter = Splitter(within=bool(self._mark) and not self._mark.endswith(b"\n"))

    def _replaced(self) -> bool:
        """Whether another file has the name, and something is in it. Raises PluginError when there is none."""
        try:
            found = self.path.stat()
        except OSError as problem:
            raise self._problem(problem) from None
        if self._file is None:
            return False
        known = os.fstat(self._file.fileno())
        return found.st_size > 0 and (found.st_dev, found.st_ino) != (known.st_dev, known.st_ino)

    def _cut(self) -> bool:
        """Whether the file has no more what was read of it last."""
        size = len(self._mark)
        return self._size() < self._at or self._read(self._at - size, size) != self._mark

    def _added(self) -> Generator[Part, None, bool]:
        """Yield the lines behind the position; return whether that was all of the file."""
        data = self._read(self._at, AT_ONCE)
        if data:
            self._at += len(data)
            self._mark = (self._mark + data)[-MARK:]
            lines = self._splitter.lines(data)
            yield Part(lines, self._fresh)
            self._fresh = False
        return len(data) < AT_ONCE

    def _opened(self) -> BinaryIO:
        """Open what has the name. Raises PluginError."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        except OSError as problem:
            raise self._problem(problem) from None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise PluginError(f"{self.path} is not a file", self._what)
        return os.fdopen(descriptor, "rb", buffering=0)

    def _problem(self, problem: OSError) -> PluginError:
        if isinstance(problem, FileNotFoundError):
            return PluginError(f"there is no file {self.path}", self._what, "is it written?")
        return PluginError(f"{self.path} cannot be read: {problem.strerror}", f"{self._what}, for this user to read")

    def _size(self) -> int:
        return os.fstat(self._file.fileno()).st_size if self._file is not None else 0

    def _read(self, at: int, size: int) -> bytes:
        try:
            return os.pread(self._file.fileno(), size, at) if self._file is not None else b""
        except OSError as problem:
            raise self._problem(problem) from None


class Log(Generic[Entry]):
    """The entries of a log. `parser` makes a parser for each file, so that no entry continues in the next file."""

    def __init__(
        self, path: Path, parser: Callable[[], Parser[Entry]], *, back: int = 0, what: str = "a log that grows"
    ) -> None:
        self._tail = Tail(path, back=back, what=what)
        self._parser = parser
        self._entries = parser()

    def entries(self) -> Iterator[Entry]:
        """Yield the entries that were added since the last call. Raises PluginError when nothing can be read."""
        for part in self._tail.parts():
            if part.begins:
                self._entries = self._parser()
            yield from self._entries(part.lines)

    def close(self) -> None:
        """Let go of the file."""
        self._tail.close()
