"""Rows of a plain table into DuckDB, in bounded memory."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from pileup.stats.tables import Table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NONE = "\\N"
"""The text for a missing value between Python and DuckDB, since an empty text is a text."""


def load(connection: DuckDBPyConnection, table: Table, folder: Path) -> None:
    """Make a table out of rows by way of a CSV file: bounded in memory; `folder` takes it meanwhile."""
    passing = folder / f".{table.name}.rows.part"
    with passing.open("w", newline="", encoding="utf-8", errors="replace") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.columns)
        writer.writerows([NONE if value is None else value for value in row] for row in table.rows)
    columns = ", ".join(f"{_quoted(name)}: {_quoted(kind)}" for name, kind in table.columns.items())
    connection.execute(
        f"""CREATE TABLE {table.name} AS SELECT * FROM read_csv({_quoted(str(passing))}, header = true, delim = ',',
        quote = '"', escape = '"', nullstr = '{NONE}', parallel = false, max_line_size = 100000000,
        columns = {{{columns}}})"""  # noqa: S608  names and types are ours
    )
    passing.unlink()


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
