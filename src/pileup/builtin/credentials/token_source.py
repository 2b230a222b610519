"""A bearer token that is given, or read from a file again when that changes."""

from __future__ import annotations

import time
from pathlib import Path

LOOK = 1.0
"""Seconds between samples at the file."""
Mark = tuple[int, int, int]


class TokenSource:
    """The token of one client. Holds a secret: never shown."""

    __slots__ = ("_looked", "_mark", "_path", "_token")

    def __init__(self, token: str | None, path: str | None) -> None:
        self._token = token or ""
        self._path = path
        self._looked = -LOOK
        self._mark: Mark | None = None

    def __repr__(self) -> str:
        return "TokenSource(secret)"

    def get(self) -> str:
        """Return the token of now, empty for none. Raises OSError when its file cannot be read."""
        if self._path is not None and time.monotonic() - self._looked >= LOOK:
            self._looked = time.monotonic()
            self._read(self._path)
        return self._token

    def _read(self, path: str) -> None:
        found = Path(path).stat()
        mark = found.st_mtime_ns, found.st_ino, found.st_size
        if mark != self._mark:
            self._token, self._mark = Path(path).read_text().strip(), mark
