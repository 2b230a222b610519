"""Which files hold the rows of a kind: raw tables while a run goes on, then Parquet, of each session of the run.

A run that is resumed writes tables with numbers of their own. What is converted together is in one Parquet
file that is named by the smallest number in it; the table of that number goes last, so a conversion that was cut short
is known by it.
"""

from __future__ import annotations

import re
from pathlib import Path


class Parts:
    """The files in one folder of the record: `3.table`, `3-lost.table`; `NAME.parquet`, `NAME-3.parquet`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def parquets(self) -> list[Path]:
        """Return what is converted, in the order of the sessions."""
        return sorted(self.folder.glob("*.parquet"), key=_number)

    def tables(self) -> list[Path]:
        """Return the raw tables that no Parquet file holds, in the order of their numbers."""
        return [] if self._left() else self._all()

    def table(self) -> Path:
        """Return a table that is not there yet, with the next number."""
        return self.folder / f"{self.next()}.table"

    def next(self) -> int:
        """Return the smallest number above all that are used."""
        return 1 + max((_number(path) for path in (*self._all(), *self.parquets())), default=-1)

    def parquet(self, tables: list[Path]) -> Path:
        """Return the file that these tables are converted to."""
        number = min(map(_number, tables))
        name = self.folder.name
        return self.folder / (f"{name}-{number}.parquet" if number else f"{name}.parquet")

    def remove(self, tables: list[Path]) -> None:
        """Remove tables that are converted, the smallest number last."""
        for path in reversed(tables):
            path.unlink(missing_ok=True)

    def tidy(self) -> None:
        """Remove tables that a conversion which was cut short has left."""
        if self._left():
            self.remove(self._all())

    def _left(self) -> bool:
        """Whether the tables that are there were converted already."""
        tables = self._all()
        return bool(tables) and self.parquet(tables).exists()

    def _all(self) -> list[Path]:
        return sorted(self.folder.glob("*.table"), key=lambda path: (_number(path), path.name))


def _number(path: Path) -> int:
    found = re.search(r"\d+", path.name)
    return int(found[0]) if found else 0
