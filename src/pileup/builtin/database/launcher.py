"""A private MariaDB or PostgreSQL for the kind database: its settings, its processes, its url."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pileup.builtin.database.mariadb import SLOW_LOG, SOCKET, known_user, mariadb_parts
from pileup.builtin.database.settings import DatabaseSettings
from pileup.plugin import Daemon, Launcher, Line, Task

DATABASE = "pileup"
"""What the database is called on MariaDB; on PostgreSQL its user."""
POSTGRESQL = Path("/usr/lib/postgresql")
"""Where Debian has the programs of its server, by version."""
INIT_WITHIN = 180 * 10**9
READY_WITHIN = 90 * 10**9
GRACE = 30 * 10**9


def database_launcher(settings: Mapping[str, object]) -> Launcher:
    """Return how to start a database server. Raises ValueError for a wrong setting, or when this machine lacks it."""
    wanted = DatabaseSettings.model_validate(settings)
    return _mariadb(wanted) if wanted.server == "mariadb" else _postgresql(wanted)


def _mariadb(wanted: DatabaseSettings) -> Launcher:
    parts = mariadb_parts(
        f"CREATE DATABASE IF NOT EXISTS {DATABASE} CHARACTER SET utf8mb4;\n", wanted.for_mariadb(SLOW_LOG)
    )
    url = f"mariadb://root@/{DATABASE}?unix_socket={SOCKET}"
    return Launcher(parts.processes, url, parts.files, user=known_user("mysql", "nobody"))


def _postgresql(wanted: DatabaseSettings) -> Launcher:
    folder = _programs()
    make = (f"{folder}/initdb", "-D", "{short}/db", "-U", DATABASE, "--auth=trust", "--encoding=UTF8", "--locale=C")
    settings = (word for each in ("listen_addresses=", *wanted.for_postgresql()) for word in ("-c", each))
    run = (f"{folder}/postgres", "-D", "{short}/db", "-p", "{port}", "-k", "{short}", *settings)
    ready = Line("database system is ready to accept connections")
    daemon = Daemon(run, ready, name="postgres", folder="{short}", stop="INT", ready_within=READY_WITHIN, grace=GRACE)
    task = Task((*make, "--no-sync"), name="initdb", folder="{short}", within=INIT_WITHIN)
    url = f"postgresql://{DATABASE}@:{{port}}/postgres?host={{short}}"
    return Launcher((task, daemon), url, user=known_user("postgres", "nobody"))


def _programs() -> Path:
    """Return the folder of PostgreSQL's newest server. Raises ValueError when there is none."""
    found = [each for each in POSTGRESQL.glob("*/bin") if (each / "postgres").exists() and (each / "initdb").exists()]
    if not found:
        raise ValueError(
            f"there is no PostgreSQL server below {POSTGRESQL}; "
            "expected it (Debian: apt-get install postgresql), or a url"
        )
    return max(found, key=lambda each: float(each.parent.name) if each.parent.name.isdigit() else 0.0)
