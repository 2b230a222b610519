"""What the journal of a run says was begun and never closed: the list of what is to be put right."""

from __future__ import annotations

import socket
from dataclasses import dataclass

from pileup.model.journal import JournalEntry
from pileup.record import RunFolder

OPENS = frozenset({"begun", "made", "started", "changed"})
"""States of intents; every other state closes the entry that `of` names."""
NEEDED: dict[str, tuple[str, ...]] = {
    "server": ("target",),
    "fault": ("test",),
    "pause": ("target", "process"),
    "scratch": ("target", "path"),
    "disk": ("target", "path"),
    "setting": ("target", "setting", "before"),
    "objects": ("target", "case", "cleanup", "remove"),
    **dict.fromkeys(("own", "ground"), ("target", "folder", "marker")),
    "jobs": ("target", "case", "cleanup", "stamp"),
    "delegations": ("target", "case", "cleanup"),
}
"""What an entry of each kind must have to be acted upon."""
OPTIONAL = ("pid", "ticks", "namespace", "boot", "mark", "do", "process")
"""What it may have."""


@dataclass(frozen=True, slots=True)
class Intent:
    """One open entry of the journal."""

    entry: JournalEntry
    host: str
    """Where the session ran that wrote it."""
    namespace: int = 0
    """Pid namespace of that session; 0: not known."""

    @property
    def number(self) -> int:
        """Number of the entry."""
        return self.entry.number

    @property
    def what(self) -> str:
        """Kind of the entry."""
        return self.entry.what

    @property
    def problem(self) -> str:
        """What is wrong with the entry, empty when it can be acted upon."""
        for name in NEEDED.get(self.what, ()):
            if name not in self.entry.given:
                return f"entry {self.number} ({self.what}) of the journal has no {name} as pileup writes it"
        for name in OPTIONAL:
            if name in self.entry.wrong:
                return f"entry {self.number} ({self.what}) of the journal has a {name} that pileup does not write"
        return ""


def open_intents(folder: RunFolder) -> list[Intent]:
    """Return what was never closed, the newest first. What could not be removed (`left`) is open still."""
    found: dict[int, Intent] = {}
    host = socket.gethostname()
    namespace = 0
    for entry in folder.journal_entries():
        if entry.what == "owner":
            host, namespace = entry.host or host, entry.namespace or namespace
            continue
        if entry.of is not None and entry.state != "left":
            found.pop(entry.of, None)
        if entry.what and entry.state in OPENS and (entry.of is None or entry.state == "started"):
            found[entry.number] = Intent(entry, host, namespace)
    return [found[number] for number in sorted(found, reverse=True)]
