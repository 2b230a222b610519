"""The operations of a run for queries: a DuckDB connection with a view, or numpy arrays."""

from __future__ import annotations

import os
import secrets
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pileup.model.errors import DamagedRecord
from pileup.model.manifest import Manifest
from pileup.record import older, words
from pileup.record.parts import Parts
from pileup.record.settling import Spans, settled
from pileup.record.tables import ROWS, Rows, TableReader
from pileup.record.words import Columns, Words, apart, used

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CHUNK = 122_880
"""Rows handled at once: what DuckDB makes a row group of by itself."""
MEMORY = "128MB"
"""What DuckDB may take to load raw rows; beyond it spills to the disk. One thread: every other has its own buffers."""
KEPT = 140_000
"""Numbers up to this one stay known for the whole table: the recorder remembers 65,536 texts, beside as many names of
operations at most. It gives numbers beyond to texts that it does not remember: the rows that use them come right after,
but for names of operations, which stay known too, however long they are not used."""
HANDS = 2
"""Threads that convert: the load is over, and each takes the memory of a chunk and of a connection."""
TEXTS = words.TEXTS[:3]
"""Columns with numbers of texts."""
ROW = np.dtype(
    [
        *((name, "<u8") for name in ("id", "parent")),
        *((name, "<i8") for name in ("intended", "start", "first_byte", "end")),
        ("bytes", "<u8"),
        *((name, "<u4") for name in ("key", "error", "operation", "case", "client", "calls")),
        *((name, "<u2") for name in ("target", "place")),
        *((name, "u1") for name in ("side", "phase", "outcome", "cause")),
    ]
)
"""Columns of the raw table, as the recorder writes it."""
OLDER = np.dtype([(name, ROW[name]) for name in ROW.names or () if name != "cause"])
"""Those that every raw table has: records of before 0.2 have no cause."""
LATER = ("cause", "labels", "monitor")
"""Columns that older Parquet files do not have."""
COLUMNS = tuple(name for name in words.COLUMNS if name not in LATER)
CAUSED = words.COLUMNS
"""Columns of the view `caused`, and of Parquet: those of `operations`, and why something did not pass."""
_TYPES = {"id": "UBIGINT", "parent": "UBIGINT", "bytes": "UBIGINT", "case_id": "UINTEGER", "client": "UINTEGER"} | {
    "calls": "UINTEGER",
    "place": "USMALLINT",
    **dict.fromkeys(("intended", "start", "first_byte", "end"), "BIGINT"),
}
LOADED = "loaded"
"""Table of raw rows in a connection."""
SERVED = "served"
"""The same of what monitors recorded."""
_NAMES = ", ".join(f'"{name}"' for name in CAUSED)
BROKEN_OFF = "broken-off"
"""Phase of an attempt that was broken off and made again: it counts nowhere."""
OFFLINE = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}


def connect(path: str = ":memory:", loads: bool = False) -> DuckDBPyConnection:
    """Return a connection that never goes to the network; `loads`: it takes raw rows, in bounded memory."""
    import duckdb  # noqa: PLC0415  slow to import, and not every use of a record needs it

    bounds = {"memory_limit": MEMORY, "threads": "1"} if loads else {}
    connection = duckdb.connect(path, config={**OFFLINE, **bounds, "temp_directory": str(_spill(path))})
    with suppress(duckdb.InvalidInputException):  # in a notebook without widgets, which has none
        connection.execute("SET enable_progress_bar = false")  # who prints is the command line
    return connection


def _spill(path: str) -> Path:
    """Return a folder for one connection alone: DuckDB makes it when memory is short, and removes it at the end.

    One of a fixed name would belong to the first user of the machine.
    """
    if path != ":memory:":
        return Path(f"{path}.spill")
    return Path(tempfile.gettempdir()) / f"pileup-{os.getpid()}-{secrets.token_hex(4)}.spill"


@contextmanager
def opened(connection: DuckDBPyConnection | None) -> Iterator[DuckDBPyConnection]:
    """Give a connection that is there already, else one for a moment: each takes 10 ms to open."""
    if connection is not None:
        yield connection
        return
    with connect() as made:
        yield made


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn DuckDB's errors for a Parquet file that it cannot read into a DamagedRecord."""
    import duckdb  # noqa: PLC0415  as above

    try:
        yield
    except duckdb.Error as problem:
        told = str(problem).splitlines()[0]
        raise DamagedRecord(f"{path} cannot be read: {told}", "a Parquet file that pileup wrote") from problem


def quoted(path: Path) -> str:
    """Return a path as a SQL text."""
    return "'" + str(path).replace("'", "''") + "'"


class Operations:
    """Iterations and operations of a run folder, converted or not."""

    def __init__(self, parts: Parts, served: Parts, run: Manifest, spans: Callable[[], Spans]) -> None:
        self._parts = parts
        self._served = served
        self._run = run
        self._spans = spans

    def connect(self) -> DuckDBPyConnection:
        """Return a connection with the views `operations` and `caused`, columns as in docs/record.md.

        The caller closes it.
        """
        connection = self.bare()
        self.add_views(connection)
        return connection

    def bare(self) -> DuckDBPyConnection:
        """Return a connection that `add_views` may be called for. The caller closes it."""
        return connect(loads=bool(self._parts.tables() or self._served.tables()))

    def add_views(self, connection: DuckDBPyConnection) -> None:
        """Give a connection the views `operations` and `caused`. Raises DamagedRecord."""
        tables, parquets = self._parts.tables(), self._parts.parquets()
        served = self._served.tables()
        sources = [caused(connection, path) for path in (*parquets, *self._served.parquets())]
        if tables or not parquets:
            load(connection, tables, self._run)
            sources.append(f"SELECT {_NAMES} FROM {LOADED}")  # noqa: S608
        if served:
            clients = " UNION ALL ".join(sources)
            load(connection, served, self._run, SERVED)
            connection.execute(f"CREATE TABLE settled AS {settled(connection, SERVED, clients, self._spans())}")
            sources.append(f"SELECT {_NAMES} FROM settled")  # noqa: S608  names of ours
        rows = " UNION ALL ".join(sources)
        connection.execute(f"CREATE VIEW caused AS SELECT *{self._replaced()} FROM ({rows})")  # noqa: S608
        connection.execute(f"CREATE VIEW operations AS SELECT * EXCLUDE ({', '.join(LATER)}) FROM caused")  # noqa: S608

    def _replaced(self) -> str:
        """SQL that gives the rows of attempts that were broken off, and made again, a phase of their own."""
        void = self._run.void
        if not void:
            return ""
        pairs = ", ".join(map(str, void))
        return f" REPLACE (CASE WHEN (case_id, place) IN ({pairs}) THEN '{BROKEN_OFF}' ELSE phase END AS phase)"

    def arrays(self, *columns: str, where: str = "TRUE") -> dict[str, NDArray[Any]]:
        """Return columns as numpy arrays (all when none are named) of the rows where a SQL condition holds."""
        names = ", ".join(f'"{name}"' for name in columns or COLUMNS)
        with self.connect() as connection:
            found = connection.execute(f"SELECT {names} FROM caused WHERE {where}").fetchnumpy()  # noqa: S608
        return {name: np.asarray(array) for name, array in found.items()}

    def rows(self) -> Iterator[tuple[Rows, dict[int, str]]]:
        """Yield the raw rows in chunks with their texts, in the order of the tables; nothing when converted."""
        for path in self._parts.tables():
            yield from chunks(TableReader(path, OLDER))


def caused(connection: DuckDBPyConnection, path: Path) -> str:
    """Return SQL for the rows of a Parquet file with their causes. Raises DamagedRecord when it cannot be read."""
    rows = f"SELECT * FROM read_parquet({quoted(path)})"  # noqa: S608
    with readable(path):
        columns = [row[0] for row in connection.execute(f"DESCRIBE {rows}").fetchall()]
    missing = [name for name in COLUMNS if name not in columns]
    if missing:
        raise DamagedRecord(f"{path} has no column {missing[0]!r}", "operations as pileup writes them")
    absent = {"cause": older.CAUSE, "labels": "''", "monitor": "''"}
    told = [f'"{name}"' if name in columns else f'{absent[name]} AS "{name}"' for name in CAUSED]
    return f"SELECT {', '.join(told)} FROM read_parquet({quoted(path)})"  # noqa: S608  names of ours


def chunks(reader: TableReader, most: int = CHUNK) -> Iterator[tuple[Rows, dict[int, str]]]:
    """Yield the rows of an operations table in chunks of about `most` rows, each with the texts that it names."""
    texts: dict[int, str] = {0: ""}
    names: set[int] = set()
    waiting: list[Rows] = []
    count = 0
    for block in reader.blocks():
        if block.kind != ROWS:
            texts.update((number, text.decode(errors="replace")) for number, text in reader.strings(block))
            continue
        waiting.append(reader.rows(block))
        count += block.count
        if count >= most:
            crowded = len(texts) > 2 * KEPT
            if crowded:
                names = names or _names(reader)
                for rows in waiting:  # of a table that grows
                    names.update(np.unique(rows["operation"]).tolist())
                del rows
            yield _together(waiting), texts  # not held here while the next ones are put together
            if crowded:
                texts = _still_known(texts, names)
            count = 0
    if waiting:
        yield _together(waiting), texts


def _together(blocks: list[Rows]) -> Rows:
    """Return the rows of blocks as one array, and empty the list. Bytes are copied; numpy would copy row by row."""
    kind = blocks[0].dtype
    made = np.concatenate([block.view(np.uint8) for block in blocks])
    blocks.clear()
    return made.view(kind)


def _names(reader: TableReader) -> set[int]:
    """Return the numbers of all names of operations in a table: some are given long before the first row has them."""
    found: set[int] = set()
    for block in reader.blocks():
        if block.kind == ROWS:
            found.update(np.unique(reader.rows(block)["operation"]).tolist())
    return found


def _still_known(texts: dict[int, str], names: set[int]) -> dict[int, str]:
    recent = int(max(texts)) - KEPT
    return {number: text for number, text in texts.items() if number <= KEPT or number in names or number > recent}


def load(connection: DuckDBPyConnection, tables: list[Path], run: Manifest, into: str = LOADED) -> None:
    """Make a table in a connection out of raw tables, chunk by chunk."""
    create(connection, into)
    told = Words(connection, run)
    for path in tables:
        for rows, texts in chunks(TableReader(path, OLDER)):
            columns = apart(rows)
            with told.query(columns, used(columns, texts)) as query:
                connection.execute(f"INSERT INTO {into} BY NAME {query}")


def create(connection: DuckDBPyConnection, table: str = LOADED) -> None:
    """Make a table of operations, without rows."""
    columns = ", ".join(f'"{name}" {_TYPES.get(name, "VARCHAR")}' for name in CAUSED)
    connection.execute(f"CREATE TABLE {table} ({columns})")


def pieces(tables: list[Path], run: Manifest, folder: Path, options: str) -> list[Path]:
    """Write raw tables as Parquet files of a chunk each, in this order; memory holds a few chunks.

    `options`: how COPY writes them.
    """
    from concurrent.futures import ThreadPoolExecutor, as_completed  # noqa: PLC0415  who reads a record needs no threads

    source = Source(tables)

    def write() -> list[Path]:
        made: list[Path] = []
        with connect(loads=True) as connection:
            told = Words(connection, run)
            while (taken := source.take()) is not None:
                number, columns, texts = taken
                made.append(folder / f"{number}.parquet")
                with told.query(columns, texts) as query:
                    group = f"ROW_GROUP_SIZE {2 * CHUNK}"  # one for each chunk
                    connection.execute(f"COPY ({query}) TO {quoted(made[-1])} ({options}, {group})")
                del taken, columns, texts  # and not held while the next ones are put together
        return made

    with ThreadPoolExecutor(HANDS) as pool:
        hands = [pool.submit(write) for _ in range(HANDS)]
        try:
            written = [path for hand in as_completed(hands) for path in hand.result()]
        finally:
            source.stop()  # when one fails, or the user stops it, the others need not go on
    return sorted(written, key=lambda path: int(path.stem))


class Source:
    """Gives the chunks of raw tables to several threads."""

    def __init__(self, tables: Iterable[Path]) -> None:
        self._lock = threading.Lock()
        self._chunks = (chunk for path in tables for chunk in chunks(TableReader(path, OLDER)))
        self._taken = 0

    def take(self) -> tuple[int, Columns, dict[int, str]] | None:
        """Return the number of the next chunk, its columns and their texts; None when there is no more."""
        with self._lock:
            chunk = next(self._chunks, None)
            if chunk is None:
                return None
            self._taken += 1
            rows, texts = chunk
            columns = apart(rows)
            return self._taken, columns, used(columns, texts)

    def stop(self) -> None:
        """Give no more."""
        with self._lock:
            self._chunks.close()
