"""Response times in the percentile text of HdrHistogram."""

from __future__ import annotations

from pathlib import Path

from pileup.plugin import Exporter, ExportTable

HEAD = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n"
MILLISECOND = 1e6


class Hgrm(Exporter):
    """The percentile text of HdrHistogram, for its plotters: a file for each operation and kind of time.

    `read.iteration.response.hgrm` has the iterations of `read` from their intended start (wrk2 calls that corrected),
    `read.iteration.service.hgrm` from the actual one. Values are milliseconds, of what passed; columns are Value,
    Percentile, TotalCount and 1/(1-Percentile). A plotter such as
    https://hdrhistogram.github.io/HdrHistogram/plotFiles.html draws several files in one picture.
    """

    name = "hgrm"
    suffix = "hgrm"
    tables = ("spectrum",)
    split = ("case", "operation", "kind")

    def write(self, table: ExportTable, path: Path) -> None:
        """Write the spectrum of one operation."""
        places = {name: place for place, name in enumerate(table.columns)}
        value, share, count = (places[name] for name in ("value", "share", "count"))
        most, total = 0.0, 0
        with path.open("w", encoding="ascii") as file:
            file.write(HEAD)
            for row in table.rows():
                most, total = row[value] / MILLISECOND, row[count]
                file.write(_line(most, row[share], total))
            file.write(f"#[Max     = {most:12.6f}, Total count    = {total:12d}]\n")


def _line(value: float, share: float, count: int) -> str:
    rest = f" {1 / (1 - share):14.2f}" if share < 1 else ""
    return f"{value:12.6f} {share:2.12f} {count:10d}{rest}\n"
