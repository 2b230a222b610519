"""Columns of a ROOT file, read by uproot: from a disk, over root:// or https://."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from pileup.builtin.analysis.data_set import TREE, DataFile
from pileup.plugin import Failed, FileTarget

PLAIN = {"dav": "http", "davs": "https"}
"""Schemes of targets that uproot knows by another name."""
RELAYED = frozenset({"root", "http"})
"""Schemes by which it may be sent to another address; with TLS that would be another name."""


def url_of(target: FileTarget, folder: str, name: str) -> str:
    """Return where uproot finds a file: a path, or a url."""
    path = "/".join(filter(None, (folder, name)))
    parts = urlsplit(target.url)
    if parts.scheme in {"", "file"}:
        return f"{target.root}/{path}"  # type: ignore[attr-defined]
    scheme = PLAIN.get(parts.scheme, parts.scheme)
    netloc = "{}:{}".format(*target.reach()) if target.via and scheme in RELAYED else parts.netloc
    return parts._replace(scheme=scheme, netloc=netloc, path=f"{parts.path.rstrip('/')}/{path}").geturl()


def lack_of(target: FileTarget) -> str:
    """Return what of a target uproot does not use; empty if nothing."""
    lacks = []
    if given := sorted(target.credentials.model_dump(exclude_none=True)):
        lacks.append(f"uproot reads without the credentials of the target ({', '.join(given)})")
    scheme = urlsplit(target.url).scheme
    if target.via and PLAIN.get(scheme, scheme) not in RELAYED:
        lacks.append(f"uproot reads {scheme}:// past the path of the target")
    return "; ".join(lacks)


class Opened:
    """A file that is open, and what has been asked of it."""

    def __init__(self, file: Any, events: Any) -> None:
        self._source = file.file.source
        self._events = events
        self.entries: int = events.num_entries

    @property
    def asked(self) -> tuple[int, int]:
        """Bytes and requests so far."""
        return self._source.num_requested_bytes, self._source.num_requests

    def read(self, columns: Collection[str], begin: int, end: int) -> Any:
        """Return the events from `begin` to `end`, a record of awkward arrays."""
        wanted = frozenset(columns)
        # a cache would answer the next query out of memory; patterns of names take seconds where there are thousands
        return self._events.arrays(
            filter_name=lambda name: name in wanted, entry_start=begin, entry_stop=end, array_cache=None
        )


@contextmanager
def opened(url: str, file: DataFile) -> Iterator[Opened]:
    """Open a file. Raises Failed when it has no events, or another number of them."""
    import uproot  # noqa: PLC0415  `pileup list` loads every plug-in

    with uproot.open(url, object_cache=None, array_cache=None) as found:
        if TREE not in found:
            raise Failed(f"{url} has no {TREE!r}", f"a tree of {file.events} events", "generate it again")
        it = Opened(found, found[TREE])
        if it.entries != file.events:
            raise Failed(f"{url} has {it.entries} events", f"{file.events}, as the data set says", "generate it again")
        yield it


def packets(clusters: list[int], events: int) -> Iterator[tuple[int, int]]:
    """Yield begin and end of what is read at once: clusters, the last one as far as `events`."""
    for begin, end in itertools.pairwise(clusters):
        if begin < events:
            yield begin, min(end, events)
