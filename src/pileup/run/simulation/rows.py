"""Rows of a simulation: written to the table of their place, and counted for its frames, as the engine does."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pileup._core._native import Histogram
from pileup.model.record import OUTCOMES, SEPARATOR, FrameRow, Outcome, Phase, Side
from pileup.record import TableWriter
from pileup.record.operations import ROW, TEXTS

PLACE = 0
"""A simulation has one place; the simulated system may have several, distinguished by labels."""
AT_ONCE = 10_000
"""Rows that are written together."""


@dataclass(slots=True, kw_only=True)
class EndedRow:
    """An iteration (parent 0) or an operation that has ended. Times in ns since the epoch."""

    id: int
    operation: str
    case: int
    client: int
    target: int
    phase: Phase
    intended: int
    start: int
    end: int
    parent: int = 0
    first_byte: int = 0
    outcome: Outcome = Outcome.PASSED
    bytes: int = 0
    calls: int = 0
    key: str = ""
    error: str = ""
    labels: str = ""
    cause: int = 0

    @property
    def name(self) -> str:
        """Its operation with its labels, as the record has them."""
        return f"{self.operation}{SEPARATOR}{self.labels}" if self.labels else self.operation


class RowWriter:
    """The operations table of the place of a simulation."""

    def __init__(self, path: Path) -> None:
        self._table = TableWriter(path, "operations", ROW, PLACE)
        self._rows: list[tuple[int, ...]] = []
        self._texts: dict[str, int] = {"": 0}
        self._last = 0

    def next(self) -> int:
        """Return the next id."""
        self._last += 1
        return (PLACE << 48) + self._last

    def add(self, row: EndedRow) -> None:
        """Write a row, soon. Raises RecordError when the disk refuses."""
        key, error, name = (self._texts.setdefault(text, len(self._texts)) for text in (row.key, row.error, row.name))
        self._rows.append(
            (
                row.id, row.parent, row.intended, row.start, row.first_byte, row.end, row.bytes, key, error, name,
                row.case, row.client, row.calls, row.target, PLACE, Side.CLIENT, row.phase, row.outcome, row.cause,
            )
        )  # fmt: skip
        if len(self._rows) >= AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Write all rows so far. Raises RecordError when the disk refuses."""
        if self._rows:
            texts = [text.encode(errors="replace") for text in self._texts if text]
            self._table.append(np.array(self._rows, ROW), texts, TEXTS)
        self._rows, self._texts = [], {"": 0}

    def close(self) -> None:
        """Write the rest and end the table."""
        self.flush()
        self._table.close()


@dataclass(slots=True)
class _Cell:
    """What ended of one operation in one phase."""

    numbers: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys((*OUTCOMES, "bytes", "calls", "timed_out", "done", "moved"), 0)
    )
    response: Histogram = field(default_factory=Histogram)
    service: Histogram = field(default_factory=Histogram)


class FrameCounts:
    """What has ended since the last frame."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, str, bool, Phase], _Cell] = {}

    def add(self, row: EndedRow, life: Phase, *, timed_out: bool = False) -> None:
        """Count a row that ended while the load was in the phase `life`."""
        iteration, passed = row.parent == 0, row.outcome is Outcome.PASSED
        due = self._cell(row, iteration, row.phase)
        due.numbers[OUTCOMES[row.outcome]] += 1
        due.numbers["bytes"] += row.bytes
        due.numbers["calls"] += row.calls
        due.numbers["timed_out"] += timed_out
        if passed:
            due.response.record(row.end - row.intended)
            due.service.record(row.end - row.start)
        by_clock = due if life is row.phase else self._cell(row, iteration, life)
        by_clock.numbers["done"] += passed
        by_clock.numbers["moved"] += row.bytes

    def drain(self) -> tuple[FrameRow, ...]:
        """Return what was counted, and forget it."""
        cells, self._cells = self._cells, {}
        return tuple(
            FrameRow(
                operation=operation,
                iteration=iteration,
                phase=phase,
                labels=labels,
                response=cell.response.encode() if cell.response.count else b"",
                service=cell.service.encode() if cell.service.count else b"",
                **cell.numbers,
            )
            for (operation, labels, iteration, phase), cell in cells.items()
        )

    def _cell(self, row: EndedRow, iteration: bool, phase: Phase) -> _Cell:
        return self._cells.setdefault((row.operation, row.labels, iteration, phase), _Cell())
