"""Table files: append-only blocks of fixed-width rows and strings, each with a checksum (docs/record.md).

Reading needs only numpy. It stops at an incomplete block, as a crash leaves it.
"""

from __future__ import annotations

import json
import os
import re
import struct
import threading
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pileup.model.errors import DamagedRecord, RecordError
from pileup.record import files

Rows = NDArray[np.void]
"""A numpy structured array with the columns of the table."""

FORMAT = 1
MAGIC = b"PILEUP1\n"
BLOCK_MAGIC = b"PBLK"
ROWS, STRINGS = 1, 2
LONGEST_HEADER = 1 << 20
LONGEST_BLOCK = 512 << 20
"""Most bytes of a block: a larger size is damage, since pileup does not write so many at once."""
_HEAD = struct.Struct("<4sIIIII")
_STRING = struct.Struct("<II")
_COLUMN_TYPE = re.compile(r"[<|]?[iuf][1248]")


@dataclass(frozen=True, slots=True)
class Block:
    """One block as it is in the file; `end` is the position behind it."""

    kind: int
    count: int
    payload: bytes
    end: int


class TableWriter:
    """Appends to one table file, from any thread. A block of strings comes before the rows that use them."""

    def __init__(self, path: Path, table: str, columns: np.dtype[np.void], place: int = 0, run: str = "") -> None:
        self.path = path
        self._lock = threading.Lock()
        self._file = path.open("xb", buffering=0)
        self._sequence = 0
        self._strings = 0
        self.length = 0
        """Bytes written so far: the end of the last whole block."""
        self._write(_header(table, columns, place, run))

    def append(self, rows: Rows, texts: list[bytes], columns: tuple[str, ...]) -> None:
        """Append rows whose string `columns` hold positions in `texts`, counted from 1; 0 is the empty string.

        Every append is whole in itself: its rows use no string of an earlier one, so reading may begin at any of them.
        Raises RecordError when the disk refuses; what was written of it is cut off again.
        """
        with self._lock:
            kept = rows.copy()
            for column in columns:
                kept[column] = np.where(rows[column] > 0, rows[column] + np.uint32(self._strings), 0)
            packed = [_STRING.pack(self._strings + number, len(text)) + text for number, text in enumerate(texts, 1)]
            blocks = [(STRINGS, len(texts), b"".join(packed)), (ROWS, len(kept), kept.tobytes())]
            self._write(b"".join(self._block(*block) for block in blocks if block[1]))
            self._strings += len(texts)

    def close(self) -> None:
        """End the file."""
        with self._lock:
            self._file.close()

    def _block(self, kind: int, count: int, payload: bytes) -> bytes:
        head = _HEAD.pack(BLOCK_MAGIC, kind, count, len(payload), zlib.crc32(payload), self._sequence)
        self._sequence += 1
        return head + payload

    def _write(self, data: bytes) -> None:
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) or 0 :]  # a disk that is nearly full takes a part
        except OSError as problem:
            self._file.truncate(self.length)
            self._file.seek(self.length)
            raise RecordError(f"{self.path} cannot be written: {problem.strerror}", "room on the disk") from problem
        self.length += len(data)


def opened(path: Path) -> BinaryIO:
    """Open a table to be read. Raises OSError, also when it is a link, a pipe or a device."""
    return os.fdopen(files.opened(path), "rb")


def _header(table: str, columns: np.dtype[np.void], place: int, run: str) -> bytes:
    names = [[name, columns[name].str.replace("|", "")] for name in columns.names or ()]
    plain = {"format": FORMAT, "table": table, "place": place, "row_size": columns.itemsize, "columns": names}
    text = json.dumps(plain | ({"run": run} if run else {})).encode()
    return MAGIC + struct.pack("<I", len(text)) + text


class TableReader:
    """Reads one table file, also one that is being written.

    Raises DamagedRecord when it is not one, or has not all the columns of `expected`.
    """

    def __init__(self, path: Path, expected: np.dtype[np.void] | None = None) -> None:
        self.path = path
        self._expected = expected
        self.header: dict[str, object] = {}
        self.columns: np.dtype[np.void] = np.dtype([])
        self.begin = 0
        """Position of the first block; 0 while the header is not there yet."""
        with opened(path) as file:
            self._read_header(file)

    def blocks(self, position: int = 0) -> Iterator[Block]:
        """Yield the blocks from a position on that `Block.end` gave; stops before a torn or broken one."""
        if not self.begin:
            return
        with opened(self.path) as file:
            size = file.seek(0, 2)
            at = file.seek(max(position, self.begin))
            while (block := _read_block(file, at, size)) is not None:
                yield block
                at = block.end

    def outline(self, position: int = 0) -> Iterator[tuple[int, int, int]]:
        """Yield kind, begin and end of the blocks from a position on, by their heads alone: payloads are not read."""
        if not self.begin:
            return
        with opened(self.path) as file:
            size = file.seek(0, 2)
            at = file.seek(max(position, self.begin))
            while len(head := file.read(_HEAD.size)) == _HEAD.size:
                magic, kind, _count, length, _checksum, _sequence = _HEAD.unpack(head)
                end = at + _HEAD.size + length
                if magic != BLOCK_MAGIC or kind not in {ROWS, STRINGS} or end > size:
                    return
                yield kind, at, end
                at = file.seek(end)

    def rows(self, block: Block) -> Rows:
        """Return the rows of a block. Raises DamagedRecord when their size is not that of the header."""
        if block.count * self.columns.itemsize != len(block.payload):
            raise self._broken(f"{block.count} rows take {len(block.payload)} bytes", f"{self.columns.itemsize} each")
        return np.frombuffer(block.payload, self.columns)

    def strings(self, block: Block) -> Iterator[tuple[int, bytes]]:
        """Yield number and text of each string of a block."""
        at, payload = 0, block.payload
        for _ in range(block.count):
            if at + _STRING.size > len(payload):
                raise self._broken("a block of strings ends too early", "whole strings")
            number, length = _STRING.unpack_from(payload, at)
            at += _STRING.size + length
            yield number, payload[at - length : at]

    def end(self, position: int = 0) -> int:
        """Return the position behind the last whole block."""
        last = max(position, self.begin)
        for block in self.blocks(position):
            last = block.end
        return last

    def end_of_rows(self, position: int = 0) -> int:
        """Return the position behind the last whole append: strings whose rows are not there yet are none."""
        last = max(position, self.begin)
        for block in self.blocks(position):
            if block.kind == ROWS:
                last = block.end
        return last

    def _read_header(self, file: BinaryIO) -> None:
        start = file.read(len(MAGIC) + 4)
        if not MAGIC.startswith(start[: len(MAGIC)]):
            raise self._broken(f"it begins with {start[:8]!r}", repr(MAGIC))
        if len(start) < len(MAGIC) + 4:
            return
        length = int.from_bytes(start[len(MAGIC) :], "little")
        text = file.read(length) if length <= LONGEST_HEADER else b"too long"
        if len(text) < length <= LONGEST_HEADER:
            return
        try:
            self.header = json.loads(text)
            self.columns = _columns(self.header, self._expected)
        except (ValueError, TypeError, KeyError, AttributeError) as problem:
            raise self._broken(f"its header is wrong ({problem})", "a header as in docs/record.md") from problem
        if self.header.get("format") != FORMAT:
            raise self._broken(f"its format is {self.header.get('format')!r}", f"format {FORMAT}", "use a newer pileup")
        self.begin = len(start) + length

    def _broken(
        self, what: str, expected: str, hint: str = "the file was not written by pileup, or is damaged"
    ) -> DamagedRecord:
        return DamagedRecord(f"{self.path} is not a table: {what}", expected, hint)


def _columns(header: dict[str, Any], expected: np.dtype[np.void] | None) -> np.dtype[np.void]:
    found = [(str(name), str(kind)) for name, kind in header["columns"]]
    wrong = [kind for _, kind in found if not _COLUMN_TYPE.fullmatch(kind)]
    if wrong:
        raise ValueError(f"column type {wrong[0]!r}")
    columns = np.dtype(found)
    if columns.itemsize != header["row_size"] or columns.itemsize == 0:
        raise ValueError(f"row_size {header['row_size']}, columns take {columns.itemsize}")
    missing = [name for name in (expected.names if expected else None) or () if name not in (columns.names or ())]
    if missing:
        raise ValueError(f"there is no column {missing[0]!r}")
    return columns


def _read_block(file: BinaryIO, at: int, size: int) -> Block | None:
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    magic, kind, count, length, checksum, _sequence = _HEAD.unpack(head)
    if magic != BLOCK_MAGIC or kind not in {ROWS, STRINGS} or at + _HEAD.size + length > size:
        return None
    if length > LONGEST_BLOCK:
        return None
    payload = file.read(length)
    if len(payload) < length or zlib.crc32(payload) != checksum:
        return None
    return Block(kind, count, payload, at + _HEAD.size + length)
