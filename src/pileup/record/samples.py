"""Samples of monitors in the record: one table file while running, then Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pileup.model.record import Sample, SampleRow
from pileup.record.tables import ROWS, Rows, TableReader

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CHUNK = 100_000
STRINGS = ("monitor", "metric", "unit", "labels", "host")
COLUMNS = np.dtype([("time", "<i8"), ("value", "<f8"), *((name, "<u4") for name in (*STRINGS, "iteration"))])
"""`iteration` is 0 where there is none, else one more than its number; records of before 0.4 have none."""
NEEDED = np.dtype([("time", "<i8"), ("value", "<f8"), *((name, "<u4") for name in STRINGS)])
MOST = 2**32 - 2
"""The largest number of an iteration that a row holds."""


def to_rows(samples: Sequence[SampleRow]) -> tuple[Rows, list[bytes]]:
    """Return the rows of samples, and the strings that they name by position."""
    numbers: dict[str, int] = {"": 0}
    rows = np.zeros(len(samples), COLUMNS)
    for place, row in enumerate(samples):
        sample = row.sample
        texts = (row.monitor, sample.metric, sample.unit, sample.labels, row.host)
        iteration = 0 if row.iteration is None or row.iteration > MOST else row.iteration + 1
        rows[place] = (row.time, sample.value, *(numbers.setdefault(text, len(numbers)) for text in texts), iteration)
    return rows, [text.encode(errors="replace") for text in numbers if text]


def read(reader: TableReader, position: int = 0) -> Iterator[tuple[SampleRow, int]]:
    """Yield each sample of a table with the position behind its block."""
    texts: dict[int, str] = {0: ""}
    for block in reader.blocks(position):
        if block.kind != ROWS:
            texts.update((number, text.decode(errors="replace")) for number, text in reader.strings(block))
            continue
        for time, value, monitor, metric, unit, labels, host, iteration in reader.rows(block).tolist():
            sample = Sample(texts.get(metric, ""), value, texts.get(unit, ""), texts.get(labels, ""))
            number = iteration - 1 if iteration else None
            yield SampleRow(time, texts.get(monitor, ""), texts.get(host, ""), sample, number), block.end
        texts = {0: ""}


def load(connection: DuckDBPyConnection, readers: list[TableReader]) -> None:
    """Make a table `samples` in a connection: time, value, monitor, metric, unit, labels, host, iteration."""
    texts = ", ".join(f"{name} VARCHAR" for name in STRINGS)
    connection.execute(f"CREATE TABLE samples (time BIGINT, value DOUBLE, {texts}, iteration BIGINT)")
    for reader in readers:
        waiting: list[SampleRow] = []
        for row, _ in read(reader):
            waiting.append(row)
            if len(waiting) >= CHUNK:
                _insert(connection, waiting)
                waiting = []
        if waiting:
            _insert(connection, waiting)


def _insert(connection: DuckDBPyConnection, rows: list[SampleRow]) -> None:
    columns: dict[str, NDArray[Any]] = {
        "time": np.array([row.time for row in rows], dtype=np.int64),
        "value": np.array([row.sample.value for row in rows], dtype=np.float64),
        "monitor": _texts(row.monitor for row in rows),
        "metric": _texts(row.sample.metric for row in rows),
        "unit": _texts(row.sample.unit for row in rows),
        "labels": _texts(row.sample.labels for row in rows),
        "host": _texts(row.host for row in rows),
        "iteration": np.array([-1 if row.iteration is None else row.iteration for row in rows], dtype=np.int64),
    }
    connection.register("_samples", columns)
    connection.execute("INSERT INTO samples SELECT * REPLACE (nullif(iteration, -1) AS iteration) FROM _samples")
    connection.unregister("_samples")


def _texts(texts: Iterable[str]) -> NDArray[Any]:
    return np.array(list(texts), dtype=object)


def read_parquet(connection: DuckDBPyConnection, parquet: str) -> Iterator[SampleRow]:
    """Yield each sample of a Parquet file (its path as SQL text) in the order in which they were written."""
    there = {name for name, *_ in connection.execute(f"DESCRIBE SELECT * FROM read_parquet({parquet})").fetchall()}  # noqa: S608
    names = ", ".join(("time", "value", *STRINGS, "iteration" if "iteration" in there else "NULL"))
    query = connection.execute(f"SELECT {names} FROM read_parquet({parquet})")  # noqa: S608
    while rows := query.fetchmany(CHUNK):
        for time, value, monitor, metric, unit, labels, host, iteration in rows:
            yield SampleRow(time, monitor, host, Sample(metric, value, unit, labels), iteration)
