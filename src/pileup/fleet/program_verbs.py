"""What each verb of a Program asks of a ProgramClient, and when its answer passes: the same as in the engine."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pileup._core._native import Steps
from pileup.model.errors import Failed
from pileup.model.program import Step
from pileup.plugin.program_client import Call, NotThere, ProgramClient, ThereAlready

if TYPE_CHECKING:
    from pileup.plugin import Operation

PIECE = 1 << 20
"""Bytes of known content made at a time, where the test says nothing."""
START = 1
"""Adler-32 of nothing."""


@dataclass(slots=True)
class Act:
    """One operation under way: its step, its object, and what counts it."""

    index: int
    step: Step
    number: int
    call: Call
    operation: Operation


class Verbs:
    """The verbs of one virtual client."""

    def __init__(self, client: ProgramClient, steps: Steps, number: int) -> None:
        self._client = client
        self._steps = steps
        self._number = number
        self._reads = 0
        self._moved: dict[int, int] = {}
        """Number of the object last moved -> Adler-32 of what went over the wire."""
        self._acts: dict[str, Callable[[Act], None]] = {
            "stat": self._stat,
            "list": self._list,
            "read": self._read,
            "write": self._write,
            "delete": self._delete,
            "mkdir": self._mkdir,
            "rename": self._rename,
            "checksum": self._checksum,
            "open": lambda act: client.open_file(act.call),
            "connect": lambda act: client.connect(act.call),
            "request": lambda act: client.request(act.call),
        }

    def begin(self) -> None:
        """Begin an iteration: what was moved before is no matter."""
        self._moved.clear()

    def do(self, act: Act) -> None:
        """Do one operation. Raises Failed, Refused, Ambiguous, TimeoutError."""
        self._acts[act.step.verb](act)

    def _stat(self, act: Act) -> None:
        size = self._client.stat(act.call)
        if act.step.verify:
            _compare_size(size, self._steps.size(act.index, act.number))

    def _list(self, act: Act) -> None:
        entries, expected = self._client.list(act.call), act.step.expect.entries
        if expected is not None and entries != expected:
            raise Failed(f"{entries} entries, expected {expected}")

    def _delete(self, act: Act) -> None:
        with suppress(*[NotThere] * act.step.missing_ok):
            self._client.delete(act.call)

    def _mkdir(self, act: Act) -> None:
        with suppress(*[ThereAlready] * act.step.missing_ok):
            self._client.mkdir(act.call)

    def _rename(self, act: Act) -> None:
        self._client.rename(act.call, self._steps.renamed(act.index, act.call.key))

    def _checksum(self, act: Act) -> None:
        stated = self._client.checksum(act.call)
        if act.number in self._moved:
            _compare_sums(stated, self._moved[act.number], "what went over the wire")
        elif act.step.content is not None:
            _compare_sums(stated, self._steps.adler32(act.index, act.number), "what was written")

    def _write(self, act: Act) -> None:
        size = self._steps.size(act.index, act.number) or 0
        self._client.write(act.call, self._known_content(act, size), size)
        if act.step.checksum != "none":
            stated = self._client.checksum(act.call)
            _compare_sums(stated, self._steps.adler32(act.index, act.number), "what was written")

    def _known_content(self, act: Act, size: int) -> Iterator[bytes]:
        """Yield what is written, and count what has left: a piece counts when the next one is asked for."""
        piece, sums, value = act.step.buffer or PIECE, self._steps.sums(act.index), START
        for offset in range(0, size, piece):
            data = self._steps.content(act.index, act.number, offset, min(piece, size - offset))
            value = zlib.adler32(data, value) if sums else value
            yield data
            act.operation.bytes += len(data)
        self._note(act, value)

    def _read(self, act: Act) -> None:
        size = self._steps.size(act.index, act.number)
        ranges = self._steps.ranges(act.index, self._number, self._reads, size)
        self._reads += 1
        if act.step.pieces:
            self._read_pieces(act, [(offset, length or 0) for offset, length in ranges], size)
            return
        for offset, length in ranges:
            self._read_range(act, offset, length, size)

    def _read_pieces(self, act: Act, ranges: list[tuple[int, int]], size: int | None) -> None:
        got = self._client.read_pieces(act.call, ranges)
        for (offset, length), piece in zip(ranges, got, strict=True):
            self._take(act, offset, piece)
            _compare_length(act, len(piece), offset, length, size)

    def _read_range(self, act: Act, offset: int, length: int | None, size: int | None) -> None:
        whole = offset == 0 and length is None
        asked = whole and act.step.checksum != "none"
        sums, got, value = asked or self._steps.sums(act.index), 0, START
        for piece in self._client.read(act.call, offset, length):
            self._take(act, offset + got, piece)
            value = zlib.adler32(piece, value) if sums else value
            got += len(piece)
        _compare_length(act, got, offset, length, size)
        if asked:
            _compare_sums(self._client.checksum(act.call), value, "what was read")
        if whole:
            self._note(act, value)

    def _note(self, act: Act, value: int) -> None:
        if self._steps.sums(act.index):
            self._moved = {act.number: value}

    def _take(self, act: Act, offset: int, piece: bytes) -> None:
        act.call.first_byte()
        act.operation.bytes += len(piece)
        if act.step.content is not None and act.step.verify:
            wrong = self._steps.first_wrong(act.index, act.number, offset, piece)
            if wrong is not None:
                raise Failed(f"wrong content at offset {wrong}")


def _compare_size(size: int, expected: int | None) -> None:
    if expected is not None and size != expected:
        raise Failed(f"size {size}, expected {expected}")


def _compare_length(act: Act, got: int, offset: int, length: int | None, size: int | None) -> None:
    """Hold what was read to what the object must give there, as far as that is known."""
    if size is None or not act.step.verify:
        return
    rest = max(0, size - offset)
    _compare_size(got, rest if length is None else min(length, rest))


def _compare_sums(stated: int, expected: int, whose: str) -> None:
    if stated != expected:
        raise Failed(f"checksum: the adler32 that the server states is not that of {whose}")
