"""How each verb of a Program uses a ProgramClient, and when its answer passes: the same as in the engine."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pileup._core._native import Steps
from pileup.model.errors import Failed, NotThere, ThereAlready, VerdictException
from pileup.model.program import Step
from pileup.plugin.program_client import Call, ProgramClient

if TYPE_CHECKING:
    from pileup.plugin import Operation, Target

PIECE = 1 << 20
"""Bytes of known content made at a time, where the test says nothing."""
Others = Mapping[str, "Target"]
"""Second targets of steps, by their names in the suite."""
Part = tuple[int, int | None]
"""Offset and length; None: to the end."""
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

    def __init__(self, client: ProgramClient, steps: Steps, number: int, others: Others) -> None:
        self._client = client
        self._others = others
        self._steps = steps
        self._number = number
        self._reads = 0
        self._moved: dict[int, int] = {}
        """Number of the object last moved -> Adler-32 of what went over the wire."""
        self._acts: dict[str, Callable[[Act], None]] = {
            "noop": lambda act: None,
            "stat": self._stat,
            "list": self._list,
            "read": self._read,
            "write": self._write,
            "delete": self._delete,
            "mkdir": self._mkdir,
            "rename": self._rename,
            "copy": self._copy,
            "checksum": self._checksum,
            "open": lambda act: client.open_file(act.call),
            "connect": lambda act: client.connect(act.call),
            "request": lambda act: client.request(act.call),
        }

    def begin(self) -> None:
        """Begin an iteration: forget what was moved before."""
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

    def _copy(self, act: Act) -> None:
        other, key = self._there(act)
        self._client.copy(act.call, other, key)
        size = self._steps.size(act.index, act.number)
        if act.step.verify and act.operation.bytes:
            _compare_size(act.operation.bytes, size)
        act.operation.bytes = act.operation.bytes or size or 0

    def _there(self, act: Act) -> tuple[Target, str]:
        """Return the second target of a step, and the name of its object there."""
        destination, key = act.step.destination, self._steps.destination(act.index, act.number)
        other = self._others.get(destination.target) if destination else None
        if other is None or key is None:
            raise Failed("the second target is not open; expected one that the test names")
        return other, key

    def _checksum(self, act: Act) -> None:
        if act.step.destination is not None:
            stated = self._client.checksum_there(act.call, *self._there(act))
            if act.step.content is None and stated != self._client.checksum(act.call):
                raise Failed("checksum: the adler32 of the copy is not that of the source")
        else:
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
        turn, self._reads = self._reads, self._reads + 1
        there = self._client.begin_read(act.call)
        try:
            value = self._read_all(act, turn, there)
        except Failed:
            with suppress(VerdictException, TimeoutError):  # report what was wrong with the object
                self._client.end_read(act.call, keep=False)
            raise
        self._client.end_read(act.call, keep=act.step.keep)
        whole = act.step.span is None and act.step.offset == 0 and act.step.length is None
        if whole and act.step.checksum != "none":
            _compare_sums(self._client.checksum(act.call), value, "what was read")
        if whole:
            self._note(act, value)

    def _read_all(self, act: Act, turn: int, there: int | None) -> int:
        """Read what the step wants of an object of `there` bytes (None: unknown); return its Adler-32 where wanted."""
        size = self._steps.size(act.index, act.number)
        known = size if act.step.verify else None
        if there is not None:
            _compare_size(there, known)
        check = _Check(self._steps, act, sums=act.step.checksum != "none" or self._steps.sums(act.index))
        ranges = self._steps.ranges(act.index, self._number, turn, size if there is None else there)
        for got, (offset, length) in zip(self._pieces(act, ranges, check), ranges, strict=True):
            if there is not None and got != (rest := _rest(there, offset, length)):
                raise Failed(f"truncated: {got} of {rest} bytes")
            _compare_size(got, None if known is None else _rest(known, offset, length))
        return check.finish()

    def _pieces(self, act: Act, ranges: list[Part], check: _Check) -> Iterator[int]:
        """Read the ranges, one by one or so many together as the step says; yield how much came of each."""
        together = act.step.pieces
        if together <= 1:
            for offset, length in ranges:
                got = 0
                for piece in self._client.read(act.call, offset, length):
                    got += check.take(piece, offset + got)
                yield got
        for begin in range(0, len(ranges) if together > 1 else 0, max(1, together)):
            asked = [(offset, length or 0) for offset, length in ranges[begin : begin + together]]
            for (offset, _), piece in zip(asked, self._client.read_pieces(act.call, asked), strict=True):
                yield check.take(piece, offset)

    def _note(self, act: Act, value: int) -> None:
        if self._steps.sums(act.index):
            self._moved = {act.number: value}


class _Check:
    """Takes in what is read of one object: counts it, compares it, sums it up."""

    def __init__(self, steps: Steps, act: Act, sums: bool) -> None:
        self._steps = steps
        self._act = act
        self._sums = sums
        self._value = START
        self._compared = act.step.content is not None and act.step.verify
        self._wrong: int | None = None

    def take(self, piece: bytes, offset: int) -> int:
        """Take a piece that begins at an offset of the object; return its length."""
        act = self._act
        act.call.first_byte()
        act.operation.bytes += len(piece)
        if self._compared and self._wrong is None:
            self._wrong = self._steps.first_wrong(act.index, act.number, offset, piece)
        if self._sums:
            self._value = zlib.adler32(piece, self._value)
        return len(piece)

    def finish(self) -> int:
        """Return the Adler-32 of all pieces. Raises Failed when a byte was wrong."""
        if self._wrong is not None:
            raise Failed(f"wrong content at offset {self._wrong}")
        return self._value


def _compare_size(size: int, expected: int | None) -> None:
    if expected is not None and size != expected:
        raise Failed(f"size {size}, expected {expected}")


def _rest(size: int, offset: int, length: int | None) -> int:
    """Return how many bytes an object of that size gives there."""
    rest = max(0, size - offset)
    return rest if length is None else min(length, rest)


def _compare_sums(stated: int, expected: int, whose: str) -> None:
    if stated != expected:
        raise Failed(f"checksum: the adler32 that the server states is not that of {whose}")
