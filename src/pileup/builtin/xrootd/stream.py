"""Packets of XRootD's detailed monitoring (`xrootd.monitor`) taken apart, and put together to operations.

By XRootD's System Monitoring Reference. All numbers are big-endian. A packet begins with its kind, a sequence number,
its length and the second of the server's start. Maps (`u`, `d`, …) give a number to a login or to a file of a login;
`t` has entries of 16 bytes for opens, reads, writes and closes between marks of time; `f` has opens, closes and
disconnects between the times at which the packet was begun and sent.
"""

from __future__ import annotations

import re
import struct
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

Value = TypeVar("Value")
SECOND = 10**9
EARLIEST = 10**9
"""Seconds since the epoch (2001): times before are none."""
MOST = 100_000
"""Most logins, files, and open files that are remembered of a server; further ones take the place of the oldest."""
MOST_SERVERS = 1000
HEADER = struct.Struct(">cBHi")
NUMBER = struct.Struct(">I")
ENTRY = struct.Struct(">8sii")
RECORD = struct.Struct(">BBHI")
TIMES = struct.Struct(">ii")
MOVED = struct.Struct(">qqq")
CALLS = struct.Struct(">iii")
IDENT = b"="
MAPS = b"udipxTU"
"""Kinds of packets that map a number to a text."""
NUMBERED = MAPS + b"tr"
"""Kinds that share a sequence; `f` has its own, or shares it too, by the version of the server."""
OPEN, READ_VECTOR, READ_PIECES, CLOSE, WINDOW = 0x80, 0x90, 0x91, 0xC0, 0xE0
CLOSED, OPENED, TIME = 0, 1, 2
NAMED, COUNTED = 1, 2
"""Flags of records: an open has the path, a close counts calls."""
LATE = 128
"""A sequence number that is ahead by so many came late."""
LOGIN = re.compile(r"^[^/]*/(.*)\.\d+:\d+@[^@]*$", re.DOTALL)
"""protocol/user.process:connection@host"""


class Malformed(ValueError):
    """A packet is not one of XRootD's monitoring."""


@dataclass(frozen=True, slots=True)
class Served:
    """What a server did. Times in ns since the epoch: it lies between them, they are whole seconds."""

    name: str
    """`file` from an open to a close; `open`, `read`, `readv`, `write`, `close`."""
    path: str
    user: str
    start: int
    end: int
    bytes: int = 0
    calls: int = 1


@dataclass(slots=True)
class Sequence:
    """Numbers of packets, 0 to 255 and again from 0. 128 and more that are lost at once are not noticed."""

    expected: int | None = None
    lost: int = 0
    strange: int = 0
    """Packets with another number than expected."""

    def take(self, number: int) -> None:
        """Count what is missing before a packet; one that comes late was not lost."""
        ahead = (number - self.expected) % 256 if self.expected is not None else 0
        self.strange += ahead > 0
        if ahead >= LATE:
            self.lost = max(0, self.lost - 1)
            return
        self.lost += ahead
        self.expected = (number + 1) % 256


@dataclass(frozen=True, slots=True)
class _Opened:
    """A file of the `f` stream that is open."""

    path: str
    user: str
    at: int


@dataclass(slots=True)
class _Server:
    """What is known of one server since its start."""

    users: OrderedDict[int, str] = field(default_factory=OrderedDict)
    files: OrderedDict[int, tuple[str, str]] = field(default_factory=OrderedDict)
    """Login and path."""
    opened: OrderedDict[int, _Opened] = field(default_factory=OrderedDict)
    most: Sequence = field(default_factory=Sequence)
    """All kinds but `f`."""
    fstat: Sequence = field(default_factory=Sequence)
    together: Sequence = field(default_factory=Sequence)

    @property
    def lost(self) -> int:
        """Packets that are missing: `f` has its own sequence in old versions. The wrong guess has far more gaps."""
        apart = self.together.strange > self.most.strange + self.fstat.strange
        return self.most.lost + self.fstat.lost if apart else self.together.lost

    def number(self, kind: bytes, number: int) -> None:
        """Take a sequence number."""
        if kind == IDENT:  # in old versions repeated with its first number
            for each in (self.most, self.together):
                if each.expected in (None, number):
                    each.take(number)
            return
        self.together.take(number)
        (self.fstat if kind == b"f" else self.most).take(number)


class Decoder:
    """Takes packets of any servers; returns what they did. Never raises, whatever comes."""

    def __init__(self) -> None:
        self._servers: OrderedDict[tuple[str, int], _Server] = OrderedDict()
        self._forgotten = 0
        self.packets = 0
        self.malformed = 0
        """Packets that are none, or whose rest cannot be read."""
        self.unpaired = 0
        """Closes of files whose open did not come."""
        self.widest = 0
        """The longest time between two marks, ns: what lies between them may have been at any of it."""

    @property
    def lost(self) -> int:
        """Packets that are missing, by their sequence numbers."""
        return self._forgotten + sum(server.lost for server in self._servers.values())

    def take(self, sender: str, packet: bytes) -> list[Served]:
        """Return what a packet completes; what is malformed is counted, what came before it in the packet holds."""
        self.packets += 1
        found: list[Served] = []
        try:
            for each in self._read(sender, packet):
                found.append(each)
        except Malformed:
            self.malformed += 1
        return found

    def _read(self, sender: str, packet: bytes) -> Iterator[Served]:
        if len(packet) < HEADER.size:
            raise Malformed("a packet without a header")
        kind, number, length, began = HEADER.unpack_from(packet)
        known = kind in (IDENT, b"f") or kind in NUMBERED
        if not known or length != len(packet) or began <= 0:
            raise Malformed("a packet of an unknown kind, or of another length than it says")
        server = self._server(sender, began)
        server.number(kind, number)
        body = packet[HEADER.size :]
        if kind == b"t":
            yield from self._trace(server, body)
        elif kind == b"f":
            yield from self._fstat(server, body)
        elif kind in MAPS:
            _map(server, kind, body)

    def _server(self, sender: str, began: int) -> _Server:
        server = self._servers.get((sender, began))
        if server is None:
            server = self._servers[sender, began] = _Server()
            if len(self._servers) > MOST_SERVERS:
                self._forgotten += self._servers.popitem(last=False)[1].lost
        return server

    def _trace(self, server: _Server, body: bytes) -> Iterator[Served]:
        """Yield the operations between each two marks."""
        if len(body) % ENTRY.size:
            raise Malformed("a part of an entry")
        begin: int | None = None
        between: list[tuple[str, int, int]] = []
        for first, second, third in ENTRY.iter_unpack(body):
            if first[0] == WINDOW:
                if begin is not None:
                    yield from self._within(server, between, begin, second)
                begin, between = third, []
            elif (operation := _operation(first, second)) is not None:
                between.append((*operation, third & 0xFFFFFFFF))
        if between:
            raise Malformed("entries without a mark of time behind them")

    def _within(self, server: _Server, entries: list[tuple[str, int, int]], begin: int, end: int) -> Iterator[Served]:
        if begin < EARLIEST:
            raise Malformed("a mark without a time")
        start, last = begin * SECOND, max(end, begin + 1) * SECOND
        if entries:
            self.widest = max(self.widest, last - start)
        for name, moved, number in entries:
            user, path = server.files.get(number, ("", ""))
            yield Served(name, path, user, start, last, moved)

    def _fstat(self, server: _Server, body: bytes) -> Iterator[Served]:
        """Yield each file that was closed: from the begin of the packet that has its open on."""
        at, begin, end = 0, 0, 0
        while at < len(body):
            if len(body) - at < RECORD.size:
                raise Malformed("a part of a record")
            kind, flags, size, number = RECORD.unpack_from(body, at)
            if size < RECORD.size or at + size > len(body):
                raise Malformed("a record that is longer than its packet")
            record = body[at + RECORD.size : at + size]
            at += size
            if kind == TIME:
                begin, end = _unpacked(TIMES, record)
            elif begin < EARLIEST:
                raise Malformed("records without a time before them")
            elif kind == OPENED:
                _open(server, number, record, named=bool(flags & NAMED), at=begin)
            elif kind == CLOSED:
                yield from self._closed(server, number, record, counted=bool(flags & COUNTED), at=max(begin, end))

    def _closed(self, server: _Server, number: int, record: bytes, *, counted: bool, at: int) -> Iterator[Served]:
        moved = _unpacked(MOVED, record)
        calls = _unpacked(CALLS, record[MOVED.size :]) if counted else (0,)
        if min(moved) < 0 or min(calls) < 0 or sum(moved) >= 2**63:
            raise Malformed("a count below zero, or out of bounds")
        opened = server.opened.pop(number, None)
        if opened is None:
            self.unpaired += 1
            return
        start, end = opened.at * SECOND, max(at, opened.at) * SECOND + SECOND
        yield Served("file", opened.path, opened.user, start, end, sum(moved), min(sum(calls), 2**32 - 1))


def _operation(first: bytes, second: int) -> tuple[str, int] | None:
    """Return what an entry of the trace says was done, and how many bytes it moved; None for what is no operation."""
    kind = first[0]
    if kind < OPEN:
        return ("read", second) if second >= 0 else ("write", -second)
    if kind in (READ_VECTOR, READ_PIECES):
        return "readv", max(second, 0)
    return ("open", 0) if kind == OPEN else ("close", 0) if kind == CLOSE else None


def _map(server: _Server, kind: bytes, body: bytes) -> None:
    (number,) = _unpacked(NUMBER, body)
    login, _, rest = body[NUMBER.size :].decode("utf-8", "replace").rstrip("\0").partition("\n")
    found = LOGIN.match(login)
    user = found[1] if found else login
    if kind == b"u":
        _keep(server.users, number, user)
    elif kind == b"d":
        _keep(server.files, number, (user, rest))


def _open(server: _Server, number: int, record: bytes, *, named: bool, at: int) -> None:
    user, path = server.files.get(number, ("", ""))
    if named:
        (login,) = _unpacked(NUMBER, record[8:])
        path = record[8 + NUMBER.size :].partition(b"\0")[0].decode("utf-8", "replace")
        user = server.users.get(login, user)
    _keep(server.opened, number, _Opened(path, user, at))


def _keep(known: OrderedDict[int, Value], number: int, value: Value) -> None:
    known[number] = value
    if len(known) > MOST:
        known.popitem(last=False)


def _unpacked(form: struct.Struct, data: bytes) -> tuple[int, ...]:
    if len(data) < form.size:
        raise Malformed("a record that is too short")
    return form.unpack_from(data)
