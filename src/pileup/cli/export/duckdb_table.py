"""A table of DuckDB as exporters get it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from duckdb import DuckDBPyConnection

from pileup.plugin import ExportTable

AT_ONCE = 10_000
"""Rows that are in memory."""


class DuckTable(ExportTable):
    """A table or view of a connection, by one of our own names."""

    def __init__(self, connection: DuckDBPyConnection, name: str) -> None:
        self.name = name
        self._connection = connection
        described = connection.execute(f"DESCRIBE {name}").fetchall()
        self.columns = {str(row[0]): str(row[1]) for row in described}

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows."""
        found = self._connection.execute(f"SELECT * FROM {self.name}")  # noqa: S608  our own names
        while rows := found.fetchmany(AT_ONCE):
            yield from rows

    def copy(self, path: Path, form: str) -> None:
        """Let DuckDB write it."""
        text = str(path).replace("'", "''")
        self._connection.execute(f"COPY (SELECT * FROM {self.name}) TO '{text}' ({form})")  # noqa: S608  our own names
