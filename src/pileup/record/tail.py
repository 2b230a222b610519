"""Reading a record that grows: from where the last look ended."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import overload

from pileup.model.record import Frame
from pileup.record import frames
from pileup.record.tables import TableReader

Position = dict[str, int]
"""File -> position behind the last block seen."""


class LazyFrames(Sequence[Frame]):
    """Frames between two positions, read when they are first looked at."""

    def __init__(self, folder: Path, begin: Position, end: Position) -> None:
        self._folder = folder
        self._begin = begin
        self._end = end
        self._read: list[Frame] | None = None

    def __len__(self) -> int:
        return len(self._frames())

    @overload
    def __getitem__(self, index: int) -> Frame: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Frame]: ...
    def __getitem__(self, index: int | slice) -> Frame | Sequence[Frame]:
        return self._frames()[index]

    def _frames(self) -> list[Frame]:
        if self._read is None:
            self._read = [
                frame
                for name, until in self._end.items()
                for frame, _ in frames.read(
                    TableReader(self._folder / name, frames.OLDEST), self._begin.get(name, 0), until
                )
            ]
        return self._read
