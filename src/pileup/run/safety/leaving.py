"""Cleans up a folder that a run worked in: what is removed, what stays, and why."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress

from pileup.model.errors import PileupError, TargetError, VerdictException
from pileup.plugin import FileTarget, NoListing, NotThere
from pileup.plugin.catalogue import CatalogueTarget
from pileup.run.safety.marker import MARKER, told_by
from pileup.run.safety.set_contents import is_missing, read_small

REMOVED, KEPT, LEFT, STAYS = "removed", "kept", "left", "stays"
"""States of the journal: `pileup clean` can remove more of what is left; only a person can remove what stays."""
MOST_LEFT = 1_000_000
"""Entries that are removed with the run's own folder."""
DEEPEST = 64
OWN_NAME = re.compile(r"pileup-\d{8}T\d{6}Z-[0-9a-f]{8}$")
"""What the names of a run begin with in a catalogue, behind what the suite puts before it."""
MOST_LOOKED = 100
"""Folders that are looked into for the markers of other runs."""


def end_ground(
    target: FileTarget, place: str, marker: bytes, levels: Sequence[str], *, own: bool, kept: bool
) -> tuple[str, str]:
    """Leave a folder: the run's own is removed as a whole, of another what was made for the run and is empty.

    `kept`: something in the run's own folder stays. Returns the state for the journal, and what went wrong or stays.
    """
    path = f"{place}/{MARKER}".lstrip("/")
    try:
        found = read_small(target, path)
        if own and found is not None and found != marker:
            return LEFT, "its marker is not this run's"
        if own and found == marker:
            target.end_uploads(place)
        if own and kept and found == marker and _holds_more(target, place):
            return KEPT, ""
        if own and found == marker:
            _remove_own(target, place, path)
        elif found == marker:
            target.delete(path)
        return _end_levels(target, levels, marker)
    except (PileupError, OSError) as problem:
        return LEFT, str(problem)


def end_names(target: CatalogueTarget, prefix: str, *, kept: bool) -> tuple[str, str]:
    """Remove the names of a run from a catalogue. Returns the state for the journal, and what went wrong."""
    if kept:
        return KEPT, ""
    if not OWN_NAME.search(prefix):
        return LEFT, f"{prefix!r} is not what the names of a run begin with"
    try:
        problem = target.purge(prefix)
    except (PileupError, OSError) as wrong:
        problem = str(wrong)
    return (LEFT, problem) if problem else (REMOVED, "")


def _holds_more(target: FileTarget, place: str) -> bool:
    """Whether the run's own folder holds what the suite keeps, beside its marker; empty folders in it are removed."""
    try:
        _prune(target, place)
        return any(each.name != MARKER for each in target.list(place))
    except NoListing:
        return True


def _remove_own(target: FileTarget, place: str, marker: str) -> None:
    """Remove everything in the run's own folder; by one request if the server lists no folders."""
    try:
        _empty(target, place, marker)
        target.delete(marker)
    except NoListing:
        target.remove_tree(place)


def _end_levels(target: FileTarget, levels: Sequence[str], marker: bytes) -> tuple[str, str]:
    """Remove the folders that were made for the run and are empty, the innermost first."""
    for level in reversed(levels):
        try:
            if is_missing(target, level):
                continue
            if _is_empty(target, level):
                target.delete(level)
                continue
        except NoListing:
            told = f"/{levels[0]} was made for it, but the server lists no folders: others may have files in it"
            return STAYS, f"{told}; remove it by hand"
        for folder, found in _markers(target, level):
            if found != marker:
                return LEFT, f"/{level} was made for it, and /{folder} is in use by {told_by(found)}"
    return REMOVED, ""


def _is_empty(target: FileTarget, folder: str) -> bool:
    """Whether a folder holds nothing, a marker neither: some servers list no name that begins with a dot (nginx)."""
    return not target.list(folder) and read_small(target, f"{folder}/{MARKER}") is None


def _markers(target: FileTarget, folder: str) -> Iterator[tuple[str, bytes]]:
    """Yield the folders in a folder, and itself, in which a run works, with their markers; the nearest first."""
    waiting = deque([folder])
    for _ in range(MOST_LOOKED):
        if not waiting:
            return
        place = waiting.popleft()
        with suppress(VerdictException):  # another user's, which we may not read
            found = read_small(target, f"{place}/{MARKER}")
            if found is not None:
                yield place, found
            waiting.extend(f"{place}/{each.name}" for each in target.list(place) if each.folder)


def _empty(target: FileTarget, folder: str, marker: str) -> None:
    """Remove all in the run's own folder but its marker, name by name: files first, then the folders that held them.

    The marker goes last: as long as something is left it says whose it is. Raises VerdictException, TargetError.
    """
    left = [MOST_LEFT]

    def clear(place: str, depth: int) -> None:
        for each in target.list(place):
            left[0] -= 1
            if left[0] < 0 or depth > DEEPEST:
                told = f"more than {MOST_LEFT} entries, or {DEEPEST} nested folders, are left in {folder}"
                raise TargetError(told, "what a run makes", "`pileup clean` goes on")
            path = f"{place}/{each.name}"
            if path == marker:
                continue
            if each.folder:
                clear(path, depth + 1)
            try:
                target.delete(path)
            except NotThere:
                continue

    clear(folder, 1)


def _prune(target: FileTarget, folder: str, depth: int = 1) -> bool:
    """Remove the folders in a folder that hold no file; return whether it is empty then. Raises VerdictException."""
    entries = target.list(folder) if depth <= DEEPEST else []
    left = len(entries)
    for each in entries:
        path = f"{folder}/{each.name}"
        if each.folder and _prune(target, path, depth + 1):
            target.delete(path)
            left -= 1
    return left == 0 and depth <= DEEPEST
