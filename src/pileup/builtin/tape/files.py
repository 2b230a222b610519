"""Which files tests of tape ask for: numbered ones, or those of a list."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from pileup.plugin import Count, Test, option
from pileup.plugin.units import counted

DIGITS = 7
LARGEST = 1 << 28
"""Bytes of a list of paths."""


def numbered(prefix: str, number: int, together: int = 0) -> str:
    """Return the path of a file by its number, in the folder of its number where some lie together."""
    folder = f"/{number // together:0{DIGITS}}" if together else ""
    return f"{prefix}{folder}/{number:0{DIGITS}}"


@lru_cache(maxsize=4)
def listed(path: Path, _changed: int) -> tuple[str, ...]:
    """Return the paths in a file, one in each line; empty lines and those that begin with # are left out.

    Raises ValueError for a line that is no path, and for a file without paths.
    """
    found = []
    for at, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = text.strip()
        if line.startswith("#") or not line:
            continue
        if not line.startswith("/"):
            raise ValueError(f"{path.name}:{at}: {line!r:.80}; expected a path that begins with /")
        found.append("/" + "/".join(part for part in line.split("/") if part))
    if not found:
        raise ValueError(f"{path.name} has no paths; expected one in each line")
    return tuple(found)


def listed_beside(folder: Path, name: str) -> tuple[str, ...]:
    """Return the paths in a file beside the suite, nothing for no name. Raises ValueError when it cannot be read."""
    if not name:
        return ()
    path = folder / name
    try:
        found = path.stat()
        if found.st_size > LARGEST:
            raise ValueError(f"paths {name!r} has {found.st_size} bytes; expected at most {LARGEST}")
        return listed(path, found.st_mtime_ns)
    except OSError as problem:
        raise ValueError(f"paths {name!r}: {problem.strerror}; expected a file beside the suite") from None


class TapeFiles(Test):
    """Base of tests that ask for many files in a request: iteration by iteration, each has the next ones."""

    needs: ClassVar[str] = "staging"

    files: Count = option(100, ge=1, le=1_000_000, help="files of a request")
    prefix: str = option("/tape", pattern=r"^(/[^/\n]+)+$", help="folder of files with numbers as names, on tape")
    first: Count = option(0, help="number of the first of them")
    among: Count = option(
        10_000, ge=1, le=10**9, help="how many there are; after the last one comes the first one again"
    )
    together: Count = option(0, help="files of a folder: PREFIX/0000000/0000000 and so on; 0: no folders")
    paths: str = option("", help="file with the paths of files on tape instead, one in each line, beside the suite")

    def check(self) -> None:
        """Refuse a list that cannot be read, and a request for more files than there are."""
        self._listed = listed_beside(self.context.folder, self.paths)
        there = len(self._listed) or self.among
        if self.files > there:
            raise ValueError(f"a request for {self.files} of {counted(there, 'file')}; expected at most {there}")

    def chosen(self, number: int) -> list[str]:
        """Return the paths of an iteration."""
        begin = number * self.files
        if self._listed:
            return [self._listed[at % len(self._listed)] for at in range(begin, begin + self.files)]
        return [
            numbered(self.prefix, self.first + at % self.among, self.together)
            for at in range(begin, begin + self.files)
        ]
