"""Engines read the events of a data set and fill histograms: what each of them does, and what it counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pileup.builtin.analysis.data_set import DataFile
from pileup.builtin.analysis.models import Model

if TYPE_CHECKING:
    from hist import Hist

    from pileup.builtin.analysis.ways import Way

Histograms = dict[str, "Hist[Any]"]


@dataclass(frozen=True, slots=True)
class Usage:
    """What reading has used. Sizes in bytes, times in s; None: the engine does not report it."""

    asked: int | None = 0
    """Of what the query needed, as it is stored (compressed)."""
    read: int = 0
    """Received from the file or the server: more, where gaps are read as well."""
    calls: int = 0
    """Reads: requests to a server; a vector read is one."""
    vectors: int = 0
    """Reads of several pieces at once, among the calls."""
    decompression: float | None = None
    cpu: float = 0.0

    def __sub__(self, before: Usage) -> Usage:
        """Return what was used since then."""
        return Usage(
            None if self.asked is None or before.asked is None else self.asked - before.asked,
            self.read - before.read,
            self.calls - before.calls,
            self.vectors - before.vectors,
            None if self.decompression is None else self.decompression - (before.decompression or 0.0),
            self.cpu - before.cpu,
        )


@dataclass(frozen=True, slots=True)
class Read:
    """One read of a file, as an engine has made it: one piece, or a vector of them."""

    start: int
    end: int
    """ns since the epoch."""
    bytes: int
    calls: int = 1
    """Requests that it took."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a query reads of each event, and what it does with it."""

    model: Model
    columns: tuple[str, ...]
    function: str = ""
    """`./file.py:function`, to be called with the events; empty: the histograms of the model are filled."""
    folder: Path = Path()
    """Folder that the file of the function is relative to."""
    timeout: float = 60.0
    """Seconds that a process of its own has for an answer."""
    traced: bool = False
    """Whether each read is kept, for `reads`."""


class Reader(ABC):
    """A file that is open."""

    @abstractmethod
    def fill(self, begin: int, end: int, into: Histograms) -> int:
        """Add events from `begin` to `end` to histograms; return how many they are."""


class Engine(ABC):
    """Reads files, one at a time, for one client."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted

    @abstractmethod
    def close(self) -> None:
        """Release what it holds."""

    @property
    @abstractmethod
    def usage(self) -> Usage:
        """What was used so far."""

    @abstractmethod
    def reads(self) -> list[Read]:
        """Return the reads since the last call, in time; none unless they are traced."""

    @abstractmethod
    def opened(self, way: Way, file: DataFile, ntuple: bool) -> AbstractContextManager[Reader]:
        """Open a file. Raises Failed when it cannot be read as the data set describes it."""

    @staticmethod
    @abstractmethod
    def edges(file: DataFile, events: int) -> list[int]:
        """Return where what is best read at once may begin, and the end: as far as `events`."""

    def packets(self, file: DataFile, events: int) -> Iterator[tuple[int, int]]:
        """Return begin and end of what is read at once, as far as `events`; nothing where no column is wanted."""
        return pairwise(self.edges(file, events) if self.wanted.columns else ())
