"""Raw tables to Parquet (DuckDB, Parquet V2, zstd). The raw tables go only when the Parquet is complete on the disk."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pileup.model.manifest import Manifest
from pileup.record import files, operations, origin, row_groups, samples, sums
from pileup.record.joining import Clock, clocks
from pileup.record.parts import Parts
from pileup.record.settling import Spans, settled
from pileup.record.tables import TableReader

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

IN_MEMORY = 16 << 20
"""Raw tables up to this size, bytes, are converted in memory; larger ones by way of a file for each chunk."""
OPTIONS = "FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd"


def options(run: Manifest) -> str:
    """Return how a Parquet file is written that belongs to a run: with what says so (`origin`)."""
    told = origin.of_run(run.nonce)
    return f"{OPTIONS}, KV_METADATA {{{origin.KEY}: '{told}'}}" if told else OPTIONS


def convert_operations(parts: Parts, run: Manifest) -> None:
    """Write the raw tables of operations as Parquet, then remove them."""
    parts.tidy()
    tables = parts.tables()
    if not tables:
        return
    parquet = parts.parquet(tables)
    size = sum(path.stat().st_size for path in tables)
    with _connection(parquet) as connection:
        if size <= IN_MEMORY:
            operations.load(connection, tables, run)
            _write(connection, operations.LOADED, parquet, run)
        else:
            _in_pieces(connection, tables, run, parquet)
    parts.remove(tables)


def _in_pieces(connection: DuckDBPyConnection, tables: list[Path], run: Manifest, parquet: Path) -> None:
    """Write each chunk of raw rows alone, as a file with the row group that it will be, then join the files."""
    folder = _pieces(parquet)
    folder.mkdir()
    pieces = operations.pieces(tables, run, folder, options(run))
    if not pieces:  # there are only texts
        operations.create(connection)
        _write(connection, operations.LOADED, parquet, run)
        return
    try:
        with _part(parquet).open("wb") as file:
            row_groups.join(pieces, file)
    except row_groups.NotAlike:
        named = ", ".join(map(operations.quoted, pieces))
        _write(connection, f"(SELECT * FROM read_parquet([{named}]))", parquet, run)  # noqa: S608
    else:
        _complete(parquet)


def convert_served(parts: Parts, clients: Parts, run: Manifest, spans: Callable[[], Spans]) -> list[Clock]:
    """Write the raw tables of what monitors recorded as Parquet, each row with its case; then remove them.

    The operations of clients must have been converted. Return the clocks that were off.
    """
    parts.tidy()
    tables = parts.tables()
    if not tables:
        return []
    parquet = parts.parquet(tables)
    with _connection(parquet) as connection:
        operations.load(connection, tables, run, operations.SERVED)
        known = [operations.caused(connection, path) for path in clients.parquets()]
        if not known:
            operations.create(connection)
            known = [f"SELECT * FROM {operations.LOADED}"]  # noqa: S608  a name of ours
        query = settled(connection, operations.SERVED, " UNION ALL ".join(known), spans())
        _write(connection, f"({query})", parquet, run)
        found = clocks(connection)
    parts.remove(tables)
    return found


def convert_samples(parts: Parts, run: Manifest) -> None:
    """Write the raw tables of samples as Parquet, then remove them."""
    parts.tidy()
    tables = parts.tables()
    if not tables:
        return
    parquet = parts.parquet(tables)
    with _connection(parquet) as connection:
        samples.load(connection, [TableReader(path, samples.NEEDED) for path in tables])
        _write(connection, "samples", parquet, run)
    parts.remove(tables)


@contextmanager
def _connection(parquet: Path) -> Iterator[DuckDBPyConnection]:
    """Give a connection for one conversion; what it puts beside the Parquet file goes at the end."""
    _tidy(parquet)
    connection = operations.connect(loads=True)
    try:
        yield connection
    finally:
        connection.close()
        _tidy(parquet)


def _pieces(parquet: Path) -> Path:
    return parquet.with_suffix(".pieces")


def _tidy(parquet: Path) -> None:
    """Remove what conversions leave beside a Parquet file when they crash."""
    shutil.rmtree(_pieces(parquet), ignore_errors=True)


def _write(connection: DuckDBPyConnection, table: str, parquet: Path, run: Manifest) -> None:
    part = _part(parquet)
    connection.execute(f"COPY {table} TO {operations.quoted(part)} ({options(run)})")
    _complete(parquet)


def _part(parquet: Path) -> Path:
    """Return where a Parquet file is written; nothing is there."""
    part = parquet.with_suffix(".part")
    part.unlink(missing_ok=True)  # whatever it is: written is a new file
    return part


def _complete(parquet: Path) -> None:
    """Put a Parquet file that is written in its place, once it is on the disk."""
    part = parquet.with_suffix(".part")
    with part.open("rb") as file:
        os.fsync(file.fileno())
    part.replace(parquet)
    files.sync(parquet.parent)
    sums.add(parquet)
