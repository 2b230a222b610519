"""The newest errors of a record that grows, cheaply: most rows are stepped over, not read."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from pileup.model.record import SEPARATOR
from pileup.record.operations import KEPT, OLDER
from pileup.record.tables import ROWS, TableReader

NEWEST = 4
"""Blocks of rows that are looked into at each look."""


@dataclass(frozen=True, slots=True)
class RecentError:
    """One operation that did not pass. `case` is its number, `end` ns since the epoch, `outcome` of model.record."""

    case: int
    operation: str
    outcome: int
    message: str
    end: int


@dataclass(slots=True)
class ErrorTail:
    """Follows the operations table of one place."""

    path: Path
    _position: int = 0
    _texts: dict[int, str] = field(default_factory=dict)

    def look(self) -> list[RecentError]:
        """Return errors among the newest operations since the last look, in the order in which they ended.

        Raises RecordError when the file is not a table. Empty while there is no file.
        """
        if not self.path.exists():
            return []
        reader = TableReader(self.path, OLDER)
        newest: deque[int] = deque(maxlen=NEWEST)
        for kind, begin, end in reader.outline(self._position):
            if kind == ROWS:
                newest.append(begin)
            elif len(self._texts) < KEPT:
                self._remember(reader, begin)
            self._position = end
        found = [error for begin in newest for error in self._errors(reader, begin)]
        return sorted(found, key=lambda error: error.end)

    def _remember(self, reader: TableReader, begin: int) -> None:
        block = next(reader.blocks(begin), None)
        for number, text in reader.strings(block) if block else ():
            self._texts[number] = text.decode(errors="replace")

    def _errors(self, reader: TableReader, begin: int) -> list[RecentError]:
        block = next(reader.blocks(begin), None)
        if block is None:
            return []
        rows = reader.rows(block)
        wrong = rows[rows["error"] > 0][-NEWEST:]
        return [
            RecentError(
                int(row["case"]),
                self._texts.get(int(row["operation"]), "").partition(SEPARATOR)[0],
                int(row["outcome"]),
                self._texts.get(int(row["error"]), ""),
                int(row["end"]),
            )
            for row in wrong
        ]
