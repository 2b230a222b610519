"""One connection to a database that may write: what a client of a load has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pileup.builtin.database.error_outcomes import verdict_of_error
from pileup.builtin.database.source import bound_time, watch_clock
from pileup.builtin.database.sql_text import Statement
from pileup.plugin import Failed, PluginError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

MOST_ROWS = 1_000_000
"""Rows of one answer."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a statement gave."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[Any]]
    count: int
    """Rows of the answer; of a statement that has none, rows that it changed (-1: the database does not say)."""

    @property
    def is_query(self) -> bool:
        """Whether it has rows, be it none."""
        return bool(self.columns)


class Session:
    """A connection, made when it is first needed and again after it was lost. For one thread.

    Every statement is committed for itself, but between `begin` and `commit`. Raises Failed, Refused, Ambiguous.
    """

    def __init__(self, engine: Engine, kind: str, timeout: int) -> None:
        self._engine = engine
        self._kind = kind
        self._timeout = timeout
        self._connection: Connection | None = None
        self._texts: dict[str, object] = {}
        """Statement -> what SQLAlchemy makes of it."""

    @property
    def connected(self) -> bool:
        """Whether it has a connection, as far as it knows."""
        return self._connection is not None

    def connect(self) -> Connection:
        """Make the connection, in the place of one that there may be."""
        from sqlalchemy.exc import DBAPIError  # noqa: PLC0415  not everybody has it

        self.close()
        try:
            connection = self._engine.connect()
            for statement in bound_time(connection, self._kind, self._timeout):
                connection.exec_driver_sql(statement)
        except DBAPIError as problem:
            raise verdict_of_error(problem, writes=False, connecting=True) from None
        except PluginError as problem:  # a password that cannot be read
            raise Failed(problem.what, problem.expected, problem.hint) from None
        self._connection = connection
        return connection

    def begin(self, writes: bool) -> None:
        """Begin a transaction. On SQLite one that `writes` takes its lock now: later there is no waiting for it."""
        self._do("BEGIN IMMEDIATE" if writes and self._kind == "sqlite" else "BEGIN", {}, writes=False)

    def commit(self, writes: bool = True) -> None:
        """End a transaction."""
        self._do("COMMIT", {}, writes=writes)

    def rollback(self) -> None:
        """Give a transaction up; a connection that cannot even do that is given up too."""
        if self._connection is None:
            return
        try:
            self._connection.exec_driver_sql("ROLLBACK")
        except Exception:  # SQLite has none after some errors, a lost connection never
            if self._kind != "sqlite":
                self.close()

    def execute(self, statement: Statement, values: Mapping[str, object], writes: bool | None = None) -> Reply:
        """Do one statement and fetch all of its answer. `writes`: whether it or what went before changes anything."""
        known = self._texts.get(statement.text)
        if known is None:
            known = self._texts[statement.text] = self._prepared(statement)
        return self._do(known, values, statement.writes if writes is None else writes)

    def close(self) -> None:
        """Let the connection go."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection.close()

    @staticmethod
    def _prepared(statement: Statement) -> Any:
        from sqlalchemy import text  # noqa: PLC0415

        return text(statement.text) if statement.names else statement.plain

    def _do(self, what: Any, values: Mapping[str, object], writes: bool) -> Reply:
        from sqlalchemy.exc import DBAPIError, SQLAlchemyError  # noqa: PLC0415

        connection = self._connection or self.connect()
        try:
            if self._kind == "sqlite":
                watch_clock(connection, self._timeout)
            return _reply(connection, what, values)
        except DBAPIError as problem:
            if problem.connection_invalidated:
                self.close()
            raise verdict_of_error(problem, writes) from None
        except SQLAlchemyError as problem:
            raise Failed(f"the statement cannot be asked: {problem}"[:400], "one that the driver takes") from None


def _reply(connection: Connection, what: Any, values: Mapping[str, object]) -> Reply:
    if isinstance(what, str):
        result = connection.exec_driver_sql(what, execution_options={"no_parameters": True})
    else:
        result = connection.execute(what, dict(values))
    if not result.returns_rows:
        return Reply((), (), result.rowcount)
    rows = result.fetchmany(MOST_ROWS + 1)
    if len(rows) > MOST_ROWS:
        result.close()
        raise Failed(f"the answer has more than {MOST_ROWS} rows", "fewer", "narrow the query")
    return Reply(tuple(result.keys()), rows, len(rows))
