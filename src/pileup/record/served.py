"""What monitors record of servers, as rows of operations: side is server, with labels and the name of the monitor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pileup.model.record import Phase, Side
from pileup.model.timed import NUMBERS, TEXTS, OperationBatch
from pileup.record import operations
from pileup.record.tables import Rows

SHIFT, OWN = 48, 1 << 47
"""An id is (place << 48) + a number; those of servers have the highest bit of the number, clients never come so far."""
NOBODY = 0xFFFF
"""Number of a target for anything else of the suite."""
ROW = np.dtype([*operations.ROW.descr, ("labels", "<u4"), ("monitor", "<u4")])
"""Columns of the raw table."""
STRINGS = (*operations.TEXTS, "labels", "monitor")


@dataclass(frozen=True, slots=True)
class Source:
    """Who recorded, and of what."""

    monitor: str
    target: int = NOBODY
    """Number of the target in run.json's list."""
    ahead: int = 0
    """How far the clock that the times are of is before ours, ns."""


def to_rows(batch: OperationBatch, source: Source, place: int, before: int) -> tuple[Rows, list[bytes]]:
    """Return the rows, and the texts that they name by position; `before` so many rows of this place are written."""
    rows = np.zeros(len(batch), ROW)
    rows["id"] = (place << SHIFT) + OWN + before + 1 + np.arange(len(batch), dtype=np.uint64)
    for name in (*NUMBERS[:-1], *TEXTS):
        rows[name] = batch.columns[name]
    rows["client"] = np.asarray(batch.columns["client"]) + 1  # until it is joined: 0 is not known
    for name in ("start", "end", "first_byte"):
        rows[name] -= np.where(rows[name] > 0, source.ahead, 0)
    rows["intended"] = rows["start"]
    rows["end"] = np.maximum(rows["end"], rows["start"])
    rows["monitor"], rows["target"], rows["place"] = len(batch.texts) + 1, source.target, place
    rows["side"], rows["phase"] = Side.SERVER, Phase.MEASURE
    return rows, [text.encode(errors="replace") for text in (*batch.texts, source.monitor)]
