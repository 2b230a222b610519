"""The engine `uproot`: reads in this process, by fsspec, from a disk, over root:// or https://."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib import import_module
from textwrap import shorten
from typing import Any

from pileup.builtin.analysis.data_set import TREE, DataFile
from pileup.builtin.analysis.engines import Engine, Histograms, Read, Reader, Usage, Wanted
from pileup.builtin.analysis.functions import add, load_function, returned
from pileup.builtin.analysis.histograms import fill
from pileup.builtin.analysis.ways import Way
from pileup.plugin import Failed, Refused, VerdictException

NUMBERS = itertools.count()
"""Of clients."""
MOST_TOLD = 300
"""Characters of the message of a library."""
DENIED = (401, 403)
"""What a server of HTTP says that does not know who asks, or does not let them."""
VECTORED = frozenset({"root", "roots"})
"""Protocols of fsspec that read several pieces in one request."""


class Counts:
    """What was read through file systems of fsspec, by one client; each read too, if they are `traced`."""

    def __init__(self, traced: bool = False) -> None:
        self.asked = self.read = self.calls = self.vectors = 0
        self.reads: list[Read] = []
        self._traced = traced

    @contextmanager
    def counted(self, starts: Sequence[int], ends: Sequence[int], vector: bool = False) -> Iterator[None]:
        """Count a read of pieces, which the block does."""
        size, calls = sum(ends) - sum(starts), 1 if vector else len(starts)
        self.read += size
        self.calls += calls
        self.vectors += vector
        begun = time.time_ns()
        yield
        if self._traced:
            self.reads.append(Read(begun, time.time_ns(), size, calls))


class CountedFiles:
    """A file system of fsspec as uproot uses it: each read is counted. What is not listed here is not changed."""

    def __init__(self, files: Any, counts: Counts) -> None:
        self._files, self._counts = files, counts
        kinds = files.protocol if isinstance(files.protocol, tuple) else (files.protocol,)
        self.vectored = not VECTORED.isdisjoint(kinds)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)

    def cat_file(self, path: str, start: int, end: int) -> Any:
        """Read one piece."""
        with self._counts.counted([start], [end]):
            return self._files.cat_file(path, start=start, end=end)

    def cat_ranges(self, paths: list[str], starts: list[int], ends: list[int]) -> Any:
        """Read pieces."""
        with self._counts.counted(starts, ends):
            return self._files.cat_ranges(paths, starts, ends)

    async def _cat_ranges(self, paths: list[str], starts: list[int], ends: list[int]) -> Any:
        with self._counts.counted(starts, ends, self.vectored):
            return await self._files._cat_ranges(paths, starts, ends)


class UprootEngine(Engine):
    """Fills histograms with arrays of awkward."""

    def __init__(self, wanted: Wanted) -> None:
        super().__init__(wanted)
        self._counts = Counts(wanted.traced)
        self._function = load_function(wanted.function, wanted.folder) if wanted.function else None
        self._source = _counting(self._counts)
        self._current: Any = None
        self._number = next(NUMBERS)

    def close(self) -> None:
        """Do nothing: files are closed by then."""

    @property
    def usage(self) -> Usage:
        """What was used so far: CPU time of the whole process."""
        it, open_now = self._counts, self._current
        asked = it.asked + (open_now.num_requested_bytes if open_now is not None else 0)
        return Usage(asked, it.read, it.calls, it.vectors, None, time.process_time())

    def reads(self) -> list[Read]:
        """Return the reads since the last call."""
        found = self._counts.reads[:]
        del self._counts.reads[: len(found)]
        return found

    @contextmanager
    def opened(self, way: Way, file: DataFile, ntuple: bool) -> Iterator[Reader]:
        """Open a file. Raises Failed when it has no events, or another number of them."""
        import uproot  # noqa: PLC0415  `pileup list` loads every plug-in

        shown = way.name_of(file.name)
        options = {"object_cache": None, "array_cache": None, "handler": self._source, **way.for_fsspec()}
        if way.scheme in VECTORED:
            options["pileup_client"] = self._number  # a file system of its own, whose files no other client uses
            _know_roots()
        with ExitStack() as stack:
            with _reading(shown, way.token.get()):
                found = stack.enter_context(uproot.open(way.url_of(file.name), **options))
                source = found.file.source
                stack.callback(lambda: self._note(source))
                if TREE not in found:
                    raise Failed(f"{shown} has no {TREE!r}", f"a tree of {file.events} events", "generate it again")
                events = found[TREE]
                entries = events.num_entries
            if entries != file.events:
                told = f"{shown} has {entries} events"
                raise Failed(told, f"{file.events}, as the data set says", "generate it again")
            self._current = source
            yield _Arrays(events, self, shown)

    def _note(self, source: Any) -> None:
        """Keep what was asked of a file that is closed; that of XRootD would be open for the next query."""
        self._counts.asked += source.num_requested_bytes
        if source.files.vectored:
            source.files.invalidate_cache()
        self._current = None

    @staticmethod
    def edges(file: DataFile, events: int) -> list[int]:
        """Return the edges of clusters, the last one as far as `events`: what is stored together is read together."""
        return [*(edge for edge in file.clusters if edge < events), min(events, file.events)]

    def take(self, arrays: Any, into: Histograms) -> None:
        """Fill histograms with events, a record of arrays."""
        import awkward  # noqa: PLC0415

        wanted = self.wanted
        if self._function is not None:
            add(into, returned(self._function(arrays), wanted.function), wanted.function)
        else:
            fill(wanted.model, into, wanted.columns, lambda column: awkward.to_numpy(awkward.ravel(arrays[column])))


class _Arrays(Reader):
    """A tree that is open."""

    def __init__(self, events: Any, engine: UprootEngine, shown: str) -> None:
        self._events, self._engine, self._shown = events, engine, shown
        self._columns = frozenset(engine.wanted.columns)

    def fill(self, begin: int, end: int, into: Histograms) -> int:
        """Read events and fill histograms with them."""
        # a cache would answer the next query out of memory; patterns of names take seconds where there are thousands
        with _reading(self._shown):
            arrays = self._events.arrays(
                filter_name=lambda name: name in self._columns, entry_start=begin, entry_stop=end, array_cache=None
            )
        self._engine.take(arrays, into)
        return len(arrays)


def _counting(counts: Counts) -> Any:
    """Return a source of uproot that counts what it reads."""
    from uproot.source.fsspec import FSSpecSource  # noqa: PLC0415

    class CountedSource(FSSpecSource):  # type: ignore[misc]  # uproot has no types
        def _open(self) -> None:
            super()._open()
            self._fs: Any = CountedFiles(self._fs, counts)
            self.files = self._fs

    return CountedSource


@cache
def _know_roots() -> None:
    """Let fsspec know roots://, which fsspec-xrootd reads as root://."""
    fsspec: Any = import_module("fsspec")
    files: Any = import_module("fsspec_xrootd")
    client: Any = import_module("XRootD.client")

    class SecureFileSystem(files.XRootDFileSystem):  # type: ignore[misc]  # it has no types
        protocol = "roots"

        def __init__(self, hostid: str, **options: Any) -> None:
            super().__init__(hostid, **options)
            self._myclient = client.FileSystem(f"roots://{hostid}")

    fsspec.register_implementation("roots", SecureFileSystem)


@contextmanager
def _reading(shown: str, token: str = "") -> Iterator[None]:
    """Turn what libraries raise for a file into Failed, or Refused where a server says so. The token is not shown."""
    try:
        yield
    except (VerdictException, TimeoutError):
        raise
    except Exception as problem:
        text = shorten(str(problem), MOST_TOLD)
        told = f"{shown} cannot be read: {type(problem).__name__}: {text}"
        told = told.replace(token, "(the token)") if token else told
        if getattr(problem, "status", None) in DENIED:
            raise Refused(told, "access", "check the target's `credentials`") from problem
        raise Failed(told, "the file that the data set describes", "generate it again") from problem
