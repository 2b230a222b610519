"""A format of exported tables: JSON lines."""

import json
from pathlib import Path

from pileup.plugin import Exporter, ExportTable


class JsonLines(Exporter):
    """An object of JSON for each row, on a line of its own."""

    name = "json-lines"
    suffix = "jsonl"

    def write(self, table: ExportTable, path: Path) -> None:
        """Write a table."""
        with path.open("w", encoding="utf-8") as file:
            for row in table.rows():
                print(json.dumps(dict(zip(table.columns, row, strict=True)), default=str), file=file)
