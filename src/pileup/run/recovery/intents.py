"""What the journal of a run says was begun and never closed: the list of what is to be put right."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Any

from pileup.record import RunFolder

OPENS = frozenset({"begun", "made", "started", "changed"})
"""States of intents; every other state closes the entry that `of` names."""
NEEDED: dict[str, dict[str, tuple[type, ...]]] = {
    "server": {"target": (str,)},
    "fault": {"test": (str,)},
    "pause": {"target": (str,), "process": (str,)},
    "scratch": {"target": (str,), "path": (str,)},
    "disk": {"target": (str,), "path": (str,)},
    "setting": {"target": (str,), "setting": (str,), "before": (str, type(None))},
    "objects": {"target": (str,), "case": (str,), "cleanup": (str,), "remove": (dict,)},
    **{key: {"target": (str,), "folder": (str,), "marker": (str,)} for key in ("own", "ground")},
    "jobs": {"target": (str,), "case": (str,), "cleanup": (str,), "stamp": (str,)},
    "delegations": {"target": (str,), "case": (str,), "cleanup": (str,)},
}
"""What an entry of each kind must have to be acted upon, and of which types."""
OPTIONAL: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("pid", "ticks", "namespace"), (int,)),
    **dict.fromkeys(("boot", "mark", "do", "process"), (str,)),
}
"""What it may have."""


@dataclass(frozen=True, slots=True)
class Intent:
    """One open entry of the journal."""

    entry: dict[str, Any]
    host: str
    """Where the session ran that wrote it."""
    namespace: int = 0
    """Pid namespace of that session; 0: not known."""

    @property
    def number(self) -> int:
        """Number of the entry."""
        return int(self.entry["number"])

    @property
    def what(self) -> str:
        """Kind of the entry."""
        return str(self.entry["what"])

    @property
    def problem(self) -> str:
        """What is wrong with the entry, empty when it can be acted upon."""
        for name, kinds in NEEDED.get(self.what, {}).items():
            if not isinstance(self.entry.get(name), kinds):
                return f"entry {self.number} ({self.what}) of the journal has no {name} as pileup writes it"
        for name, kinds in OPTIONAL.items():
            if name in self.entry and type(self.entry[name]) not in kinds:
                return f"entry {self.number} ({self.what}) of the journal has a {name} that pileup does not write"
        return ""


def open_intents(folder: RunFolder) -> list[Intent]:
    """Return what was never closed, the newest first. What could not be removed (`left`) is open still."""
    found: dict[int, Intent] = {}
    host = socket.gethostname()
    namespace: Any = 0
    for entry in folder.journal_entries():
        what, state, of = entry.get("what"), entry.get("state"), entry.get("of")
        if what == "owner":
            host, namespace = str(entry.get("host", host)), entry.get("namespace", namespace)
            continue
        if isinstance(of, int) and state != "left":
            found.pop(of, None)
        if isinstance(what, str) and str(state) in OPENS and (of is None or state == "started"):
            found[entry["number"]] = Intent(entry, host, namespace if isinstance(namespace, int) else 0)
    return [found[number] for number in sorted(found, reverse=True)]
