"""Raw tables to Parquet (DuckDB, Parquet V2, zstd). The raw tables go only when the Parquet is complete on the disk."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pileup.record import operations, samples
from pileup.record.parts import Parts
from pileup.record.tables import TableReader

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

IN_MEMORY = 16 << 20
"""Raw tables up to this size, bytes, are converted in memory; larger ones by way of a database file."""
OPTIONS = "FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd"


def convert_operations(parts: Parts, info: dict[str, Any]) -> None:
    """Write the raw tables of operations as Parquet, then remove them."""
    parts.tidy()
    tables = parts.tables()
    if not tables:
        return
    parquet = parts.parquet(tables)
    size = sum(path.stat().st_size for path in tables)
    with _database(parquet, in_memory=size <= IN_MEMORY) as connection:
        operations.load(connection, tables, info)
        _write(connection, operations.LOADED, parquet)
    parts.remove(tables)


def convert_samples(parts: Parts) -> None:
    """Write the raw tables of samples as Parquet, then remove them."""
    parts.tidy()
    tables = parts.tables()
    if not tables:
        return
    parquet = parts.parquet(tables)
    with _database(parquet, in_memory=True) as connection:
        samples.load(connection, [TableReader(path, samples.COLUMNS) for path in tables])
        _write(connection, "samples", parquet)
    parts.remove(tables)


@contextmanager
def _database(parquet: Path, in_memory: bool) -> Iterator[DuckDBPyConnection]:
    """Give a connection for one conversion; its files stand beside the Parquet file and go at the end."""
    path = parquet.with_suffix(".duckdb")
    _remove_database(path)
    connection = operations.connect(":memory:" if in_memory else str(path), loads=True)
    try:
        yield connection
    finally:
        connection.close()
        _remove_database(path)


def _remove_database(path: Path) -> None:
    """Remove a database with all that stands beside it, also what a crash left."""
    for left in (path, path.with_suffix(".duckdb.wal")):
        left.unlink(missing_ok=True)
    shutil.rmtree(path.with_suffix(".duckdb.spill"), ignore_errors=True)


def _write(connection: DuckDBPyConnection, table: str, parquet: Path) -> None:
    part = parquet.with_suffix(".part")
    connection.execute(f"COPY {table} TO {operations.quoted(part)} ({OPTIONS})")
    with part.open("rb") as file:
        os.fsync(file.fileno())
    part.replace(parquet)
