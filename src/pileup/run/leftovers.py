"""Runs that were killed: known by an owner that is gone, put right at the next start.

While a run goes on its folder holds a small file, so that a start finds what crashed with one look per run folder; the
journal tells who owned it. What a crash left is ended, restored and removed by `undo`; what was made on the systems
under test stays, since `pileup resume` may need it, until `pileup clean`.
"""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pileup.model.errors import PileupError, RecordError
from pileup.record import RunFolder
from pileup.run.intents import open_intents
from pileup.run.menders import MENDERS, ON_TARGETS
from pileup.run.processes import Identity
from pileup.run.undo import Mended, mend

MARKER = ".running"
"""A file in the folder of a run that goes on, or has crashed."""


def register(folder: RunFolder) -> None:
    """Say who owns a run, before it does anything. Raises OSError when the disk refuses."""
    own = Identity.of(os.getpid())
    born = own.born if own else 0.0
    folder.journal("owner", "begun", pid=os.getpid(), born=born, host=socket.gethostname())
    (folder.path / MARKER).touch()


def unregister(folder: RunFolder) -> None:
    """Say that the owner has ended. The next start looks at the folder again if something is left to be put right."""
    owner = newest_owner(folder)
    with suppress(RecordError):  # of a full disk: the owner will be gone, which says the same
        if owner is not None:
            folder.journal("owner", "ended", of=owner["number"])
    if not any(intent.what in MENDERS and intent.what not in ON_TARGETS for intent in open_intents(folder)):
        (folder.path / MARKER).unlink(missing_ok=True)


def newest_owner(folder: RunFolder) -> dict[str, Any] | None:
    """Return the journal's entry of the newest owner that has not ended in order; None when all have."""
    owner = None
    for entry in folder.journal_entries():
        if entry.get("what") == "owner":
            owner = entry if entry.get("state") == "begun" else None
    return owner


def alive(folder: RunFolder) -> bool:
    """Whether the owner of a run still runs. One of another host cannot be seen: it counts as alive."""
    owner = newest_owner(folder)
    if owner is None:
        return False
    return not seen_from_here(owner) or Identity(owner["pid"], owner["born"]).alive


def seen_from_here(owner: dict[str, Any]) -> bool:
    """Whether an owner is of this host."""
    return bool(owner["host"] == socket.gethostname())


def sweep(base: Path) -> list[str]:
    """Put right what killed runs in a folder of runs have left, but for data; return what was done, in words."""
    told = []
    for marker in sorted(base.glob(f"*/{MARKER}")):
        with suppress(PileupError, OSError):  # a folder that cannot be read now is looked at again at the next start
            folder = RunFolder.open(marker.parent)
            if not alive(folder):
                told += [f"left by {folder.path.name}: {each}" for each in put_right(folder, objects=False)]
    return told


def put_right(folder: RunFolder, objects: bool, given: Mapping[str, str] | None = None) -> list[Mended]:
    """Mend what a run whose owner is gone has left, and say so in its journal; return what became of each.

    Nothing is done when another pileup is at it.
    """
    with (folder.path / MARKER).open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return []
        mended = mend(folder, objects, given)
        unregister(folder)
    return mended
