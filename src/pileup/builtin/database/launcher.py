"""A private MariaDB or PostgreSQL for the kind database: its settings, its processes, its url."""

from __future__ import annotations

from pathlib import Path

from pileup.builtin.database.mariadb import SLOW_LOG, SOCKET, known_user, mariadb_parts
from pileup.builtin.database.postgresql import postgresql_parts
from pileup.builtin.database.settings import POSTGRESQL_LOG, DatabaseSettings
from pileup.plugin import Launcher

DATABASE = "pileup"
"""What the database is called on MariaDB; on PostgreSQL its user."""


def database_launcher(wanted: DatabaseSettings) -> Launcher:
    """Return how to start a database server. Raises ValueError when this machine lacks it."""
    return _mariadb(wanted) if wanted.server == "mariadb" else _postgresql(wanted)


def _mariadb(wanted: DatabaseSettings) -> Launcher:
    parts = mariadb_parts(
        f"CREATE DATABASE IF NOT EXISTS {DATABASE} CHARACTER SET utf8mb4;\n", wanted.for_mariadb(SLOW_LOG)
    )
    url = f"mariadb://root@/{DATABASE}?unix_socket={SOCKET}"
    return Launcher(parts.processes, url, parts.files, user=known_user("mysql", "nobody"))


def _postgresql(wanted: DatabaseSettings) -> Launcher:
    log = f"{{short}}/{Path(POSTGRESQL_LOG).with_suffix('.json')}"
    keep = (("cp", log, "{folder}/"),) if wanted.slow_queries is not None else ()
    processes = postgresql_parts(DATABASE, wanted.for_postgresql(), keep=keep)
    url = f"postgresql://{DATABASE}@:{{port}}/postgres?host={{short}}"
    return Launcher(processes, url, user=known_user("postgres", "nobody"))
