"""What the tests of a case printed, and tracebacks: apart, one block per iteration, never interleaved, bounded."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from pileup.model.record import Claimed
from pileup.model.units import format_size
from pileup.record import files
from pileup.record.artefacts import Artefacts

STREAMS = ("stdout", "stderr", "tracebacks")
LARGEST_BLOCK = 1 << 20
"""Bytes kept of one iteration and stream."""
LARGEST_CASE = 64 << 20
"""Bytes kept of one case and stream."""
MOST_NOTED = 20
"""Different texts that are noted of a case."""
TITLE = re.compile(r"^-+ .*$")
"""What a title line looks like: `--- iteration 17, client 3 ---`."""


class Output:
    """Collects the output of one case. Files are made when something comes."""

    def __init__(
        self,
        folder: Path,
        tell: Callable[[str], None] = lambda text: None,
        claim: Callable[[Sequence[Claimed]], None] = lambda claims: None,
    ) -> None:
        """`tell` gets each text that is noted, once; `claim` brings submissions into the record."""
        self.folder = folder
        self.claim = claim
        self._tell = tell
        self._noted: set[str] = set()
        self._lock = threading.Lock()
        self._kept: dict[str, int] = {}
        self._full: set[str] = set()
        self._artefacts = Artefacts(folder)

    def keep(self, place: int, name: str, piece: bytes, first: bool) -> None:
        """Append to a file that a test has left at a place; `first` begins it."""
        with self._lock, suppress(OSError):  # a full disk is noticed where it ends the run
            self._artefacts.keep(place, name, piece, first)

    def append(self, stream: str, title: str, text: str) -> None:
        """Append one block to `stream` (one of STREAMS), cut when it is large; says what was cut."""
        block = f"--- {title} ---\n".encode(errors="backslashreplace") + _bounded(text)
        path = stream_path(self.folder, stream)
        with self._lock:
            if stream in self._full:
                return
            if stream not in self._kept:
                self.folder.mkdir(parents=True, exist_ok=True)
                self._kept[stream] = path.stat().st_size if path.exists() else 0
            if self._kept[stream] + len(block) > LARGEST_CASE:
                self._full.add(stream)
                block = f"--- cut here: {format_size(LARGEST_CASE)} of {stream} are kept of a case ---\n".encode()
            try:
                with os.fdopen(files.append_to(path), "ab") as file:
                    file.write(block)
            except OSError:
                self._full.add(stream)  # a full disk ends the keeping of output, not the iteration that printed
                return
            self._kept[stream] += len(block)

    def note(self, text: str) -> None:
        """Note what went wrong beside the iterations, once for each text."""
        with self._lock:
            if text in self._noted or len(self._noted) >= MOST_NOTED:
                return
            self._noted.add(text)
        self._tell(text)


def stream_path(folder: Path, stream: str) -> Path:
    """Return the file of a stream in the output folder of a case."""
    return folder / f"{stream}.txt"


def folder_name(case_name: str) -> str:
    """Return a name for a case's folder: its own where that is safe, else one made safe and unique."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "_", case_name)[:80].lstrip(".")
    if safe == case_name and safe:
        return safe
    return f"{safe}-{blake2b(case_name.encode(errors='replace'), digest_size=4).hexdigest()}"


def _bounded(text: str) -> bytes:
    data = text.encode(errors="backslashreplace")
    cut = len(data) - LARGEST_BLOCK
    if cut > 0:
        kept = data[:LARGEST_BLOCK].decode(errors="ignore").encode()
        data = kept + f"\n[{format_size(len(data) - len(kept))} more cut]".encode()
    return data if data.endswith(b"\n") or not data else data + b"\n"


def read_bounded(path: Path, limit: int) -> str:
    """Return the text of a file, its middle cut out when it has more than `limit` bytes."""
    with os.fdopen(files.opened(path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size <= limit:
            return file.read().decode(errors="replace")
        head = file.read(limit // 2)
        file.seek(size - limit // 2)
        tail = file.read()
    note = f"\n[{format_size(size - limit)} left out here: see {path.name} in the run folder]\n"
    return head.decode(errors="replace") + note + tail.decode(errors="replace")
