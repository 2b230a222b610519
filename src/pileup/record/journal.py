"""Files of JSON lines: the journal, synced line by line, and the events. A torn last line is ignored."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Lines:
    """One file of JSON lines, appended to from any thread."""

    def __init__(self, path: Path, synced: bool) -> None:
        self.path = path
        self._synced = synced
        self._lock = threading.Lock()
        self._next: int | None = None

    def append(self, fields: dict[str, Any]) -> int:
        """Append a line with a number and the time (ns since the epoch); return the number, 1 for the first.

        Raises OSError when the disk refuses.
        """
        with self._lock:
            if self._next is None:
                self._next = 1 + max((int(entry.get("number", 0)) for entry in self.read()), default=0)
            number, self._next = self._next, self._next + 1
            line = json.dumps({"number": number, "time": time.time_ns(), **fields}, default=str)
            with self.path.open("ab") as file:
                file.write(self._mend() + line.encode() + b"\n")
                file.flush()
                if self._synced:
                    os.fsync(file.fileno())
            return number

    def read(self) -> Iterator[dict[str, Any]]:
        """Yield every whole line."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            for line in file:
                entry = _whole(line)
                if entry is not None:
                    yield entry

    def _mend(self) -> bytes:
        """Return what must go before the next line: an end for one that a crash has torn."""
        try:
            with self.path.open("rb") as file:
                if file.seek(0, os.SEEK_END) == 0:
                    return b""
                file.seek(-1, os.SEEK_END)
                return b"" if file.read(1) == b"\n" else b"\n"
        except FileNotFoundError:
            return b""


def _whole(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None
