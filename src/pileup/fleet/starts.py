"""The starts that a load replays, as a file: for all places of this host, and in parts for those of others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pileup.fleet.wire import CHUNK, Message

SIZE = 8
"""Bytes of a start: i64, little endian, ns after the first."""


@dataclass(frozen=True, slots=True)
class StartsFile:
    """A file of starts, in order; `part` (number, of how many) says which of all are in it."""

    path: str
    count: int
    """How many starts the load has, whatever the part."""
    speed: float
    pace: float
    """Starts per second in the mean, at that speed."""
    part: tuple[int, int] = (0, 1)

    def to_native(self) -> dict[str, object]:
        """Return the words of a load for the engine (docs/engine.md)."""
        told = {"file": self.path, "count": self.count, "speed": self.speed, "part": self.part}
        return {"rate": self.pace, "replay": told}

    def pieces(self, part: tuple[int, int]) -> Iterator[bytes]:
        """Yield the starts of a part, in pieces for the wire; memory holds one."""
        first, step = part
        count = CHUNK // SIZE * step
        with Path(self.path).open("rb") as file:
            while data := file.read(count * SIZE):
                yield np.frombuffer(data, "<i8")[first::step].tobytes()


class Inbox:
    """Starts that came from the parent for loads of another host, in files there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[int, tuple[Path, tuple[int, int]]] = {}
        """Number of the load -> file, and which of all starts are in it."""

    def take(self, message: Message) -> None:
        """Keep a piece. One for which there is no room is missed where the load begins: the file is too short."""
        number, (first, step) = message.number("part"), message["share"]
        path, _ = self._files.setdefault(number, (self._folder / f"{number}.starts", (first, step)))
        with suppress(OSError), path.open("ab") as file:
            file.write(message.blob())

    def found(self, number: int, starts: StartsFile | None) -> StartsFile | None:
        """Return the starts of a load as they are here; those for which nothing came are unchanged."""
        if starts is None or number not in self._files:
            return starts
        path, part = self._files[number]
        return replace(starts, path=str(path), part=part)

    def forget(self, number: int) -> None:
        """Remove what came for a load."""
        if number in self._files:
            self._files.pop(number)[0].unlink(missing_ok=True)
