"""What the journal of a run says was begun and never closed: the list of what is to be put right."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Any

from pileup.record import RunFolder

OPENS = frozenset({"begun", "made", "started", "changed"})
"""States of intents; every other state closes the entry that `of` names."""


@dataclass(frozen=True, slots=True)
class Intent:
    """One open entry of the journal."""

    entry: dict[str, Any]
    host: str
    """Where the session ran that wrote it."""

    @property
    def number(self) -> int:
        """Number of the entry."""
        return int(self.entry["number"])

    @property
    def what(self) -> str:
        """Kind of the entry."""
        return str(self.entry["what"])


def open_intents(folder: RunFolder) -> list[Intent]:
    """Return what was never closed, the newest first. What could not be removed (`left`) is open still."""
    found: dict[int, Intent] = {}
    host = socket.gethostname()
    for entry in folder.journal_entries():
        what, state, of = entry.get("what"), entry.get("state"), entry.get("of")
        if what == "owner":
            host = entry.get("host", host)
            continue
        if of is not None and state != "left":
            found.pop(of, None)
        if state in OPENS and (of is None or state == "started"):
            found[entry["number"]] = Intent(entry, host)
    return [found[number] for number in sorted(found, reverse=True)]
