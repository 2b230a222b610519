"""Exported tables as csv."""

from __future__ import annotations

from pathlib import Path

from pileup.plugin import Exporter, ExportTable


class Csv(Exporter):
    """Comma-separated values, with a line of names.

    For spreadsheets and scripts. What is not known is empty.
    """

    name = "csv"
    suffix = "csv"

    def write(self, table: ExportTable, path: Path) -> None:
        """Write a table."""
        table.copy(path, "FORMAT csv, HEADER true")
