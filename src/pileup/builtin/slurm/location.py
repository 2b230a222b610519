"""Where a Slurm is and how one comes in: one that pileup launched says it in a file beside its socket."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from pileup.builtin.slurm.launcher import SOCKET, TOLD
from pileup.builtin.slurm.rest import Endpoint, endpoint_of

SOCKET_NAME = SOCKET.removeprefix("{short}/")


@dataclass(frozen=True, slots=True)
class Place:
    """What is known of a Slurm beside its url; empty texts for what is not."""

    launched: bool = False
    user: str = ""
    """Who its commands must be run as, when pileup is root."""
    conf: str = ""
    """Its slurm.conf, as SLURM_CONF names it."""
    database: str = ""
    """Url of the database of its accounting."""
    completions: str = ""
    """Path of its completion log."""
    slow_log: str = ""
    """Path of the log of slow queries of its database."""
    gate: Endpoint | None = None
    """Where who has a token comes in, when that is not the url."""
    users: tuple[str, ...] = ()
    """Whose jobs run as them, where that is not one user alone."""


def place_of(url: str) -> Place:
    """Return what a Slurm that pileup launched reports on itself; of another one nothing is known."""
    path = url.removeprefix("unix:")
    if path == url or not path.endswith(f"/{SOCKET_NAME}"):
        return Place()
    try:
        told = json.loads((Path(path.removesuffix(SOCKET_NAME)) / TOLD).read_text())
    except (OSError, ValueError):
        return Place()
    gate = endpoint_of(f"http://127.0.0.1:{told['port']}") if told["port"] else None
    user = told["user"] if os.geteuid() == 0 else ""
    known = (told["conf"], told["database"], told["completions"], told["slow_log"])
    return Place(True, user, *known, gate, tuple(told["users"]))
