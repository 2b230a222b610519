"""Exported tables as ROOT files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from pileup.builtin.analysis.packages import require
from pileup.plugin import Exporter, ExportTable

require("uproot", "awkward")

AT_ONCE = 20_000
"""Rows in memory: a basket of each branch, a cluster of the RNTuple."""
INTEGERS = {
    "TINYINT": "int8",
    "SMALLINT": "int16",
    "INTEGER": "int32",
    "BIGINT": "int64",
    "UTINYINT": "uint8",
    "USMALLINT": "uint16",
    "UINTEGER": "uint32",
    "UBIGINT": "uint64",
}
"""Types of DuckDB and of numpy."""
OTHERS = {"DOUBLE": "float64", "FLOAT": "float32", "BOOLEAN": "bool"}
TEXT = "string"


class Root(Exporter):
    """ROOT files: each has its table as TTree and as RNTuple.

    `operations.root` has the TTree `operations` and the RNTuple `operations_rntuple`, with the same columns and rows.
    uproot, RDataFrame and any ROOT since 6.36 read both; an older ROOT reads the TTree. A table without rows has no
    RNTuple, since RDataFrame of ROOT 6.40 ends with a crash on it. What is not known is NaN, or an empty text, or the
    lowest number of an integer column (-9223372036854775808). A column `copy.buffer` is called `copy_buffer`. Needs
    `pip install 'pileup[analysis]'`.
    """

    name = "root"
    suffix = "root"

    def write(self, table: ExportTable, path: Path) -> None:
        """Write a table, in bounded memory."""
        import uproot  # noqa: PLC0415  `pileup list` loads every plug-in

        types = {name: _type(kind) for name, kind in zip(_names(table.columns), table.columns.values(), strict=True)}
        with uproot.recreate(path, compression=uproot.ZSTD(5)) as file:
            writers = [file.mktree(table.name, types)]
            for rows in _batches(table):
                if len(writers) == 1:
                    writers.append(file.mkrntuple(f"{table.name}_rntuple", types))
                columns = dict(zip(types, map(_column, types.values(), zip(*rows, strict=True)), strict=True))
                for writer in writers:
                    writer.extend(columns)


def _batches(table: ExportTable) -> Iterator[Sequence[tuple[Any, ...]]]:
    rows = table.rows()
    while batch := list(islice(rows, AT_ONCE)):
        yield batch


def _names(columns: Mapping[str, str]) -> Iterator[str]:
    """Yield a name for each column that C++ can have, each another one."""
    taken: set[str] = set()
    for column in columns:
        base = re.sub(r"\W|^(?=\d)", "_", column, flags=re.ASCII)
        name = next(each for each in (base, *(f"{base}_{n}" for n in range(2, len(columns) + 2))) if each not in taken)
        taken.add(name)
        yield name


def _type(kind: str) -> str:
    return INTEGERS.get(kind) or OTHERS.get(kind) or TEXT


def _column(kind: str, values: Sequence[Any]) -> Any:
    """Return the values of a column as an array."""
    import awkward  # noqa: PLC0415
    import numpy  # noqa: PLC0415

    if kind == TEXT:
        return awkward.Array(["" if value is None else str(value) for value in values])
    if kind in INTEGERS.values():
        missing: Any = numpy.iinfo(kind).min
    else:
        missing = False if kind == "bool" else float("nan")
    return numpy.array([missing if value is None else value for value in values], kind)
