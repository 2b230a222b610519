"""A private MariaDB: one function for all whose servers need one."""

from __future__ import annotations

import os
import pwd
import shutil
from collections.abc import Iterable
from dataclasses import dataclass

from pileup.plugin import Daemon, File, Line, Task

SOCKET = "{short}/db.sock"
DATA = "{short}/db"
SLOW_LOG = "{short}/slow-queries.log"
"""Where the log of slow queries is, for who turns it on. At the end it is copied into the folder of the target: the
server's user may have no way into the run folder."""
COPY = "cp"
NAME = "mariadbd"
INSTALL_WITHIN = 180 * 10**9
READY_WITHIN = 90 * 10**9
GRACE = 30 * 10**9
"""Time to write down what it has in memory, ns."""
COMMON = ("--no-defaults", f"--datadir={DATA}", "--skip-name-resolve")


@dataclass(frozen=True, slots=True)
class MariadbParts:
    """What a launcher takes into its own: processes, to be started in this order, and files."""

    processes: tuple[Task, Daemon]
    files: tuple[File, ...]


def mariadb_parts(statements: str, arguments: Iterable[str] = ()) -> MariadbParts:
    """Return the parts of a private MariaDB that listens at the unix socket SOCKET alone, and lets `root` in there.

    `statements` (SQL, each on one line, ended by a semicolon) are run at each start before anybody can connect, so they
    should say IF NOT EXISTS; `arguments` are further words of its command line. The folder of the socket is its user's
    alone, so that nobody else comes in. Raises ValueError when this machine lacks MariaDB.
    """
    server, install = program("mariadbd"), program("mariadb-install-db")
    make = (install, *COMMON, "--auth-root-authentication-method=normal", "--skip-test-db")
    listen = (f"--socket={SOCKET}", "--skip-networking", "--pid-file={short}/mariadbd.pid")
    words = tuple(arguments)
    keep = ((COPY, SLOW_LOG, "{folder}/"),) if any(SLOW_LOG in word for word in words) else ()
    run = (server, *COMMON, *listen, "--init-file={short}/init.sql", "--character-set-server=utf8mb4", *words)
    return MariadbParts(
        (
            Task(make, name="mariadb-install-db", folder="{short}", within=INSTALL_WITHIN),
            Daemon(
                run,
                Line("ready for connections"),
                name=NAME,
                folder="{short}",
                ready_within=READY_WITHIN,
                before_end=keep,
                grace=GRACE,
            ),
        ),
        (File("{short}/init.sql", statements),),
    )


def program(name: str) -> str:
    """Return the path of a program of MariaDB's server. Raises ValueError when it is not installed."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found is None:
        raise ValueError(
            f"{name} is not installed here; expected it (Debian: apt-get install mariadb-server), or a url"
        )
    return found


def known_user(*names: str) -> str:
    """Return the first of these users that this machine knows, to run a server under root; empty: none of them."""
    known = {user.pw_name for user in pwd.getpwall()}
    return next((name for name in names if name in known), "")
