"""The lock of a run: held by the process that writes into its folder, and freed by the kernel after a crash."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path

from pileup.model.errors import RecordError
from pileup.record import files

MARKER = ".running"
"""The file that is locked. It is there while a run goes on, or when something of it is left to be cleaned up."""
PATIENCE = 0.5
"""Seconds in which a lock that is taken is tried again: another process may just be checking it."""
NAP = 0.02
WITHOUT = frozenset({errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL})
"""What file systems say that have no locks."""


class Lock:
    """A lock that is held until `release`, or until this process ends."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    def release(self, done: bool) -> None:
        """Let go; `done`: nothing is left to be cleaned up, so that the file goes too."""
        if self._descriptor < 0:
            return
        if done:
            with suppress(OSError):  # while it is held: who opens the name later finds another file, or none
                self._path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = -1


def take(folder: Path) -> Lock | None:
    """Take the lock of a run folder; None when somebody holds it.

    On a file system without locks it counts as free: then only the journal says whose run it is. Raises RecordError.
    """
    path = folder / MARKER
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            descriptor = files.append_to(path, 0o600)  # no other user can hold it
        except OSError as problem:
            raise RecordError(f"{path} cannot be locked: {problem.strerror}", "a folder you may write to") from problem
        if _locked(descriptor, fcntl.LOCK_EX):
            if _still(path, descriptor):
                return Lock(path, descriptor)
        elif time.monotonic() > deadline:
            os.close(descriptor)
            return None
        os.close(descriptor)
        time.sleep(NAP)


def held(folder: Path) -> bool:
    """Whether the lock of a run folder is held, which means that its run is active."""
    try:
        descriptor = files.opened(folder / MARKER)
    except OSError:  # not there, or not ours to look at
        return False
    try:
        return not _locked(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def works(folder: Path) -> bool:
    """Whether the file system of a run folder has locks, so that a free one proves something."""
    try:
        descriptor = files.opened(folder / MARKER)
    except OSError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as problem:
        return problem.errno not in WITHOUT
    finally:
        os.close(descriptor)
    return True


def _locked(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except OSError as problem:
        return problem.errno in WITHOUT
    return True


def _still(path: Path, descriptor: int) -> bool:
    """Whether the file has its name still: who held it before may have removed it."""
    with suppress(FileNotFoundError):
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    return False
