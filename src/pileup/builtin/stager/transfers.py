"""The log of the copy commands: when each began to bring a file, and how that ended."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple, cast

from pileup.plugin.logs import Log, by_line

FIELDS = 7


class Transfer(NamedTuple):
    """What a copy command has noted; times in ns."""

    time: int
    node: str
    event: Literal["started", "done", "failed"]
    path: str
    queue_wait: int
    """What the library said, from the hand-over until its transfer began; of `done`."""
    transfer: int
    """The same, until its end."""
    problem: str
    """Why it failed."""


def transfer_of(line: str) -> Transfer | None:
    """Return what a line says; None for one that is damaged."""
    fields = line.split(",", FIELDS - 1)
    if len(fields) < FIELDS or fields[2] not in {"started", "done", "failed"}:
        return None
    time, node, event, path, queue_wait, transfer, problem = fields
    if not all(each.isdigit() for each in (time, queue_wait or "0", transfer or "0")):
        return None
    known = cast(Literal["started", "done", "failed"], event)
    return Transfer(int(time), node, known, path, int(queue_wait or 0), int(transfer or 0), problem)


def transfer_log(path: Path, *, back: int = 0) -> Log[Transfer]:
    """Follow the log of all nodes from now on, or from so many bytes before."""
    return Log(path, by_line(transfer_of), back=back, what="the log of the copy commands")


class LibraryEvent(NamedTuple):
    """A line of the events of the library."""

    time: int
    event: str
    path: str
    drive: str
    cartridge: str


def event_of(line: str) -> LibraryEvent | None:
    """Return what a line says; None for the head, and for one that is damaged."""
    fields = line.split(",")
    if len(fields) < 9 or not fields[0].isdigit():
        return None
    return LibraryEvent(int(fields[0]), fields[2], fields[4], fields[6] and f"d{fields[6]}", fields[7])


def event_log(path: Path, *, back: int = 0) -> Log[LibraryEvent]:
    """Follow the events of the library from now on, or from so many bytes before."""
    return Log(path, by_line(event_of), back=back, what="the events of the library")
