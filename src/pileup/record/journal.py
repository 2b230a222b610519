"""Files of JSON lines: the journal, synced line by line, and the events. A torn last line is ignored.

Lines of others are skipped: one that is too long, that is not an object, or that has no number and time as pileup
gives them. `pileup verify` reports on them.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from pileup.record import files

LONGEST = 64 << 20
"""Bytes of a line."""
LARGEST = 2**63


class Lines:
    """One file of JSON lines, appended to from any thread. `clock` says when (ns since the epoch)."""

    def __init__(self, path: Path, synced: bool, clock: Callable[[], int] = time.time_ns) -> None:
        self.path = path
        self._clock = clock
        self._synced = synced
        self._lock = threading.Lock()
        self._next: int | None = None

    def append(self, fields: Mapping[str, object]) -> int:
        """Append a line with a number and the time (ns since the epoch); return the number, 1 for the first.

        Raises OSError when the disk refuses.
        """
        with self._lock:
            if self._next is None:
                self._next = 1 + max(map(_number, self.read()), default=0)
            number, self._next = self._next, self._next + 1
            line = json.dumps({"number": number, "time": self._clock(), **fields}, default=str)
            new = self._synced and not self.path.exists()
            with os.fdopen(files.append_to(self.path), "ab") as file:
                file.write(self._mend() + line.encode() + b"\n")
                file.flush()
                if self._synced:
                    os.fsync(file.fileno())
            if new:
                files.sync(self.path.parent)
            return number

    def read(self) -> Iterator[dict[str, object]]:
        """Yield every whole line."""
        for line in lines(self.path):
            entry = whole(line)
            if entry is not None:
                yield entry

    def _mend(self) -> bytes:
        """Return what must go before the next line: an end for one that a crash has torn."""
        with os.fdopen(files.opened(self.path), "rb") as file:
            if file.seek(0, os.SEEK_END) == 0:
                return b""
            file.seek(-1, os.SEEK_END)
            return b"" if file.read(1) == b"\n" else b"\n"


def lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, of one that is too long its beginning, up to the size that a file may have.

    Nothing when there is no such file. Raises OSError when it cannot be read.
    """
    try:
        descriptor = files.opened(path)
    except FileNotFoundError:
        return
    with os.fdopen(descriptor, "rb") as file:
        read = 0
        while read < files.LARGEST_LINES and (line := file.readline(LONGEST)):
            read += len(line)
            yield line
            while not line.endswith(b"\n") and read < files.LARGEST_LINES and (line := file.readline(LONGEST)):
                read += len(line)


def whole(line: bytes) -> dict[str, object] | None:
    """Return a line as an entry with number and time, None when it is not one."""
    entry = parsed(line)
    if entry is None or not all(_is_count(entry.get(name)) for name in ("number", "time")):
        return None
    return entry


def parsed(line: bytes) -> dict[str, object] | None:
    """Return a line as an object, None when it is not one."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _number(entry: Mapping[str, object]) -> int:
    found = entry["number"]
    return found if isinstance(found, int) else 0


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < LARGEST
