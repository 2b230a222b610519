"""The file in a folder that a run works in: who, since when, which run."""

from __future__ import annotations

import getpass
import json
import secrets
import socket
import time
from dataclasses import dataclass

from pileup.record import RunFolder

MARKER = ".pileup-owner"
"""Its name."""


@dataclass(frozen=True, slots=True)
class Who:
    """The content of a marker; another user may have written it."""

    owner: str
    since: str
    run: str
    """The run folder."""

    def __str__(self) -> str:
        return f"{self.owner} since {self.since}: {self.run}"


def new_marker(folder: RunFolder) -> bytes:
    """Return what the markers of a run hold: no other run has the same."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):
        user = "somebody"
    told = {
        "what": "a run of pileup works in this folder",
        "owner": f"{user}@{socket.gethostname()}",
        "run": str(folder.path.absolute()),
        "since": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "id": secrets.token_hex(8),
    }
    return json.dumps(told).encode()


def told_by(found: bytes) -> Who:
    """Return what a marker says; "somebody" for what it does not."""
    try:
        told = json.loads(found)
    except (ValueError, RecursionError):
        told = None
    words = told if isinstance(told, dict) else {}
    return Who(*(str(words.get(word, "somebody"))[:200] for word in ("owner", "since", "run")))
