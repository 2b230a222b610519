"""What lies below a folder, reached name by name through descriptors: a link that is put there meanwhile leads nowhere.

The engine's client does the same with openat2 (crates/pileup-posix/src/beneath.rs).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from errno import ELOOP
from pathlib import Path, PurePosixPath
from stat import S_ISLNK
from typing import IO, Literal

from pileup.plugin import Refused

HERE = "."
FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
BETWEEN = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Place:
    """A name in a folder that is held open. No link is followed from here: one raises OSError (ELOOP)."""

    folder: int
    """Descriptor."""
    name: str
    """`.`: the folder itself."""

    def stat(self, *, links: bool = False) -> os.stat_result:
        """Return what is there; `links`: a link is something."""
        found = os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        if S_ISLNK(found.st_mode) and not links:
            raise _link(self.name)
        return found

    def open(self, mode: Literal["rb", "wb", "xb"]) -> IO[bytes]:
        """Open a file."""
        return open(self.name, mode, opener=self._opened)

    @contextmanager
    def entries(self) -> Iterator[Iterator[os.DirEntry[str]]]:
        """Yield what a folder holds."""
        self.stat()  # of a link the system would say that it is not a folder
        folder = self._opened(self.name, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with os.scandir(folder) as found:
                yield found
        finally:
            os.close(folder)

    def _opened(self, name: str, flags: int) -> int:
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666, dir_fd=self.folder)


def inside(root: Path, path: str, *, follow: bool = True) -> PurePosixPath:
    """Return where a path leads from `root`, which has no links in it; `follow`: through a link at its end as well.

    Raises Refused when it leads out.
    """
    if "\0" not in path and ".." not in PurePosixPath(path).parts:
        place = root / path.lstrip("/")
        found = Path(os.path.realpath(place) if follow else os.path.realpath(place.parent))
        found = found if follow else found / place.name
        if found.is_relative_to(root):
            return PurePosixPath(found.relative_to(root))
    raise refused(path, root)


@contextmanager
def reach(root: Path, relative: PurePosixPath) -> Iterator[Place]:
    """Yield a place below a folder, going there name by name. Raises OSError, ELOOP for a link on the way."""
    *above, name = relative.parts or (HERE,)
    folder = os.open(root, FOLDER)
    try:
        for each in above:
            following = os.open(each, BETWEEN, dir_fd=folder)
            os.close(folder)
            folder = following
            if S_ISLNK(os.fstat(folder).st_mode):
                raise _link(each)
        yield Place(folder, name)
    finally:
        os.close(folder)


def refused(path: str, root: Path) -> Refused:
    """Return that a path leads out."""
    return Refused(f"{path!r} leads out of {root}", "a path inside the target", "no `..`, no link to elsewhere")


def _link(name: str) -> OSError:
    return OSError(ELOOP, os.strerror(ELOOP), name)
