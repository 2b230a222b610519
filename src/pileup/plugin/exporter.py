"""An exporter writes the tables of a record as files for other programs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar


class ExportTable(ABC):
    """A table to write. Times are ns since the epoch, durations ns, rates per second, sizes bytes."""

    name: str
    """As in docs/exports.md: operations, frames, cases, …"""
    columns: Mapping[str, str]
    """Name -> type, in the words of DuckDB: VARCHAR, BIGINT, DOUBLE, BOOLEAN, …"""

    @abstractmethod
    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows, in bounded memory; None stands for no value."""

    @abstractmethod
    def copy(self, path: Path, form: str) -> None:
        """Let DuckDB write it: `form` is the text in the brackets of COPY, e.g. "FORMAT csv, HEADER true"."""


class Exporter:
    """Base of all formats of `pileup export`. The docstring is the page of the format."""

    _framework: ClassVar[bool] = True
    name: ClassVar[str] = ""
    """Name under which it is registered: `pileup export RUN --to NAME`."""
    suffix: ClassVar[str] = ""
    """Suffix of its file names, without the dot."""
    tables: ClassVar[tuple[str, ...]] = ()
    """Names of the tables that it writes; none: all."""
    split: ClassVar[tuple[str, ...]] = ()
    """Text columns: it writes a file for all rows that have the same values in these."""

    @abstractmethod
    def write(self, table: ExportTable, path: Path) -> None:
        """Write one table into a new file. Raises OSError."""
