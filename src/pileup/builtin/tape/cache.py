"""Caches of files before the stagers, without a clock: what is in them, and when a copy from one is there."""

from __future__ import annotations

from collections import OrderedDict


class Cache:
    """Files up to a size in all. What was not used for longest goes first, to make room.

    A share `warm` of it is full at the start, of files that will be asked for: a file that nobody has asked for before
    is there as long as this stock lasts. What comes from tape takes the place of stock before that of files in use.
    """

    def __init__(self, size: int, warm: float = 0.0) -> None:
        self._files: OrderedDict[str, int] = OrderedDict()
        self._seen: set[str] = set()
        self._free, self._stock = size, int(size * warm)
        self._free -= self._stock

    def has(self, path: str, size: int) -> bool:
        """Use a file; False when it is not there."""
        if path in self._files:
            self._files.move_to_end(path)
            return True
        new = path not in self._seen
        self._seen.add(path)
        if not new or self._stock < size:
            return False
        self._stock -= size
        self._files[path] = size
        return True

    def add(self, path: str, size: int) -> None:
        """Keep a file that has come from tape; one that is larger than the cache is not kept."""
        if path in self._files or size > self._free + self._stock + sum(self._files.values()):
            return
        given = min(self._stock, max(0, size - self._free))
        self._stock -= given
        self._free += given
        while self._free < size:
            self._free += self._files.popitem(last=False)[1]
        self._files[path] = size
        self._free -= size


class Link:
    """Copies one file after another, in the order of asking; None: in no time."""

    def __init__(self, speed: float | None) -> None:
        self._speed, self._busy = speed, 0

    def copy(self, now: int, size: int) -> int:
        """Return when a copy is there, ns, that is asked for now."""
        if self._speed is None:
            return now
        self._busy = max(self._busy, now) + round(size / self._speed * 1e9)
        return self._busy
