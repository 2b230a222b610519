"""Targets with files on tape: what tests of tape and staging ask of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator
from enum import StrEnum
from typing import ClassVar, NamedTuple

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
    """The file is there. Nothing comes after it."""


class Step(NamedTuple):
    """A request has come to a stage, at a time, ns since the epoch; with which drive, "" where none is known."""

    stage: Stage
    time: int
    drive: str = ""


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

        The first step is ASKED. Closing the iterator earlier takes the request back. Raises Failed when the file
        cannot be read, or when the library does not know the request any more.
        """
