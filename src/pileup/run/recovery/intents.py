"""The open entries of a run's journal: the list of what must be cleaned up."""

from __future__ import annotations

import socket
from dataclasses import dataclass

from pileup.model.journal import JournalEntry
from pileup.record import RunFolder
from pileup.run.safety.leaving import STAYS

OPENS = frozenset({"begun", "made", "started", "changed"})
"""States of intents; every other state closes the entry that `of` names."""
NEEDED: dict[str, tuple[str, ...]] = {
    "server": ("target",),
    "fault": ("test",),
    "pause": ("target", "process"),
    "scratch": ("path",),
    "disk": ("target", "path"),
    "setting": ("target", "setting", "before"),
    "objects": ("target", "case", "cleanup", "remove"),
    **dict.fromkeys(("own", "ground"), ("target", "folder", "marker")),
    "jobs": ("target", "case", "cleanup", "stamp"),
    "delegations": ("target", "case", "cleanup"),
    "requests": ("target", "case", "cleanup", "stamp"),
    "begin_run": ("test",),
}
"""What an entry of each kind must have to be acted upon."""
AGAIN = "`pileup clean` tries again; if the system is gone for good, remove the folder of the run"
"""What next, where a system could not be reached or refused."""
OPTIONAL = ("pid", "ticks", "namespace", "boot", "mark", "do", "process")
"""What it may have."""


WORDS = {
    "objects": "what {case} has made on target {target}",
    **dict.fromkeys(("own", "ground"), "the folder /{folder} on target {target}"),
    "setting": "the setting {setting} of target {target}",
    "jobs": "jobs of {case} on target {target}",
    "delegations": "delegations of {case} on target {target}",
    "requests": "stage requests of {case} at target {target}",
    "begin_run": "what begin_run() of test {test} has made",
}
"""Kind of an entry -> what it is about, in words."""


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


def left_over(folder: RunFolder) -> list[str]:
    """Return in words what a run has left and `pileup clean` would clean up, oldest first, each with the reason."""
    return [_told(intent.entry, _problems(folder)) for intent in reversed(open_intents(folder))]


def staying(folder: RunFolder) -> list[str]:
    """Return in words what stays of a run for a person to remove, each with the reason."""
    closed = {entry.of for entry in folder.journal_entries() if entry.state == STAYS}
    return [_told(each, _problems(folder)) for each in folder.journal_entries() if each.number in closed]


def _problems(folder: RunFolder) -> dict[int, str]:
    """Return number of an entry -> why it is still open, as last reported."""
    return {entry.of: entry.problem for entry in folder.journal_entries() if entry.of is not None and entry.problem}


def _told(entry: JournalEntry, problems: dict[int, str]) -> str:
    words = WORDS.get(entry.what, "{what} of target {target}")
    what = words.format_map(
        {name: getattr(entry, name) for name in ("what", "case", "test", "target", "folder", "setting")}
    )
    return f"{what}: {problems.get(entry.number) or 'the run ended before'}"
