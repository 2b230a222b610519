"""A private PostgreSQL: one function for all whose servers need one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pileup.plugin import Answer, Daemon, Task

PROGRAMS = Path("/usr/lib/postgresql")
"""Where Debian has the programs of its server, by version."""
NAME = "postgres"
INIT_WITHIN = 180 * 10**9
READY_WITHIN = 90 * 10**9
GRACE = 30 * 10**9


def postgresql_parts(
    user: str, arguments: Iterable[str], port: str = "{port}", keep: tuple[tuple[str, ...], ...] = ()
) -> tuple[Task, Daemon]:
    """Return what starts a private PostgreSQL on a unix socket in `{short}` alone, which lets `user` in there.

    `arguments` are settings as NAME=VALUE; `port` is the word for its number, which is part of the socket's name;
    `keep` are commands before its end. The
    folder of the socket is its user's alone, so that nobody else comes in. Raises ValueError when this machine lacks
    PostgreSQL.
    """
    folder = _programs()
    make = (f"{folder}/initdb", "-D", "{short}/db", "-U", user, "--auth=trust", "--encoding=UTF8", "--locale=C")
    settings = (word for each in ("listen_addresses=", *arguments) for word in ("-c", each))
    run = (f"{folder}/postgres", "-D", "{short}/db", "-p", port, "-k", "{short}", *settings)
    ready = Answer((f"{folder}/pg_isready", "-h", "{short}", "-p", port, "-U", user), "accepting connections")
    return (
        Task((*make, "--no-sync"), name="initdb", folder="{short}", within=INIT_WITHIN),
        Daemon(
            run,
            ready,
            name=NAME,
            folder="{short}",
            stop="INT",
            ready_within=READY_WITHIN,
            before_end=keep,
            grace=GRACE,
        ),
    )


def _programs() -> Path:
    """Return the folder of PostgreSQL's newest server. Raises ValueError when there is none."""
    found = [each for each in PROGRAMS.glob("*/bin") if (each / "postgres").exists() and (each / "initdb").exists()]
    if not found:
        raise ValueError(
            f"there is no PostgreSQL server below {PROGRAMS}; "
            "expected it (Debian: apt-get install postgresql), or a url"
        )
    return max(found, key=lambda each: float(each.parent.name) if each.parent.name.isdigit() else 0.0)
