"""Runs that were killed: recognised by a lock that nobody holds any more, cleaned up at the next start.

While a run goes on it holds the lock of its folder (`lock`), and the registry of its user lists it (`registry`). A
start looks only at that registry: the content of a folder proves nothing, since anybody can make one. What such a run
left is ended and removed by `undo` as far as pileup can do it by itself; nothing of its suite is executed. What was
made on the systems under test stays, since `pileup resume` may need it, until `pileup clean`.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from pileup.model.errors import PileupError, RecordError, UsageError
from pileup.model.journal import JournalEntry
from pileup.model.manifest import RunState
from pileup.model.plan import Plan
from pileup.model.record import NOT_RUN, UNAVAILABLE
from pileup.record import RunFolder
from pileup.run.recovery import lock, registry
from pileup.run.recovery.intents import open_intents
from pileup.run.recovery.lock import MARKER, Lock
from pileup.run.recovery.ownership import Trust
from pileup.run.recovery.reload import plugin_sums
from pileup.run.recovery.undo import UndoResult, check, mend
from pileup.run.recovery.undo_kinds import ON_TARGETS, UNDO_KINDS, UndoReach
from pileup.run.servers import scratch
from pileup.run.servers.processes import Identity

__all__ = ["MARKER", "HeldRun", "alive", "newest_owner", "put_right", "register", "seen_from_here", "sweep", "take"]
AGAIN = (None, NOT_RUN, UNAVAILABLE)
"""Outcomes of cases that another session may run."""


@dataclass(slots=True)
class HeldRun:
    """A run that this process holds."""

    folder: RunFolder
    lock: Lock
    owner: int | None = None
    """Number of the journal's entry that says so."""


def take(folder: RunFolder) -> HeldRun:
    """Take the lock of a run. Raises UsageError when its pileup is at work."""
    held = lock.take(folder.path)
    if held is None:
        owner = newest_owner(folder)
        who = f" (pid {owner.pid})" if owner and seen_from_here(owner) else ""
        told = f"{folder.path} is still running: its process is active{who}"
        raise UsageError(told, "a run that has ended or crashed", "Ctrl-C ends it in order")
    return HeldRun(folder, held)


def register(folder: RunFolder, plan: Plan, held: HeldRun | None = None) -> HeldRun:
    """Say who owns a run, before it does anything. Raises OSError or RecordError when the disk refuses."""
    held = held or take(folder)
    own = Identity.of(os.getpid()) or Identity(os.getpid(), 0)
    told = {"run": folder.origin, "host": socket.gethostname(), "user": os.geteuid()}
    held.owner = folder.journal("owner", "begun", **told, **asdict(own))
    try:
        registry.add(folder, plan.digest, plugin_sums(plan.suite, Path(plan.folder)))
    except (OSError, UsageError) as problem:  # of an account without a home: the run goes on without
        folder.event(
            "registry", f"the registry of runs cannot be written ({problem}): a crash is not cleaned up by itself"
        )
    return held


def unregister(held: HeldRun) -> None:
    """Say that the owner has ended. The next start looks at the folder again if something is left to be cleaned up."""
    folder = held.folder
    if held.owner is not None:
        with suppress(RecordError):  # of a full disk: the lock is free, which says the same
            folder.journal("owner", "ended", of=held.owner)
    _let_go(held)


def _let_go(held: HeldRun) -> None:
    """Release the lock, and remove the run from the registry when nothing is left to be done."""
    left = [intent.what for intent in open_intents(held.folder) if intent.what in UNDO_KINDS]
    with suppress(RecordError):  # the folder was removed, or the record is damaged: the entry stays
        if not left and not _to_be_resumed(held.folder) and registry.entry_of(held.folder) is not None:
            registry.remove(held.folder.nonce)
    held.lock.release(done=set(left) <= ON_TARGETS)


def _to_be_resumed(folder: RunFolder) -> bool:
    run = folder.manifest()
    return run.state is not RunState.ENDED or any(case.cut or case.outcome in AGAIN for case in run.cases)


def newest_owner(folder: RunFolder) -> JournalEntry | None:
    """Return the journal's entry of the newest owner that has not ended in order; None when all have."""
    owner = None
    for entry in folder.journal_entries():
        if entry.what == "owner":
            owner = entry if entry.state == "begun" and entry.given >= {"host", "pid"} else None
    return owner


def alive(folder: RunFolder) -> bool:
    """Whether the owner of a run still runs: it holds the lock. One of another host cannot be seen: it counts as alive.

    Where the file system has no locks the journal's word counts.
    """
    if lock.held(folder.path):
        return True
    owner = newest_owner(folder)
    if owner is None:
        return False
    return not seen_from_here(owner) or (not lock.works(folder.path) and _identity(owner).alive)


def _identity(owner: JournalEntry) -> Identity:
    return Identity(owner.pid, owner.ticks, owner.boot, owner.namespace)


def seen_from_here(owner: JournalEntry) -> bool:
    """Whether an owner is of this host."""
    return owner.host == socket.gethostname()


def sweep() -> list[str]:
    """Clean up what this user's killed runs have left, but for data and settings; return what was done, in words.

    Only runs in the registry are checked. An error with one run is reported in a line and does not affect the others.
    """
    try:
        known = [entry for entry in registry.entries() if (entry.path / MARKER).is_file()]
    except UsageError as problem:
        return [f"leftovers of crashed runs were not cleaned up: {problem}"]
    return [line for entry in known for line in _swept(entry)]


def _swept(entry: registry.Entry) -> list[str]:
    name = entry.path.name
    try:
        folder = RunFolder.open(entry.path)
        if folder.nonce != entry.nonce or alive(folder):
            return []
        done = [f"left by {name}: {each}" for each in put_right(folder, Trust.of(folder), UndoReach.OWN)]
        remove_temporary(folder)
        return done
    except PileupError as problem:
        return [f"left by {name}: it cannot be cleaned up: {problem}"]
    except Exception as problem:  # a record that is damaged in unexpected ways
        return [
            f"left by {name}: it cannot be cleaned up ({type(problem).__name__}: {problem}); `pileup verify` says more"
        ]


def remove_temporary(folder: RunFolder) -> None:
    """Remove a run folder that is in a folder for temporary files of its own, unless something is left to be done."""
    if scratch.is_of(folder.path, folder.nonce) and registry.entry_of(folder) is None:
        scratch.remove(folder.path.parent, folder.nonce)


def put_right(
    folder: RunFolder,
    trust: Trust,
    reach: UndoReach,
    given: Mapping[str, str] | None = None,
    *,
    tell: Callable[[str], None] = lambda line: None,
    held: HeldRun | None = None,
) -> list[UndoResult]:
    """Clean up after a run whose owner is gone, and note it in its journal; return the result of each action.

    Nothing is done while another pileup does it. `tell` is called with what will be executed from the suite, before it
    is. With `held` the lock stays taken. Raises UsageError when something is open and the folder may not be acted upon.
    """
    check(folder, trust, reach)
    own = held
    if own is None:
        try:
            own = take(folder)
        except UsageError:
            return []
    try:
        mended = mend(folder, trust, reach, given, tell)
        owner = newest_owner(folder)
        if owner is not None and held is None:
            own.owner = owner.number
    finally:
        if held is None:
            unregister(own)
    return mended
