"""The newest errors of a record that grows, cheaply: most rows are stepped over, not read."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from pileup.model.record import SEPARATOR
from pileup.record.operations import KEPT, OLDER
from pileup.record.tables import ROWS, Rows, TableReader

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
    """Follows the operations table of one place. It keeps where its texts are, not the texts: it does not grow."""

    path: Path
    _position: int = 0
    _firsts: array[int] = field(default_factory=lambda: array("Q"))
    """The first number in each block of texts that rows far behind it may name, ascending."""
    _begins: array[int] = field(default_factory=lambda: array("Q"))
    """Where each of these blocks begins."""
    _last: deque[int] = field(default_factory=lambda: deque(maxlen=NEWEST))
    """Where the newest blocks of texts begin that only rows right behind them name."""

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
            else:
                self._remember(reader, begin)
            self._position = end
        wrong = [row for begin in newest for row in _wrong(reader, begin)]
        texts = self._texts(reader, {int(row[name]) for row in wrong for name in ("operation", "error")})
        found = [
            RecentError(
                int(row["case"]),
                texts.get(int(row["operation"]), "").partition(SEPARATOR)[0],
                int(row["outcome"]),
                texts.get(int(row["error"]), ""),
                int(row["end"]),
            )
            for row in wrong
        ]
        return sorted(found, key=lambda error: error.end)

    def _remember(self, reader: TableReader, begin: int) -> None:
        if self._firsts and self._firsts[-1] > KEPT:
            self._last.append(begin)
        elif block := next(reader.blocks(begin), None):
            self._firsts.extend(number for number, _ in islice(reader.strings(block), 1))
            self._begins.append(begin)

    def _texts(self, reader: TableReader, numbers: set[int]) -> dict[int, str]:
        """Return the texts of these numbers; those that cannot be found any more are left out."""
        places = {self._begins[max(0, bisect_right(self._firsts, number) - 1)] for number in numbers if self._begins}
        blocks = [next(reader.blocks(begin), None) for begin in sorted(places | set(self._last))]
        known = (pair for block in blocks if block for pair in reader.strings(block))
        return {number: text.decode(errors="replace") for number, text in known if number in numbers}


def _wrong(reader: TableReader, begin: int) -> Rows:
    """Return the newest rows of a block that have an error; none where the block is broken."""
    block = next(reader.blocks(begin), None)
    rows = reader.rows(block) if block else np.empty(0, OLDER)
    return rows[rows["error"] > 0][-NEWEST:]
