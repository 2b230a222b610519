"""The registry of this user: which runs were started here, so that other people's run folders are not trusted.

One file for each run in `$XDG_STATE_HOME/pileup`, which nobody else can write to. It exists from the start of a run
until nothing is left to clean up or to resume.
"""

from __future__ import annotations

import json
import os
import re
import socket
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from pileup._core._native import now
from pileup.model.errors import UsageError
from pileup.model.surroundings import surroundings
from pileup.record import RunFolder, files
from pileup.run.servers.processes import Identity

NAME = "pileup"
NONCE = re.compile(r"[0-9a-f]{32}")
ENTRY = re.compile(r"[0-9a-f]{32}\.json")
LARGEST = 1 << 20
"""Bytes of an entry."""
HINT = "set XDG_STATE_HOME to a folder of yours"


@dataclass(frozen=True, slots=True)
class Entry:
    """One run that this user has begun."""

    folder: str
    device: int
    inode: int
    nonce: str
    digest: str
    """SHA-256 of the suite and the values given to it."""
    plugins: dict[str, str]
    """File of a plug-in that the suite names -> SHA-256."""
    host: str
    user: int
    boot: str
    namespace: int
    pid: int
    ticks: int
    time: int

    @property
    def path(self) -> Path:
        """The run folder."""
        return Path(self.folder)

    @property
    def here(self) -> bool:
        """Whether it was begun on this host."""
        return self.host == socket.gethostname()

    def is_of(self, folder: Path) -> bool:
        """Whether a folder is the very one: the same on the disk, and ours. Its name may have changed."""
        with suppress(OSError):
            found = folder.lstat()
            same = (found.st_dev, found.st_ino) == (self.device, self.inode)
            return same and stat.S_ISDIR(found.st_mode) and found.st_uid == self.user
        return False


def add(run: RunFolder, digest: str, plugins: Mapping[str, str]) -> None:
    """Enter a run. Raises UsageError when the registry is not ours, OSError when it cannot be written."""
    found = run.path.lstat()
    own = Identity.of(os.getpid()) or Identity(os.getpid(), 0)
    entry = Entry(
        folder=str(run.path),
        device=found.st_dev,
        inode=found.st_ino,
        nonce=run.nonce,
        digest=digest,
        plugins=dict(plugins),
        host=socket.gethostname(),
        user=os.geteuid(),
        time=now(),
        **asdict(own),
    )
    with _opened(make=True) as folder:
        part = f".{entry.nonce}.part"
        files.put(folder, part, json.dumps(asdict(entry)).encode(), 0o600)
        os.rename(part, f"{entry.nonce}.json", src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)


def remove(nonce: str) -> None:
    """Remove a run; nothing happens if it is not in the registry."""
    with suppress(OSError, UsageError), _opened() as folder:
        os.unlink(f"{nonce}.json", dir_fd=folder)


def entry_of(run: RunFolder) -> Entry | None:
    """Return the entry of a run folder; None when it is not one that this user has begun, or is a copy of one."""
    nonce = run.nonce
    if not NONCE.fullmatch(nonce):
        return None
    with suppress(OSError, UsageError), _opened() as folder:
        entry = _read(f"{nonce}.json", folder)
        return entry if entry is not None and entry.nonce == nonce and entry.is_of(run.path) else None
    return None


def entries() -> Iterator[Entry]:
    """Yield the runs that were begun on this host, in the order of time; those whose folder was removed are struck.

    Raises UsageError when the registry is not ours.
    """
    found = []
    with suppress(OSError), _opened() as folder:
        for name in os.listdir(folder):  # noqa: PTH208  a descriptor
            if ENTRY.fullmatch(name) and (entry := _read(name, folder)) is not None and entry.here:
                found.append(entry)
    for entry in sorted(found, key=lambda each: each.time):
        if entry.is_of(entry.path):
            yield entry
        elif entry.path.parent.is_dir() and not os.path.lexists(entry.path):
            remove(entry.nonce)


@contextmanager
def _opened(make: bool = False) -> Iterator[int]:
    """Give the descriptor of the registry. Raises UsageError when it is not ours alone, OSError without one."""
    base = surroundings().state()
    path = base / NAME
    if make:
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if found.st_uid != os.geteuid():
            raise UsageError(
                f"{path} belongs to user {found.st_uid}, you are {os.geteuid()}", "your own registry", HINT
            )
        if found.st_mode & 0o022:
            raise UsageError(f"others can write to {path}, the registry of your runs", "mode 0700", f"chmod 700 {path}")
        yield descriptor
    finally:
        os.close(descriptor)


def _read(name: str, folder: int) -> Entry | None:
    """Return an entry; None when the file is none."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        with os.fdopen(descriptor, "rb") as file:
            plain = json.loads(file.read(LARGEST))
        return _entry(plain)
    except (OSError, ValueError, RecursionError):
        return None


def _entry(plain: Any) -> Entry | None:
    kinds = {"str": str, "int": int, "dict[str, str]": dict}
    names = {each.name: kinds[str(each.type)] for each in fields(Entry)}
    if not isinstance(plain, dict) or not all(type(plain.get(name)) is kind for name, kind in names.items()):
        return None
    return Entry(**{name: plain[name] for name in names})
