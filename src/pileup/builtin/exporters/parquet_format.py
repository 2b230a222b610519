"""Exported tables as parquet."""

from __future__ import annotations

from pathlib import Path

from pileup.plugin import Exporter, ExportTable


class Parquet(Exporter):
    """Parquet, compressed with zstd.

    For DuckDB, pandas, Polars, Spark; types and missing values are kept.
    """

    name = "parquet"
    suffix = "parquet"

    def write(self, table: ExportTable, path: Path) -> None:
        """Write a table."""
        table.copy(path, "FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd")
