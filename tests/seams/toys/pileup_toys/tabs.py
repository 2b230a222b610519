"""A format of exported tables."""

from pathlib import Path

from pileup.plugin import Exporter, ExportTable


class Tabs(Exporter):
    """Values with tabs between them."""

    name = "toy-tabs"
    suffix = "tsv"

    def write(self, table: ExportTable, path: Path) -> None:
        """Write a table."""
        with path.open("w") as file:
            for row in (table.columns, *table.rows()):
                print(*row, sep="\t", file=file)
