"""Parquet files of the same columns as one file: row groups are copied as they are, and only the footers are read.

A footer is a `FileMetaData` of the Parquet format (parquet.thrift) in the compact protocol of Apache Thrift. What it
says of places in the file moves with the row groups; all else stays byte for byte.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

MAGIC = b"PAR1"
LARGEST = 64 << 20
"""Bytes of a footer: a larger size is damage."""
AT_ONCE = 1 << 20
"""Bytes copied at once."""
STOP, TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, _MAP, STRUCT = range(13)
"""Types of the compact protocol."""
VERSION, SCHEMA, ROWS, GROUPS = 1, 2, 3, 4
"""Fields of FileMetaData: what else there is comes from the first file."""
COLUMNS, GROUP_PLACE, ORDINAL = 1, 5, 7
"""Fields of RowGroup."""
META, COLUMN_PLACES = 3, (2, 4, 6)
"""Fields of ColumnChunk."""
DATA_PLACES = (9, 10, 11, 14)
"""Fields of ColumnMetaData: first data page, index page, dictionary page, bloom filter."""

Struct = list[tuple[int, int, Any]]
"""Number, type and value of each field; the value of a list is the type of its elements and the elements."""


class NotAlike(Exception):
    """The files have different columns: their row groups do not fit into one file."""


@dataclass(slots=True)
class Reader:
    """Reads the compact protocol from bytes. Raises IndexError or ValueError for what is not of it."""

    data: bytes
    at: int = 0

    def struct(self) -> Struct:
        """Return the fields of a struct."""
        fields: Struct = []
        number = 0
        while (head := self.data[self.at]) != STOP:
            self.at += 1
            number = number + (head >> 4) if head >> 4 else self._signed()
            kind = head & 15
            fields.append((number, kind, self._value(kind)))
        self.at += 1
        return fields

    def _value(self, kind: int) -> Any:
        if kind in {I32, I64, I16}:
            return self._signed()
        if kind in {BINARY, DOUBLE, BYTE}:
            return self._bytes(self._number() if kind == BINARY else 8 if kind == DOUBLE else 1)
        if kind == STRUCT:
            return self.struct()
        if kind in {LIST, SET}:
            return self._list()
        if kind in {TRUE, FALSE}:
            return None
        raise ValueError(f"type {kind}")

    def _list(self) -> tuple[int, list[Any]]:
        head = self.data[self.at]
        self.at += 1
        count, kind = head >> 4, head & 15
        if count == 15:
            count = self._number()
        if kind in {TRUE, FALSE}:
            return kind, [self._bytes(1) for _ in range(count)]
        return kind, [self._value(kind) for _ in range(count)]

    def _bytes(self, length: int) -> bytes:
        begin, self.at = self.at, self.at + length
        if self.at > len(self.data):
            raise IndexError("it ends too early")
        return self.data[begin : self.at]

    def _number(self) -> int:
        number = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7

    def _signed(self) -> int:
        number = self._number()
        return (number >> 1) ^ -(number & 1)


def put_struct(into: bytearray, fields: Struct) -> None:
    """Write a struct in the compact protocol."""
    last = 0
    for number, kind, value in fields:
        if 0 < number - last < 16:
            into.append((number - last) << 4 | kind)
        else:
            into.append(kind)
            _put_signed(into, number)
        last = number
        _put_value(into, kind, value)
    into.append(STOP)


def _put_value(into: bytearray, kind: int, value: Any) -> None:
    if kind in {I32, I64, I16}:
        _put_signed(into, value)
    elif kind == STRUCT:
        put_struct(into, value)
    elif kind in {LIST, SET}:
        _put_list(into, value)
    elif kind == BINARY:
        _put_number(into, len(value))
        into += value
    elif value is not None:
        into += value


def _put_list(into: bytearray, value: tuple[int, list[Any]]) -> None:
    kind, elements = value
    _put_list_head(into, kind, len(elements))
    for element in elements:
        if kind in {TRUE, FALSE}:
            into += element
        else:
            _put_value(into, kind, element)


def _put_list_head(into: bytearray, kind: int, count: int) -> None:
    into.append(min(count, 15) << 4 | kind)
    if count >= 15:
        _put_number(into, count)


def _put_number(into: bytearray, number: int) -> None:
    while number > 127:
        into.append(number & 127 | 128)
        number >>= 7
    into.append(number)


def _put_signed(into: bytearray, number: int) -> None:
    _put_number(into, (number << 1) ^ (number >> 63))


def join(paths: Iterable[Path], into: BinaryIO) -> None:
    """Write the row groups of Parquet files, in this order, as one file.

    Raises NotAlike when their columns differ, ValueError for what is no Parquet file, OSError.
    """
    first: Struct = []
    groups, rows, count = bytearray(), 0, 0
    into.write(MAGIC)
    for path in paths:
        with path.open("rb") as file:
            footer, end = read_footer(file)
            if first and not _alike(first, footer):
                raise NotAlike(f"{path} has other columns than those before it")
            first = first or footer
            moved = into.tell() - len(MAGIC)
            for group in _of(footer, GROUPS)[1]:
                put_struct(groups, _moved_group(group, moved))
                count += 1
            rows += _of(footer, ROWS)
            _copy(file, len(MAGIC), end, into)
    footer_begin = into.tell()
    into.write(_footer(first, rows, count, groups))
    into.write((into.tell() - footer_begin).to_bytes(4, "little") + MAGIC)
    into.flush()


def read_footer(file: BinaryIO) -> tuple[Struct, int]:
    """Return the footer of a Parquet file and where it begins. Raises ValueError when it has none."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - 8, 0))
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != MAGIC or length > min(LARGEST, size - 12):
        raise ValueError("not a Parquet file")
    file.seek(size - 8 - length)
    try:
        return Reader(file.read(length)).struct(), size - 8 - length
    except IndexError as problem:
        raise ValueError("a Parquet file whose footer ends too early") from problem


def _footer(first: Struct, rows: int, count: int, groups: bytearray) -> bytes:
    head = [field for field in first if field[0] < ROWS]
    rest = [field for field in first if field[0] > GROUPS]
    made = bytearray()
    put_struct(made, [*head, (ROWS, I64, rows)])
    made[-1] = 1 << 4 | LIST  # in place of the end: the next field
    _put_list_head(made, STRUCT, count)
    made += groups
    tail = bytearray()
    put_struct(tail, [(number - GROUPS, kind, value) for number, kind, value in rest])
    return bytes(made + tail)


def _alike(one: Struct, other: Struct) -> bool:
    return all(_of(one, field) == _of(other, field) for field in (VERSION, SCHEMA))


def _of(fields: Struct, number: int) -> Any:
    for found, _, value in fields:
        if found == number:
            return value
    raise ValueError(f"a Parquet file whose footer has no field {number}")


def _moved_group(group: Struct, by: int) -> Struct:
    """Return a row group at another place, without its number in the file, which it need not have."""
    made: Struct = []
    for number, kind, value in _moved(group, (GROUP_PLACE,), by):
        if number == COLUMNS:
            made.append((number, kind, (value[0], [_moved_column(column, by) for column in value[1]])))
        elif number != ORDINAL:
            made.append((number, kind, value))
    return made


def _moved_column(column: Struct, by: int) -> Struct:
    fields = _moved(column, COLUMN_PLACES, by)
    return [(n, kind, _moved(value, DATA_PLACES, by) if n == META else value) for n, kind, value in fields]


def _moved(fields: Struct, places: tuple[int, ...], by: int) -> Struct:
    """Return fields with their places moved; 0 is none."""
    return [(n, kind, value + by if n in places and value > 0 else value) for n, kind, value in fields]


def _copy(source: BinaryIO, begin: int, end: int, into: BinaryIO) -> None:
    source.seek(begin)
    while begin < end:
        data = source.read(min(end - begin, AT_ONCE))
        if not data:
            raise ValueError("a file that became shorter while it was read")
        into.write(data)
        begin += len(data)
