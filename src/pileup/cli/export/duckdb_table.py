"""A table of DuckDB as exporters get it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from duckdb import DuckDBPyConnection

from pileup.plugin import ExportTable

AT_ONCE = 10_000
"""Rows that are in memory."""
NAME, TEXT = '"', "'"
"""What names and texts are quoted by."""


class DuckTable(ExportTable):
    """A table or view of a connection, by one of our own names; `which`: only rows with these values of columns."""

    def __init__(self, connection: DuckDBPyConnection, name: str, which: dict[str, str] | None = None) -> None:
        self.name = name
        self._connection = connection
        described = connection.execute(f"DESCRIBE {name}").fetchall()
        self.columns = {str(row[0]): str(row[1]) for row in described}
        same = [f"{_quoted(column, NAME)} = {_quoted(text, TEXT)}" for column, text in (which or {}).items()]
        self._query = " WHERE ".join(filter(None, (f"SELECT * FROM {name}", " AND ".join(same))))  # noqa: S608  ours

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows."""
        found = self._connection.execute(self._query)
        while rows := found.fetchmany(AT_ONCE):
            yield from rows

    def copy(self, path: Path, form: str) -> None:
        """Let DuckDB write it."""
        self._connection.execute(f"COPY ({self._query}) TO {_quoted(str(path), TEXT)} ({form})")


def parts(
    connection: DuckDBPyConnection, name: str, columns: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], DuckTable]]:
    """Yield the values of columns of text that occur together in a table, with the rows that have them."""
    told = ", ".join(_quoted(column, NAME) for column in columns)
    query = f"SELECT {told} FROM {name} GROUP BY ALL ORDER BY min(rowid)"  # noqa: S608  our own names
    for values in connection.execute(query).fetchall():
        words = tuple(map(str, values))
        yield words, DuckTable(connection, name, dict(zip(columns, words, strict=True)))


def _quoted(text: str, sign: str) -> str:
    return f"{sign}{text.replace(sign, sign * 2)}{sign}"
