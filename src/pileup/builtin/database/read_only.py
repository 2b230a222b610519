"""A database that is asked, by one connection that may only read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pileup.builtin.database.source import Login, Source, bound_time, watch_clock, words_of
from pileup.plugin import PluginError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine


class Database(Source):
    """One connection to a database, made when it is first asked and again when it was lost. For one thread."""

    def __init__(self, url: str, login: Login, timeout: int) -> None:
        super().__init__(url, login, timeout)
        self._engine: Engine | None = None

    def open(self) -> None:
        """Load the driver. Raises PluginError when it is not installed, with the command that installs it."""
        self._engine = self.engine()

    def close(self) -> None:
        """Close the connection."""
        if self._engine is not None:
            self._engine.dispose()

    def ask(self, query: str, most: int) -> tuple[list[str], list[Sequence[Any]]]:
        """Return the names of the columns and the rows of an answer. Raises PluginError."""
        engine = self._engine = self._engine or self.engine()
        from sqlalchemy.exc import DBAPIError, SQLAlchemyError  # noqa: PLC0415  not everybody has it

        try:
            with engine.connect() as connection:
                self._prepare(connection)
                return self._answer(connection, query, most)
        except DBAPIError as problem:
            raise PluginError(f"the database refuses: {words_of(problem.orig)}"[:400]) from None
        except SQLAlchemyError as problem:
            raise PluginError(f"the database cannot be asked: {words_of(problem)}"[:400]) from None

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
            watch_clock(connection, self._timeout)
        elif not connection.info.get("prepared"):
            for statement in (*self._read_only(), *bound_time(connection, self._kind, self._timeout)):
                connection.exec_driver_sql(statement)
            connection.commit()
            connection.info["prepared"] = True

    def _read_only(self) -> tuple[str, ...]:
        if self._kind == "postgresql":
            locks = f"SET lock_timeout = {max(1, self._timeout // 10**6)}"
            return ("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", locks)
        return ("SET SESSION TRANSACTION READ ONLY",)
