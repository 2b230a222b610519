"""Databases asked by SQL: where they are, who asks, and one connection that may only read."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, urlsplit

from pileup.builtin.targets.location import is_loopback
from pileup.plugin import PluginError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

INSTALL = "pip install 'pileup[sql]'"
DRIVERS = {
    "sqlite": "sqlite",
    "mariadb": "mysql+pymysql",
    "mysql": "mysql+pymysql",
    "postgresql": "postgresql+psycopg",
}
"""Schemes of urls and what SQLAlchemy calls the driver; whether a server is MariaDB or MySQL it tells itself."""
EXAMPLES = "sqlite:////path/jobs.db, mariadb://user@host/name or postgresql://user@host/name"
SECRET_WORDS = {"password", "passwd", "pwd", "sslpassword", "ssl_key_password"}
PLAIN = ("mysql_clear_password", "dialog")
"""Ways in which a MariaDB or MySQL server may ask for the password itself."""
STEPS = 10_000
"""Instructions of SQLite's machine between two looks at the clock."""
GRACE = 2.0
"""Seconds that a server has to end what took too long, before its connection is given up."""


@dataclass(frozen=True, slots=True, repr=False)
class Login:
    """Who asks. Holds secrets: never shown. Files are read when a connection is made."""

    secret: str | None = None
    password_file: str | None = None
    defaults_file: str | None = None
    ca: str | None = None

    def __repr__(self) -> str:
        return "Login(secret)"

    @property
    def given(self) -> bool:
        """Whether there is anything."""
        return any(value is not None for value in (self.secret, self.password_file, self.defaults_file, self.ca))

    def password(self) -> str | None:
        """Return the password. Raises PluginError for a file that cannot be read or is empty."""
        if self.password_file is None:
            return self.secret
        lines = _readable("password_file", self.password_file).splitlines()
        if not lines or not lines[0]:
            raise PluginError(f"password_file {self.password_file} is empty", "the password in its first line")
        return lines[0]


def check_url(url: str, login: Login) -> None:
    """Refuse an address that is none, that holds a password, or that does not go with the login: ValueError."""
    try:
        parts = urlsplit(url)
        words = {word.lower() for word in parse_qs(parts.query, keep_blank_values=True)}
        good = parts.scheme in DRIVERS and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise ValueError(f"`url` is no address of a database; expected one like {EXAMPLES}")
    if parts.password is not None or words & SECRET_WORDS:
        raise ValueError("`url` holds a password; expected a password_file: urls are written into the record")
    if parts.scheme == "sqlite":
        if parts.netloc or len(parts.path) < 2:
            raise ValueError("`url` names no file of SQLite; expected sqlite:////path/jobs.db (four slashes)")
        if login.given:
            raise ValueError("SQLite knows no passwords or certificates; expected a url alone")
    if login.defaults_file is not None and parts.scheme == "postgresql":
        raise ValueError("defaults_file is for MariaDB and MySQL; expected a password_file or ~/.pgpass")


class Database:
    """One connection to a database, made when it is first asked and again when it was lost. For one thread."""

    def __init__(self, url: str, login: Login, timeout: int) -> None:
        self._url = url
        self._login = login
        self._timeout = timeout
        self._kind = urlsplit(url).scheme
        self._engine: Engine | None = None

    def open(self) -> None:
        """Load the driver. Raises PluginError when it is not installed, with the command that installs it."""
        self._engine = self._made()

    def close(self) -> None:
        """Close the connection."""
        if self._engine is not None:
            self._engine.dispose()

    def ask(self, query: str, most: int) -> tuple[list[str], list[Sequence[Any]]]:
        """Return the names of the columns and the rows of an answer. Raises PluginError."""
        engine = self._engine = self._engine or self._made()
        from sqlalchemy.exc import DBAPIError, SQLAlchemyError  # noqa: PLC0415  not everybody has it

        try:
            with engine.connect() as connection:
                self._prepare(connection)
                return self._answer(connection, query, most)
        except DBAPIError as problem:
            raise PluginError(f"the database refuses: {_words(problem.orig)}"[:400]) from None
        except SQLAlchemyError as problem:
            raise PluginError(f"the database cannot be asked: {_words(problem)}"[:400]) from None

    def _made(self) -> Engine:
        try:
            return self._sqlite() if self._kind == "sqlite" else self._server()
        except ImportError as problem:
            raise PluginError(f"{problem.name} is not installed", "the libraries for databases", INSTALL) from None

    def _answer(self, connection: Connection, query: str, most: int) -> tuple[list[str], list[Sequence[Any]]]:
        result = connection.execution_options(no_parameters=True).exec_driver_sql(query)
        if not result.returns_rows:
            raise PluginError("the query gives no rows", "one that does, such as SELECT count(*) AS jobs FROM jobs")
        rows: list[Sequence[Any]] = list(result.fetchmany(most + 1))
        if len(rows) > most:
            raise PluginError(f"the answer has more than {most} rows", "fewer", "narrow it, or raise `series`")
        return list(result.keys()), rows

    def _prepare(self, connection: Connection) -> None:
        """See to it that the connection only reads and that no query takes longer than it may."""
        if self._kind == "sqlite":
            until = time.monotonic() + self._timeout / 1e9
            driver: Any = connection.connection.driver_connection
            driver.set_progress_handler(lambda: time.monotonic() > until, STEPS)
            return
        if not connection.info.get("prepared"):
            for statement in self._limits(connection):
                connection.exec_driver_sql(statement)
            connection.commit()
            connection.info["prepared"] = True

    def _limits(self, connection: Connection) -> tuple[str, ...]:
        milliseconds = max(1, self._timeout // 10**6)
        if self._kind == "postgresql":
            read_only = "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"
            return (read_only, f"SET statement_timeout = {milliseconds}", f"SET lock_timeout = {milliseconds}")
        maria = bool(getattr(connection.dialect, "is_mariadb", False))
        longest = f"max_statement_time = {milliseconds / 1000}" if maria else f"max_execution_time = {milliseconds}"
        return ("SET SESSION TRANSACTION READ ONLY", f"SET SESSION {longest}")

    def _sqlite(self) -> Engine:
        from sqlalchemy import create_engine  # noqa: PLC0415  not everybody has it
        from sqlalchemy.pool import NullPool  # noqa: PLC0415

        path = urlsplit(self._url).path.removeprefix("/")
        uri = f"file:{quote(str(Path(path).expanduser()))}?mode=ro"

        def connect() -> sqlite3.Connection:
            return sqlite3.connect(uri, uri=True, timeout=self._timeout / 1e9)

        return create_engine("sqlite://", creator=connect, poolclass=NullPool)  # a file may be replaced by another

    def _server(self) -> Engine:
        from sqlalchemy import create_engine, event  # noqa: PLC0415  not everybody has it
        from sqlalchemy.engine import make_url  # noqa: PLC0415

        url = make_url(self._url).set(drivername=DRIVERS[self._kind])
        engine = create_engine(url, pool_size=1, max_overflow=0, pool_pre_ping=True, hide_parameters=True)
        wanted = self._for_postgresql if self._kind == "postgresql" else self._for_mysql

        @event.listens_for(engine, "do_connect")
        def _complete(_dialect: Any, _record: Any, _words: Any, settings: dict[str, Any]) -> None:
            settings.update(wanted())

        return engine

    def _for_postgresql(self) -> dict[str, Any]:
        """Return settings of libpq (https://www.postgresql.org/docs/current/libpq-connect.html)."""
        settings: dict[str, Any] = {"connect_timeout": self._seconds(), "application_name": "pileup"}
        password = self._login.password()
        if password is not None:
            settings["password"] = password
        if self._login.ca is not None:
            _readable("ca", self._login.ca)
            return settings | {"sslmode": "verify-full", "sslrootcert": str(Path(self._login.ca).expanduser())}
        return settings if self._near() else settings | {"require_auth": "!password"}

    def _for_mysql(self) -> dict[str, Any]:
        """Return settings of PyMySQL."""
        settings: dict[str, Any] = {
            "connect_timeout": self._seconds(),
            "read_timeout": self._timeout / 1e9 + GRACE,
            "write_timeout": self._timeout / 1e9 + GRACE,
        }
        password = self._login.password()
        if password is not None:
            settings["password"] = password.encode()
        if self._login.defaults_file is not None:
            _readable("defaults_file", self._login.defaults_file)
            settings["read_default_file"] = self._login.defaults_file
        if self._login.ca is not None:
            _readable("ca", self._login.ca)
            return settings | {"ssl_ca": str(Path(self._login.ca).expanduser()), **VERIFIED}
        return settings if self._near() else settings | {"auth_plugin_map": dict.fromkeys(PLAIN, _NotPlain)}

    def _seconds(self) -> int:
        return max(1, round(self._timeout / 1e9))

    def _near(self) -> bool:
        """Whether what is sent stays within this machine."""
        parts = urlsplit(self._url)
        words = parse_qs(parts.query)
        if "unix_socket" in words or words.get("host", [""])[0].startswith("/"):
            return True
        if parts.hostname:
            return is_loopback(parts.hostname)
        return self._login.defaults_file is None and "host" not in words


VERIFIED = {"ssl_verify_cert": True, "ssl_verify_identity": True}


class _NotPlain:
    """Stands in for the ways in which a password would go over the wire as it is."""

    def __init__(self, connection: object) -> None:
        pass

    def authenticate(self, _packet: object) -> None:
        """Refuse."""
        raise PluginError(
            "the server asks for the password in plain", "TLS", "name the authority of its certificate by `ca`"
        )


def _words(problem: object) -> str:
    """Return what a driver says, in one line; MariaDB's come as number and text."""
    given: tuple[Any, ...] = getattr(problem, "args", ())
    if len(given) == 2 and isinstance(given[0], int):
        return f"{given[1]} (error {given[0]})"
    return " ".join(str(problem).split())


def _readable(word: str, path: str) -> str:
    """Return the text of a file; when that fails its name is told, its content never."""
    try:
        return Path(path).expanduser().read_text(errors="replace")
    except OSError as problem:
        raise PluginError(f"{word} {path} cannot be read: {problem.strerror}", "a file that this user reads") from None
