"""Finds what a run has surely written and its folder lacks: missing files, removed or truncated lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from pileup.model.journal import EventEntry, JournalEntry
from pileup.model.manifest import Manifest
from pileup.record import origin, sums
from pileup.record.folder import RunFolder

JOURNAL, EVENTS = "journal.jsonl", "events/events.jsonl"
CONVERTED = ("operations", "served", "samples")
"""Folders of the record whose tables become Parquet."""


def missing(folder: RunFolder) -> Iterator[tuple[str, str]]:
    """Yield (path inside the folder, what is missing).

    A record without a nonce is of an early release, whose journal, events and checksums said less; a merged run has no
    journal, for it has left nothing anywhere; nor has a simulated one.
    """
    run = folder.manifest()
    if not (run.merged or run.simulated):
        yield from _of_journal(run, folder.journal_entries())
    yield from _of_events(run, folder.events())
    if run.nonce:
        known = sums.told(folder.path)
        paths = [path for name in CONVERTED for path in sorted((folder.path / name).glob("*.parquet"))]
        for name in (path.relative_to(folder.path).as_posix() for path in paths):
            if name not in known:
                yield name, f"{sums.NAME} has no checksum of it"


def _of_journal(run: Manifest, entries: Iterable[JournalEntry]) -> Iterator[tuple[str, str]]:
    numbers, owner, known = set(), "", origin.of_run(run.nonce)
    for entry in entries:
        if known and entry.run not in ("", known):
            yield JOURNAL, f"entry {entry.number} is of another run"
        numbers.add(entry.number)
        owner = entry.state if entry.what == "owner" else owner
    if not numbers:
        yield JOURNAL, "it is not there, or empty: every run writes one, and it alone says what is left to clean up"
        return
    yield from _gaps(JOURNAL, numbers)
    if run.nonce and run.has_ended and owner != "ended":
        yield JOURNAL, "it does not say that the run has ended: its last lines were cut off, or could not be written"


def _of_events(run: Manifest, entries: Iterable[EventEntry]) -> Iterator[tuple[str, str]]:
    ended = {case.id: case.name for case in run.cases if case.outcome is not None}
    numbers, told = set(), set()
    for entry in entries:
        numbers.add(entry.number)
        told |= {entry.case} if entry.kind == "case" else set()
    if ended and not numbers:
        yield EVENTS, "it is not there, or empty: cases have ended by run.json, and each has events"
        return
    yield from _gaps(EVENTS, numbers)
    if run.nonce and not run.merged:
        for name in (name for number, name in ended.items() if number not in told):
            yield EVENTS, f"no event is of case {name}, which has ended by run.json"


def _gaps(name: str, numbers: set[int]) -> Iterator[tuple[str, str]]:
    """Lines are numbered from 1: yield where some are missing."""
    known = sorted(numbers)
    for before, after in pairwise([0, *known]):
        if after > before + 1:
            lost = f"line {before + 1} is" if after == before + 2 else f"lines {before + 1} to {after - 1} are"
            yield name, f"{lost} missing, by the numbers in them: they were removed, or could not be written"
