"""Files that tests leave: each load has a folder at each place, whose files go into the record at the end."""

from __future__ import annotations

import os
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import rmtree

from pileup.model.units import format_size
from pileup.record.artefacts import LARGEST, MOST

PIECE = 1 << 20
Keep = Callable[[str, bytes, bool], None]
"""`keep(name, piece, first)` appends to a file in the record."""


class ArtefactFolder:
    """A folder that is made when a test first asks for it, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._path: Path | None = None

    def path(self) -> Path:
        """Return it. Raises OSError when it cannot be made."""
        with self._lock:
            if self._path is None:
                self._path = Path(tempfile.mkdtemp(prefix="pileup-artefacts-"))
            return self._path

    def bring_home(self, keep: Keep, note: Callable[[str], None]) -> None:
        """Pass its files to `keep`, the oldest first, and remove it; `note` gets what is left out.

        Only plain files are kept, up to the limits. A second call does nothing.
        """
        with self._lock:
            path, self._path = self._path, None
        if path is None:
            return
        room = LARGEST
        left: list[int] = []
        for number, (file, size) in enumerate(_files(path, left)):
            if number >= MOST or size > room:
                left.append(size)
                continue
            room -= size
            try:
                for at, piece in enumerate(_pieces(file, size)):
                    keep(file.name, piece, at == 0)
            except OSError:
                left.append(size)
        if left:
            bound = f"at most {MOST} files and {format_size(LARGEST)} of a load at a place, no folders and no links"
            note(f"artefacts: {len(left)} left out ({format_size(sum(left))}); kept are {bound}")
        rmtree(path, ignore_errors=True)


def _files(path: Path, left: list[int]) -> Iterator[tuple[Path, int]]:
    """Yield the plain files of a folder with their sizes, the oldest first; anything else is skipped."""
    found = []
    with os.scandir(path) as entries:
        for entry in entries:
            info = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(info.st_mode):
                found.append((info.st_mtime_ns, entry.name, info.st_size))
            else:
                left.append(0)
    yield from ((path / name, size) for _, name, size in sorted(found))


def _pieces(file: Path, size: int) -> Iterator[bytes]:
    """Yield so many bytes of a file, one empty piece of an empty one."""
    with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as source:
        yield source.read(min(size, PIECE))
        while (size := size - PIECE) > 0 and (piece := source.read(min(size, PIECE))):
            yield piece
