"""Targets with files on tape: what tests of tape and staging ask of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator, Sequence
from enum import StrEnum
from typing import ClassVar, NamedTuple

from pileup.model.errors import Failed
from pileup.plugin.target import Target


class Stage(StrEnum):
    """How far a request for a file has come."""

    ASKED = "asked"
    """Its stager has it."""
    HANDED = "handed over"
    """The tape library has it: it waits for a drive, a cartridge, or the beginning of the file."""
    BEGUN = "begun"
    """Its transfer has begun."""
    REQUEUED = "requeued"
    """Its drive went down; it waits in the library again."""
    SHARED = "shared"
    """The cache does not have it, but somebody's request for it is under way: this one waits for that."""
    FOUND = "found"
    """The cache has it; a copy begins."""
    CACHED = "cached"
    """It has come from tape to the cache; a copy begins."""
    DELIVERED = "delivered"
    """The file is there."""
    RELEASED = "released"
    """The system does not know the request any more; only of systems that are asked by requests."""


class Step(NamedTuple):
    """A request has come to a stage, at a time, ns since the epoch; with which drive, "" where none is known."""

    stage: Stage
    time: int
    drive: str = ""
    request: str = ""
    """Its id when it was ASKED, of systems that are asked by requests."""


class TapeTarget(Target):
    """A tape library behind the stagers of worker nodes."""

    _framework: ClassVar[bool] = True
    provides: ClassVar[frozenset[str]] = frozenset({"any", "tape"})

    @property
    @abstractmethod
    def nodes(self) -> int:
        """Worker nodes, each with a stager of its own."""

    @abstractmethod
    def recall(self, node: int, path: str, size: int) -> AsyncIterator[Step]:
        """Ask the stager of a node, from 0, for a file of so many bytes; yield what becomes of it until it is there.

        The first step is ASKED, the last one DELIVERED or RELEASED. Closing the iterator earlier takes the request
        back. Raises Failed when the file cannot be read, or when the library does not know the request any more.
        """


class FileState(StrEnum):
    """What a tape system says of a file of a stage request, in the words of the WLCG Tape REST API."""

    SUBMITTED = "SUBMITTED"
    STARTED = "STARTED"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"

    @property
    def final(self) -> bool:
        """Whether nothing comes after it."""
        return self not in {FileState.SUBMITTED, FileState.STARTED}


class Times(NamedTuple):
    """When what has happened to a file, ns since the epoch; 0: not yet, or nobody says."""

    handed: int = 0
    """Its stager has handed it to the library."""
    begun: int = 0
    """Its transfer has begun."""
    ended: int = 0
    """It was delivered."""
    drive: str = ""


class StagedFile(NamedTuple):
    """A file of a stage request."""

    path: str
    state: FileState
    error: str = ""
    """Why it has failed."""
    times: Times | None = None
    """Where the system says them, to the nanosecond."""


class StagingTarget(Target):
    """A tape system that is asked for many files at once, and then how far they are.

    Methods raise Refused where the system refuses, Failed for what it got wrong, Ambiguous where no answer came.
    """

    _framework: ClassVar[bool] = True
    provides: ClassVar[frozenset[str]] = frozenset({"any", "staging"})

    @abstractmethod
    def stage(self, paths: Sequence[str], lifetime: int = 0, node: int = 0) -> str:
        """Ask for files; return the id of the request.

        They should stay on disk for so many ns, 0: until they are released; `node` is the worker node that wants them,
        where the system knows nodes.
        """

    @abstractmethod
    def staged(self, request: str) -> list[StagedFile]:
        """Return how far the files of a request are: those that the system knows of.

        Raises NotThere when it does not know the request.
        """

    @abstractmethod
    def cancel(self, request: str, paths: Sequence[str]) -> None:
        """These files of a request need not come any more; one that has come to its end stays as it is."""

    @property
    def opens(self) -> bool:
        """Whether files can be opened and closed."""
        return False

    @property
    def closes(self) -> bool:
        """Whether closing is an operation of its own; else `open_files` closes what it opens."""
        return True

    def open_files(self, request: str, paths: Sequence[str]) -> None:
        """Open files of a request that have come."""
        raise Failed(f"{self.kind} cannot open {len(paths)} of the files of {request}")

    def close_files(self, request: str, paths: Sequence[str]) -> None:
        """Close files of a request that are open."""
        raise Failed(f"{self.kind} cannot close {len(paths)} of the files of {request}")

    @abstractmethod
    def release(self, request: str, paths: Sequence[str]) -> None:
        """These files of a request need not stay on disk any more."""

    @abstractmethod
    def forget(self, request: str) -> None:
        """Cancel and release all of a request; the system does not know it afterwards."""

    @abstractmethod
    def locality(self, paths: Sequence[str]) -> dict[str, str]:
        """Return path -> where the file is, as the system calls it, or what it says against the path."""
