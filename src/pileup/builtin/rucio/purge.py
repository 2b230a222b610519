"""Removes what a run has made in Rucio, by the beginning of its names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pileup.builtin.rucio.rest import Entry
from pileup.builtin.rucio.session import Session
from pileup.plugin import Failed, NotThere, Refused
from pileup.plugin.units import counted

AT_ONCE = 500
"""Most files in one request."""


def purge(session: Session, prefix: str) -> str:
    """Remove replicas, files and collections whose names begin so; return in words what stays, and why.

    Rucio removes a file with its last replica, and a closed collection with its last file. Collections that have no
    files expire: Rucio's undertaker removes those. Raises VerdictException when the catalogue does not answer.
    """
    found = session.find(prefix)
    for name in _names(found, "CONTAINER", "DATASET"):
        try:
            session.close_collection(name)
        except Failed:  # it is closed already
            continue
    why = _remove_files(session, _names(found, "FILE"))
    left = session.find(prefix)
    for name in _names(left, "CONTAINER", "DATASET"):
        try:
            session.erase(name)
        except NotThere:
            continue
        except Refused as problem:
            why = why or problem.what
    files = _names(left, "FILE")
    return f"{counted(len(files), 'file')}, such as {files[0]}: {why or 'no replica is known'}" if files else why


def _remove_files(session: Session, names: Sequence[str]) -> str:
    """Delete the replicas of files; return why not, if that is so."""
    why = ""
    for some in _pages(names):
        for rse, files in _by_rse(session.replicas(some).entries).items():
            try:
                session.remove(rse, files)
            except (Refused, Failed) as problem:
                why = problem.what
    return why


def _by_rse(files: Sequence[Entry]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for file in files:
        for rse in file.places:
            found.setdefault(rse, []).append(file.name)
    return found


def _names(entries: Sequence[Entry], *kinds: str) -> list[str]:
    return [each.name for each in entries if each.kind in kinds]


def _pages(names: Sequence[str]) -> Iterator[Sequence[str]]:
    return (names[at : at + AT_ONCE] for at in range(0, len(names), AT_ONCE))
