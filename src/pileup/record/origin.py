"""The run of a table: each names its run, so that a table of another run is detected.

A raw table has it in its header, a Parquet file in its metadata. Old records have neither, and are trusted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pileup.model.errors import DamagedRecord
from pileup.record import operations
from pileup.record.tables import TableReader

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

KEY = "pileup_run"
"""Name of the metadata of a Parquet file."""
RAW = ("operations", "served", "frames", "samples", "audit")
CONVERTED = ("operations", "served", "samples")
"""Folders of tables."""


def of_run(nonce: str) -> str:
    """Return what the tables of a run say: of its nonce, which names its temporary folders, it says nothing."""
    return hashlib.sha256(f"tables of {nonce}".encode()).hexdigest()[:16] if nonce else ""


def foreign(run: Path, nonce: str, connection: DuckDBPyConnection | None = None) -> Iterator[str]:
    """Yield the tables in a run folder that say they are of another run, by their paths in it. Raises DamagedRecord.

    `connection` is used where there is one already.
    """
    known = of_run(nonce)
    if not known:
        return
    for name in RAW:
        for path in sorted((run / name).glob("*.table")):
            if TableReader(path).header.get("run", known) != known:
                yield path.relative_to(run).as_posix()
    found = [path for name in CONVERTED for path in sorted((run / name).glob("*.parquet"))]
    if not found:
        return
    with operations.opened(connection) as asked:
        for path in found:
            with operations.readable(path):
                query = (
                    f"SELECT decode(value) FROM parquet_kv_metadata({operations.quoted(path)}) WHERE decode(key) = ?"  # noqa: S608
                )
                (said,) = asked.execute(query, [KEY]).fetchone() or (known,)
            if said != known:
                yield path.relative_to(run).as_posix()


def check(run: Path, nonce: str, connection: DuckDBPyConnection | None = None) -> None:
    """Raise DamagedRecord when a table in a run folder is of another run."""
    for name in foreign(run, nonce, connection):
        hint = "restore the right one; `pileup verify` lists all problems"
        raise DamagedRecord(f"{run / name} is a table of another run", "those of this run", hint)
