"""A database: SQLite, MariaDB, MySQL or PostgreSQL, attached or started by pileup."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from pydantic import SecretStr, ValidationError

from pileup.builtin.database.launcher import database_launcher
from pileup.builtin.database.session import Session
from pileup.builtin.database.settings import DatabaseSettings
from pileup.builtin.database.source import Login, Source, check_url
from pileup.builtin.database.sql_settings import SqlSetting
from pileup.builtin.database.sql_text import parse
from pileup.plugin import Duration, Launcher, PileupError, Target, TargetError, option
from pileup.plugin.credentials import Credentials

if TYPE_CHECKING:
    from sqlalchemy import Engine

PROBE_WITHIN = 10 * 10**9
VERSION = {"sqlite": "SELECT sqlite_version()", "mariadb": "SELECT version()", "postgresql": "SHOW server_version"}
NAMES = {"sqlite": "SQLite", "mariadb": "MariaDB", "mysql": "MySQL", "postgresql": "PostgreSQL"}
FILE = "pileup.db"
SLOW_LOG = (
    "SELECT IF(@@slow_query_log AND FIND_IN_SET('FILE', @@log_output), "
    "IF(@@slow_query_log_file LIKE '/%', @@slow_query_log_file, CONCAT(@@datadir, @@slow_query_log_file)), '')"
)
"""Asks for the path of the log of slow queries; empty when there is none."""


class DatabaseTarget(Target):
    """A database accessed by SQL: SQLite, MariaDB, MySQL or PostgreSQL. Needs `pip install 'pileup[sql]'`.

    Urls, and those of a unix socket:

    - `sqlite:////var/lib/service/jobs.db`, a file, created if it does not exist
    - `mariadb://user@host:3306/name` or `mysql://…`, `mariadb://user@/name?unix_socket=/run/db.sock`
    - `postgresql://user@host:5432/name`, `postgresql://user@/name?host=/run/postgresql`

    Without a url it is an SQLite file in a temporary folder. With `launch` it is a private MariaDB or PostgreSQL, run
    by an ordinary user (`mysql`, `postgres` or `nobody` if pileup is root) on a unix socket that nobody else can reach.
    `credentials` may have `user`, `password` and `ca` (TLS is then required); prefer a `password_file`.

    `switches` are settings that SQL changes, for scans: each has a name, and for every value the statements that set
    it.

        targets:
          db:
            kind: database
            launch: {buffer_pool: 128 MiB}
            options:
              switches:
                index:
                  set:
                    on: CREATE INDEX IF NOT EXISTS of_job ON extra_attribute (jobId)
                    off: DROP INDEX IF EXISTS of_job ON extra_attribute
                  default: off
        scan: {db.index: [off, on]}

    A change is a barrier: it happens while nothing is under way, and is complete when its statements are. The value
    before (from the query `get`, or `default`) is restored at the end of the run, except on a private server, which
    ends.
    """

    kind = "database"
    scratch: ClassVar[bool] = True
    not_relayed = "is reached by files, unix sockets and drivers that connect to what the url says"
    launch_settings: ClassVar[Any] = DatabaseSettings

    switches: dict[str, SqlSetting] = option({}, help="settings that SQL changes: name, and how; for scans")
    switch_within: Duration = option(30 * 60 * 10**9, gt=0, help="how long each statement of a switch may take")
    password_file: str | None = option(None, help="file whose first line is the password")
    defaults_file: str | None = option(None, help="option file of MariaDB or MySQL, as ~/.my.cnf")

    def __init__(self, url: str = "", credentials: Credentials | None = None, **options: Any) -> None:
        super().__init__(url, credentials, **options)
        if url.startswith("/"):
            self.url = f"sqlite:///{Path(url) / FILE}"
        self._engines: dict[int, Engine] = {}
        self._lock = threading.Lock()
        if url:
            with suppress(PileupError):  # reported when it is asked; loading the driver is not part of a load
                self.session(PROBE_WITHIN)

    @classmethod
    def check_url(cls, url: str) -> None:
        """Refuse what is not an address of a database; a folder is that of a file of SQLite."""
        if not url.startswith("/"):
            check_url(url, Login())

    @classmethod
    def launcher(cls, settings: Mapping[str, object], folder: Path) -> Launcher | None:
        """Return how to start a private server. Raises ValueError for a wrong setting."""
        return database_launcher(DatabaseSettings.model_validate(settings))

    @classmethod
    def settings_of(cls, options: dict[str, object]) -> dict[str, tuple[str, ...]]:
        """Return the switches with the values that each takes."""
        given = options.get("switches")
        found: dict[str, tuple[str, ...]] = {}
        for name, switch in given.items() if isinstance(given, dict) else ():
            try:
                found[name] = tuple(SqlSetting.model_validate(switch).set_)
            except ValidationError:
                found[name] = ()  # reported where options are checked
        return found

    @property
    def database_url(self) -> str:
        """Where the database is, for monitors that ask it too."""
        return self.url

    @property
    def slow_log(self) -> str:
        """The log of slow queries of a MariaDB or MySQL on this machine, for monitors; empty when there is none.

        Raises TargetError when the database does not answer.
        """
        if urlsplit(self.url).scheme not in ("mariadb", "mysql"):
            return ""
        path = self._ask(SLOW_LOG, PROBE_WITHIN)
        return path if path and Path(path).exists() else ""

    def session(self, timeout: int) -> Session:
        """Return a connection of its own for one client, not made yet; no statement takes longer than `timeout` (ns).

        Raises TargetError for a url or a login that is none, PluginError when the driver is not installed.
        """
        with self._lock:
            engine = self._engines.get(timeout)
            if engine is None:
                engine = self._engines[timeout] = self._source(timeout).engine()
        return Session(engine, urlsplit(self.url).scheme, timeout)

    def probe(self) -> str:
        """Ask for the version. Raises TargetError."""
        kind = urlsplit(self.url).scheme
        found = self._ask(VERSION.get(kind, VERSION["mariadb"]), PROBE_WITHIN)
        return f"{NAMES.get(kind, kind)} {found}"

    def setting(self, name: str) -> str | None:
        """Return the value that a switch has; None when it is not to be restored. Raises TargetError."""
        switch = self._switch(name)
        if switch.restore == "never":
            return None
        if switch.get is None:
            return switch.default
        value = self._ask(switch.get, self.switch_within)
        if value in switch.set_:
            return value
        if switch.default is not None:
            return switch.default
        raise TargetError(f"`get` of {name} says {value!r}", f"one of {', '.join(switch.set_)}")

    def change(self, name: str, value: str) -> None:
        """Run the statements of a switch. Raises TargetError."""
        switch = self._switch(name)
        if value not in switch.set_:
            raise TargetError(f"{name} has no value {value!r}", f"one of {', '.join(switch.set_)}")
        for statement in switch.set_[value]:
            self._ask(statement, self.switch_within)

    def _switch(self, name: str) -> SqlSetting:
        if name not in self.switches:
            raise TargetError(f"there is no switch {name!r}", f"one of {', '.join(self.switches) or 'none'}")
        return self.switches[name]

    def _ask(self, text: str, timeout: int) -> str:
        """Do one statement on a connection of its own; return the first value of its answer as text."""
        try:
            with closing(self.session(timeout)) as session:
                reply = session.execute(parse(text), {})
        except TargetError:
            raise
        except Exception as problem:
            raise TargetError(f"{self.url}: {problem}", "a database that answers") from problem
        return str(reply.rows[0][0]) if reply.rows else ""

    def _source(self, timeout: int) -> Source:
        secret = self.credentials.password
        login = Login(
            secret.get_secret_value() if isinstance(secret, SecretStr) else None,
            self.password_file,
            self.defaults_file,
            self.credentials.ca,
            self.credentials.user,
        )
        try:
            check_url(self.url, login)
        except ValueError as problem:
            raise TargetError(str(problem)) from None
        return Source(self.url, login, timeout, writes=True)
