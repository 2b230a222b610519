"""Iterations of Python clients under way at a place, in a file that its parent can read after the place is gone."""

from __future__ import annotations

import mmap
import os
import struct
from collections import deque
from dataclasses import dataclass
from pathlib import Path

SLOTS = 65_536
"""Iterations under way at once that are noted; more are counted by the frames alone."""
_SLOT = struct.Struct("<QqqII")
"""Number of the iteration + 1 (0: nothing is under way), intended, start (ns), case, client."""


@dataclass(frozen=True, slots=True)
class InflightIteration:
    """One iteration under way. Times in ns since the epoch."""

    number: int
    intended: int
    start: int
    case: int
    client: int


class InflightWriter:
    """The side that writes: a slot for each iteration under way. A few hundred nanoseconds each, from any thread."""

    def __init__(self, path: str) -> None:
        with Path(path).open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), SLOTS * _SLOT.size)
        self._free = deque(range(SLOTS))

    def begin(self, underway: InflightIteration) -> int:
        """Note an iteration and return its slot, for `end`; -1 when all are taken."""
        try:
            slot = self._free.pop()
        except IndexError:
            return -1
        at = slot * _SLOT.size
        each = underway
        packed = _SLOT.pack(each.number + 1, each.intended, each.start, each.case, each.client)
        self._map[at + 8 : at + _SLOT.size] = packed[8:]
        self._map[at : at + 8] = packed[:8]
        return slot

    def end(self, slot: int) -> None:
        """Take an iteration off."""
        if slot >= 0:
            at = slot * _SLOT.size
            self._map[at : at + 8] = bytes(8)
            self._free.append(slot)


class InflightReader:
    """The side that reads. The file has no name any more once the place has opened it."""

    def __init__(self, descriptor: int) -> None:
        os.ftruncate(descriptor, SLOTS * _SLOT.size)
        self._descriptor = descriptor

    def underway(self) -> list[InflightIteration]:
        """Return what is under way, in the order of the slots."""
        data = os.pread(self._descriptor, SLOTS * _SLOT.size, 0)
        found = (fields for fields in _SLOT.iter_unpack(data) if fields[0])
        return [InflightIteration(number - 1, *rest) for number, *rest in found]

    def close(self) -> None:
        """Let the file go."""
        os.close(self._descriptor)
