"""The intended starts of a case in a record: found, counted, and written in order for a load that replays them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from pileup.model.errors import DamagedRecord, NotARun, RecordError
from pileup.model.loads.starts import Starts
from pileup.model.units import counted
from pileup.record import operations
from pileup.record.folder import RunFolder

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PRESSED = "parent = 0 AND side = 'client' AND phase IN ('ramp', 'warm-up', 'measure')"
"""Iterations of loads: neither preparation nor clean-up, nor attempts that were broken off."""
COLUMNS = ("intended", "parent", "side", "phase", "case", "test")
CHUNK = 500_000
"""Starts written at once."""
MEMORY = "128MB"
"""What DuckDB may take to put starts in order; beyond it spills to the disk."""
NAMED = 10
"""Cases named in a message, at most."""


@dataclass(frozen=True, slots=True)
class ReplayStarts:
    """What of a case is to be replayed. Times in ns after the begin of the replay."""

    test: str | None
    """Name of a test or a case; None: the only case that there is."""
    speed: float = 1.0
    warm_up: int = 0
    end: int | None = None
    """Only what is due before."""
    most: int | None = None
    """Only so many."""


def find(path: Path, wanted: ReplayStarts) -> Starts:
    """Return what a load replays of the record at `path`: a run folder, or a Parquet file of operations.

    Raises RecordError when there is no record, no such test, or nothing in it to replay.
    """
    with _opened(path) as connection:
        case, recorded = _chosen(connection, path, wanted.test)
        limit = "" if wanted.most is None else f"ORDER BY intended LIMIT {wanted.most:d}"
        found = connection.execute(
            f"""WITH chosen AS (SELECT intended FROM operations WHERE {PRESSED} AND "case" = $case {limit}),
            due AS (SELECT round((intended - (SELECT min(intended) FROM chosen)) / $speed)::BIGINT AS due FROM chosen)
            SELECT count(*), max(due), count(*) FILTER (due >= $warm_up), min(due) FILTER (due >= $warm_up)
            FROM due WHERE due < $end""",  # noqa: S608  names and numbers of ours
            {
                "case": case,
                "speed": wanted.speed,
                "warm_up": wanted.warm_up,
                "end": 2**63 - 1 if wanted.end is None else wanted.end,
            },
        ).fetchone()
    count, last, measured, settled = found or (0, 0, 0, 0)
    if not measured:
        told = f"the warm-up contains all that is replayed of {case} in {path}: {counted(count, 'start')}"
        raise RecordError(told, "starts behind it", "a shorter warm_up, or a lower speed")
    return Starts(str(path), case, recorded, count, last, measured, settled)


def write(starts: Starts, file: IO[bytes]) -> str:
    """Write the starts as i64, little endian, ns after the first as recorded, in order; return their digest.

    Memory is bounded whatever their number. Raises RecordError when the record is not any more what was planned with.
    """
    digest = blake2b(digest_size=16)
    with _opened(Path(starts.source)) as connection:
        case, recorded = _chosen(connection, Path(starts.source), starts.case)
        if recorded != starts.recorded:
            told = f"{starts.source} had {starts.recorded} starts of {case} and has {recorded} now"
            raise RecordError(told, "a record that has ended", "replay a run that has ended")
        connection.execute(
            f"""CREATE TEMP TABLE starts AS SELECT intended FROM operations
            WHERE {PRESSED} AND "case" = ? ORDER BY intended LIMIT {starts.count:d}""",  # noqa: S608  as above
            [case],
        )
        first = None
        for begin in range(0, starts.count, CHUNK):
            found = connection.execute(
                "SELECT intended FROM starts WHERE rowid >= ? AND rowid < ?", [begin, begin + CHUNK]
            ).fetchnumpy()["intended"]
            first = found[0] if first is None else first
            data = (np.asarray(found) - first).astype("<i8").tobytes()
            digest.update(data)
            file.write(data)
    return digest.hexdigest()


def _chosen(connection: DuckDBPyConnection, path: Path, test: str | None) -> tuple[str, int]:
    """Return the name of the case that is meant, and how many starts it has."""
    rows = connection.execute(
        f'SELECT "case", any_value(test), count(*) FROM operations WHERE {PRESSED} GROUP BY "case" ORDER BY 1'  # noqa: S608  as above
    ).fetchall()
    if not rows:
        raise NotARun(f"{path} has no iteration of a load", "a record of a run with a load")
    found = [row for row in rows if test in (None, row[0])] or [row for row in rows if test == row[1]]
    if len(found) == 1:
        return str(found[0][0]), int(found[0][2])
    names = [str(row[0]) for row in found or rows]
    listed = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
    if found:
        told = f"{path} has {counted(len(found), 'case')}" + (f" of the test {test!r}" if test else "")
        raise NotARun(told, f"`test` with one of {listed}")
    raise NotARun(f"{path} has no test and no case {test!r} with a load", f"one of {listed}")


@contextmanager
def _opened(path: Path) -> Iterator[DuckDBPyConnection]:
    """Give a connection with the view `operations` of a record, in bounded memory."""
    connection = _parquet(path) if path.is_file() else RunFolder.open(path).operations().connect()
    try:
        connection.execute(f"SET memory_limit = '{MEMORY}'")
        connection.execute("SET threads = 1")  # every other one has its own buffers
        with operations.readable(path):
            yield connection
    finally:
        connection.close()


def _parquet(path: Path) -> DuckDBPyConnection:
    connection = operations.connect()
    try:
        with operations.readable(path):
            source = f"read_parquet({operations.quoted(path)})"
            connection.execute(f"CREATE VIEW operations AS SELECT * FROM {source}")  # noqa: S608  a quoted path
            names = {row[0] for row in connection.execute("DESCRIBE operations").fetchall()}
        missing = [name for name in COLUMNS if name not in names]
        if missing:
            raise DamagedRecord(f"{path} has no column {missing[0]!r}", "operations as pileup writes them")
    except BaseException:
        connection.close()
        raise
    return connection
