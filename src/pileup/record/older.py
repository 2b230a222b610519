"""Fields that old records lack, derived from their sentences; only here."""

from __future__ import annotations

from dataclasses import replace

from pileup.model.cause import Cause
from pileup.model.ending import StoppedBy
from pileup.model.event import FAULT
from pileup.model.journal import EventEntry

SENTENCES = {
    "too many open files": Cause.OPEN_FILES,
    "open: Too many open files (os error 24)": Cause.OPEN_FILES,
    "no local port left for a new connection": Cause.LOCAL_PORTS,
}
"""Messages of failures for which the machine of pileup was to blame."""
JUDGED = ("failed", "refused", "ambiguous")
"""Outcomes of jobs for which systems give a reason."""


def cause(error: str, outcome: str) -> str:
    """Return SQL for the word of a cause, made of the SQL for message and outcome of a row."""
    cases = " ".join(f"WHEN '{text}' THEN '{found.word}'" for text, found in SENTENCES.items())
    cancelled = f"{outcome} IN {JUDGED} AND starts_with(lower({error}), '{Cause.CANCELLED.word}')"
    return f"CASE WHEN {cancelled} THEN '{Cause.CANCELLED.word}' ELSE CASE {error} {cases} ELSE '' END END"


CAUSE = cause("error", "outcome")
"""SQL for the word of a cause by the columns of Parquet."""


def completed(info: dict[str, object]) -> dict[str, object]:
    """Return run.json with what records of before 0.2 lack: who stopped the run (`stopped_by`)."""
    known = info.get("stopped_by")
    if "stopped" not in info or known in list(StoppedBy):
        return info
    return info | {"stopped_by": _stopped_by(info["stopped"])}


def _stopped_by(stopped: object) -> str | None:
    """Return who stopped a run by its sentence, `limit: 3 TiB moved`; None if nobody did."""
    if not stopped:
        return None
    word = str(stopped).partition(":")[0]
    return word if word in list(StoppedBy) else StoppedBy.INTERNAL


def event(entry: EventEntry) -> EventEntry:
    """Return an event with what records of before 0.2 lack: of a fault, what was done in words (`says`)."""
    if entry.kind != FAULT or entry.says:
        return entry
    return replace(entry, says=entry.text.partition(" lasted ")[0].partition(";")[0])
