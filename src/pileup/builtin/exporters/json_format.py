"""Exported tables as json."""

from __future__ import annotations

from pathlib import Path

from pileup.plugin import Exporter, ExportTable


class Json(Exporter):
    """JSON: one list of objects.

    What is not known is null.
    """

    name = "json"
    suffix = "json"

    def write(self, table: ExportTable, path: Path) -> None:
        """Write a table."""
        table.copy(path, "FORMAT json, ARRAY true")
