"""Databases asked by SQL: where they are, who asks, and how connections to them are made."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, urlsplit

from pileup.builtin.http.location import is_loopback
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
"""Schemes of urls and what SQLAlchemy calls the driver; whether a server is MariaDB or MySQL it says itself."""
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
    user: str | None = None
    """Who, where the url does not say it."""

    def __repr__(self) -> str:
        return "Login(secret)"

    @property
    def given(self) -> bool:
        """Whether there is anything."""
        known = (self.secret, self.password_file, self.defaults_file, self.ca, self.user)
        return any(value is not None for value in known)

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
        raise ValueError(f"`url` is not an address of a database; expected one like {EXAMPLES}")
    if parts.password is not None or words & SECRET_WORDS:
        raise ValueError("`url` holds a password; expected a password_file: urls are written into the record")
    if parts.scheme == "sqlite":
        if parts.netloc or len(parts.path) < 2:
            raise ValueError("`url` names no file of SQLite; expected sqlite:////path/jobs.db (four slashes)")
        if login.given:
            raise ValueError("SQLite knows no passwords or certificates; expected a url alone")
    if login.defaults_file is not None and parts.scheme == "postgresql":
        raise ValueError("defaults_file is for MariaDB and MySQL; expected a password_file or ~/.pgpass")


class Source:
    """Where a database is and who asks: makes what makes connections.

    `timeout` (ns) is that of a statement. Who `writes` has as many connections as wanted, each commits every statement
    for itself, and a file of SQLite is made when there is none; else there is one connection, and files are only read.
    """

    def __init__(self, url: str, login: Login, timeout: int, writes: bool = False) -> None:
        self._url = url
        self._login = login
        self._timeout = timeout
        self._writes = writes
        self._kind = urlsplit(url).scheme

    def engine(self) -> Engine:
        """Return what makes connections. Raises PluginError when the driver is not installed."""
        try:
            return self._sqlite() if self._kind == "sqlite" else self._server()
        except ImportError as problem:
            raise PluginError(f"{problem.name} is not installed", "the libraries for databases", INSTALL) from None

    def _sqlite(self) -> Engine:
        from sqlalchemy import create_engine  # noqa: PLC0415  not everybody has it
        from sqlalchemy.pool import NullPool  # noqa: PLC0415

        path = urlsplit(self._url).path.removeprefix("/")
        uri = f"file:{quote(str(Path(path).expanduser()))}?mode={'rwc' if self._writes else 'ro'}"

        def connect() -> sqlite3.Connection:
            return sqlite3.connect(uri, uri=True, timeout=self._timeout / 1e9, check_same_thread=False)

        level = {"isolation_level": "AUTOCOMMIT"} if self._writes else {}
        return create_engine("sqlite://", creator=connect, poolclass=NullPool, **level)  # a file may be replaced

    def _server(self) -> Engine:
        from sqlalchemy import create_engine, event  # noqa: PLC0415  not everybody has it
        from sqlalchemy.engine import make_url  # noqa: PLC0415
        from sqlalchemy.pool import NullPool  # noqa: PLC0415

        url = make_url(self._url).set(drivername=DRIVERS[self._kind])
        if self._login.user is not None:
            url = url.set(username=self._login.user)
        pool: dict[str, Any] = {"pool_size": 1, "max_overflow": 0, "pool_pre_ping": True}
        if self._writes:
            pool = {"poolclass": NullPool, "isolation_level": "AUTOCOMMIT"}
        engine = create_engine(url, hide_parameters=True, **pool)
        wanted = self._for_postgresql if self._kind == "postgresql" else self._for_mysql

        @event.listens_for(engine, "do_connect")
        def _complete(_dialect: Any, _record: Any, _words: Any, settings: dict[str, object]) -> None:
            settings.update(wanted())

        return engine

    def _for_postgresql(self) -> dict[str, object]:
        """Return settings of libpq (https://www.postgresql.org/docs/current/libpq-connect.html)."""
        settings: dict[str, object] = {"connect_timeout": self._seconds(), "application_name": "pileup"}
        password = self._login.password()
        if password is not None:
            settings["password"] = password
        if self._login.ca is not None:
            _readable("ca", self._login.ca)
            return settings | {"sslmode": "verify-full", "sslrootcert": str(Path(self._login.ca).expanduser())}
        return settings if self._near() else settings | {"require_auth": "!password"}

    def _for_mysql(self) -> dict[str, object]:
        """Return settings of PyMySQL."""
        settings: dict[str, object] = {
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


def bound_time(connection: Connection, kind: str, timeout: int) -> tuple[str, ...]:
    """Return the statements that let a server end what takes longer than `timeout` (ns); none for SQLite."""
    milliseconds = max(1, timeout // 10**6)
    if kind == "sqlite":
        return ()
    if kind == "postgresql":
        return (f"SET statement_timeout = {milliseconds}",)
    maria = bool(getattr(connection.dialect, "is_mariadb", False))
    longest = f"max_statement_time = {milliseconds / 1000}" if maria else f"max_execution_time = {milliseconds}"
    return (f"SET SESSION {longest}",)


def watch_clock(connection: Connection, timeout: int) -> None:
    """Let SQLite end what takes longer than `timeout` (ns) from now on; needed before each statement."""
    until = time.monotonic() + timeout / 1e9
    driver: Any = connection.connection.driver_connection
    driver.set_progress_handler(lambda: time.monotonic() > until, STEPS)


VERIFIED = {"ssl_verify_cert": True, "ssl_verify_identity": True}


class _NotPlain:
    """Replaces the ways in which a password would go over the wire as it is."""

    def __init__(self, connection: object) -> None:
        pass

    def authenticate(self, _packet: object) -> None:
        """Refuse."""
        raise PluginError(
            "the server asks for the password in plain", "TLS", "name the authority of its certificate by `ca`"
        )


def words_of(problem: object) -> str:
    """Return what a driver says, in one line; MariaDB's come as number and text."""
    given: tuple[Any, ...] = getattr(problem, "args", ())
    if len(given) == 2 and isinstance(given[0], int):
        return f"{given[1]} (error {given[0]})"
    return " ".join(str(problem).split())


def _readable(word: str, path: str) -> str:
    """Return the text of a file; when that fails its name is reported, its content never."""
    try:
        return Path(path).expanduser().read_text(errors="replace")
    except OSError as problem:
        raise PluginError(
            f"{word} {path} cannot be read: {problem.strerror}", "a file that this user can read"
        ) from None
