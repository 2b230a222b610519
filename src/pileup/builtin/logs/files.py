"""Follows log files by patterns: over rotation, truncation, copies and compression each line is given once.

A file is known by its inode, which a rename does not change. What appears under the name of a rotated file (`log.1`,
`log-20261125`, `log.1.gz`) with another inode may be a copy of one that is known: its first bytes and the bytes before
the position then are the same. It waits until the original is gone, or was truncated, and is read on from that
position.
"""

from __future__ import annotations

import bz2
import glob
import gzip
import lzma
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

from pileup.plugin import PluginError
from pileup.plugin.logs import MARK, Splitter

BLOCK = 1 << 20
"""Bytes that are read at once."""
HEAD = 1024
"""First bytes of a file, which differ from those of others."""
MOST = 1000
"""Most files that are followed at once: each is held open."""
OPENERS: dict[str, Callable[[BinaryIO], BinaryIO]] = {
    ".gz": lambda file: cast(BinaryIO, gzip.GzipFile(fileobj=file)),
    ".bz2": lambda file: cast(BinaryIO, bz2.BZ2File(file)),
    ".xz": lambda file: cast(BinaryIO, lzma.LZMAFile(file)),  # noqa: SIM115  closed with what it reads
}
GONE = 1
"""Looks for which a file that was removed is read on: its server may still write."""
PATIENCE = 4
"""Looks after which no copy is expected any more of a file that was truncated."""
DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError)
ROTATED = re.compile(r"[.-]\d[\d.T:_-]*$|\.old$")
"""What rotation adds to the name of a file."""
Identity = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Lines:
    """Some lines of a file. `family`: its name without what rotation adds to it."""

    family: str
    lines: list[str]


def family_of(path: str) -> str:
    """Return the name that a file had before it was rotated and compressed."""
    suffix = Path(path).suffix
    return ROTATED.sub("", path.removesuffix(suffix) if suffix in OPENERS else path)


@dataclass(slots=True)
class _End:
    """How far a file was read that is gone or was truncated: a copy of it is read on from there."""

    path: str
    family: str
    at: int
    head: bytes
    mark: bytes
    splitter: Splitter
    lost: bool
    """Whether lines are missing as long as there is no copy."""
    looks: int = 0


@dataclass(slots=True, eq=False)
class _Known:
    """A file that is followed."""

    path: str
    file: BinaryIO
    identity: Identity
    at: int = 0
    head: bytes = b""
    mark: bytes = b""
    """The bytes before the position."""
    splitter: Splitter = field(default_factory=Splitter)
    unpacked: BinaryIO | None = None
    """Of a compressed file what it contains."""
    done: bool = False
    """Whether nothing more comes: a compressed file that was read."""
    gone: int = 0
    """Looks since its name was seen last."""

    @property
    def family(self) -> str:
        return family_of(self.path)

    @property
    def unlinked(self) -> bool:
        return os.fstat(self.file.fileno()).st_nlink == 0

    @property
    def cut(self) -> bool:
        """Whether the file has no more what was read of it last."""
        if self.unpacked is not None:
            return False
        return self.size < self.at or self._bytes(self.at - len(self.mark), len(self.mark)) != self.mark

    @property
    def size(self) -> int:
        return os.fstat(self.file.fileno()).st_size

    def begin(self) -> None:
        """Be at the begin."""
        self.at, self.head, self.mark, self.splitter = 0, b"", b"", Splitter()

    def skip(self) -> None:
        """Be at the end: what is there already is left out."""
        if self.unpacked is not None:
            self.done = True
            return
        self.at = self.size
        self.mark = self._bytes(max(0, self.at - MARK), min(self.at, MARK))
        self.splitter = Splitter(within=bool(self.mark) and not self.mark.endswith(b"\n"))
        self.head = self._bytes(0, min(HEAD, self.at))

    def read(self, most: int = BLOCK) -> bytes:
        """Return what follows, at most so many bytes; b"" at the end. Raises DAMAGED."""
        data = self.unpacked.read(most) if self.unpacked is not None else self._bytes(self.at, most)
        if data:
            if len(self.head) < HEAD:
                self.head = (self.head + data)[:HEAD] if len(self.head) == self.at else self.head
            self.at += len(data)
            self.mark = (self.mark + data)[-MARK:]
        return data

    def follows(self, end: _End) -> bool:
        """Whether this file, of which nothing was read, has all that was read of another one; then be there.

        Raises DAMAGED.
        """
        left = end.at
        while left > 0 and (data := self.read(min(left, BLOCK))):
            left -= len(data)
        self.splitter = end.splitter
        return not left and (self.head, self.mark) == (end.head, end.mark)

    def end(self, *, lost: bool) -> _End:
        """Return how far it was read."""
        return _End(self.path, self.family, self.at, self.head, self.mark, self.splitter, lost)

    def _bytes(self, at: int, size: int) -> bytes:
        return os.pread(self.file.fileno(), size, at)

    def close(self) -> None:
        """Let go of it."""
        self.file.close()


class LogFiles:
    """Files by patterns (`*`, `?`, `**`), and what rotation makes of them.

    Files that are there at first are read from their end, or from their begin if `whole`; later ones from their begin.
    `tell` gets what may be missing, in sentences.
    """

    def __init__(self, patterns: Sequence[str], tell: Callable[[str], None], *, whole: bool = False) -> None:
        self._patterns = patterns
        self._tell = tell
        self._whole = whole
        self._known: list[_Known] = []
        self._ends: list[_End] = []
        self._first = True
        with suppress(PluginError):  # the first look says why
            self._look()

    def look(self) -> Iterator[Lines]:
        """Yield the lines that were added since the last look. Raises PluginError when there is no file.

        Known files come first: a copy of one that is new is then compared with all that was read.
        """
        known = list(self._known)
        for each in known:
            yield from self._added(each)
        self._look()
        if not self._known:
            named = ", ".join(self._patterns)
            raise PluginError(
                f"there is no file {named}", "a log that grows", "is it written, and can this user see it?"
            )
        for each in [each for each in self._known if each not in known]:
            yield from self._added(each)

    def close(self) -> None:
        """Let go of all files, and say what is missing."""
        for each in self._ends:
            self._miss(each)
        for known in self._known:
            known.close()
        self._known = []

    @property
    def shortened(self) -> int:
        """Lines that were too long, and cut."""
        return sum(each.splitter.shortened for each in self._known)

    def _added(self, each: _Known) -> Iterator[Lines]:
        if each.done:
            return
        if each.cut:
            self._ends.append(each.end(lost=True))
            each.begin()
        end = each.size if each.unpacked is None else None
        while end is None or each.at < end:
            try:
                data = each.read(BLOCK if end is None else min(BLOCK, end - each.at))
            except DAMAGED as problem:
                self._tell(f"{each.path} cannot be read any further: {problem}")
                each.done = True
                return
            if not data:
                each.done = each.unpacked is not None
                return
            if lines := each.splitter.lines(data):
                yield Lines(each.family, lines)

    def _miss(self, end: _End) -> None:
        if end.lost:
            self._tell(f"{end.path} was truncated: lines that were written after the last look may be missing")
            end.lost = False

    def _look(self) -> None:
        """Find new files, oldest first, and forget those that are gone."""
        found = self._found()
        present = {identity for identity, _ in found}
        known = {each.identity: each for each in self._known}
        for identity, path in found:
            if (same := known.get(identity)) is not None:
                same.path = path
            elif (opened := self._opened(path, identity)) is not None:
                self._known.append(opened)
        for each in self._known:
            each.gone = 0 if each.identity in present and not each.unlinked else each.gone + 1
        self._forget()
        self._first = False

    def _forget(self) -> None:
        """Close what has been gone for some looks, and say what no copy was found of."""
        for known in [each for each in self._known if each.gone > GONE and each.unlinked]:
            self._ends.append(known.end(lost=False))
            known.close()
            self._known.remove(known)
        for end in self._ends:
            end.looks += 1
            if end.looks > PATIENCE:
                self._miss(end)
        del self._ends[:-MOST]

    def _found(self) -> list[tuple[Identity, str]]:
        """Return the files that the patterns name now, and rotated ones, those that were written last at the end."""
        named: dict[Identity, tuple[int, str]] = {}
        for pattern in self._patterns:
            rotated = [path for path in _matching(f"{pattern}[.-]*") if family_of(path) != path]
            for path in (*rotated, *_matching(pattern)):
                with suppress(OSError):
                    found = Path(path).stat()
                    if stat.S_ISREG(found.st_mode):
                        named[found.st_dev, found.st_ino] = found.st_mtime_ns, path
        if len(named) > MOST:
            raise PluginError(f"{len(named)} files match {', '.join(self._patterns)}", f"at most {MOST}", "name fewer")
        return [(identity, path) for identity, (_, path) in sorted(named.items(), key=lambda each: each[1])]

    def _opened(self, path: str, identity: Identity) -> _Known | None:
        """Return a new file where it is to be read from; None: not now, or it cannot be read."""
        try:
            made = _open(path)
        except OSError as problem:
            self._tell(f"{path} cannot be read: {problem.strerror}")
            return None
        if made.identity != identity:  # it was replaced meanwhile
            made.close()
            return None
        try:
            if self._first:
                if not self._whole:
                    made.skip()
                return made
            if (continued := self._copied(made)) is not None:
                return continued
        except DAMAGED:
            made.close()  # it is still written
            return None
        return made

    def _copied(self, made: _Known) -> _Known | None:
        """Return a file that is a copy of a known one, at the position of that; None where it is none.

        Raises EOFError as long as its original is there.
        """
        if made.path == made.family:
            return None
        if not made.size:
            raise EOFError
        begin = _head(made.path)
        if any(each.family == made.family and each.size and _alike(each.head, begin) for each in self._known):
            raise EOFError
        for end in [each for each in self._ends if each.family == made.family and each.at and _alike(each.head, begin)]:
            trial = _open(made.path)
            try:
                follows = trial.follows(end)
            except DAMAGED:
                trial.close()
                raise
            if follows:
                made.close()
                self._ends.remove(end)
                return trial
            trial.close()
        return None


def _head(path: str) -> bytes:
    """Return the first bytes of a file. Raises DAMAGED."""
    file = _open(path)
    try:
        return file.read(HEAD)
    finally:
        file.close()


def _matching(pattern: str) -> list[str]:
    return glob.glob(pattern, recursive=True)  # noqa: PTH207  absolute, and with any folders


def _alike(one: bytes, other: bytes) -> bool:
    least = min(len(one), len(other))
    return one[:least] == other[:least]


def _open(path: str) -> _Known:
    """Open a file that is one. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    file = os.fdopen(descriptor, "rb", buffering=0)
    found = os.fstat(descriptor)
    opener = OPENERS.get(Path(path).suffix)
    unpacked = opener(file) if opener else None
    return _Known(path, file, (found.st_dev, found.st_ino), unpacked=unpacked)
