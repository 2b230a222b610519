"""What servers say that they did, as rows of operations: side is server, and they belong to no case."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pileup.model.record import Phase, ServerOperation, Side
from pileup.record.operations import ROW, TEXTS
from pileup.record.tables import Rows

SHIFT, OWN = 48, 1 << 47
"""An id is (place << 48) + a number; those of servers have the highest bit of the number, clients never come so far."""
NO_CASE = 0
NOBODY = 0xFFFF
"""Number of a target for what is none of the suite."""
__all__ = ["NOBODY", "NO_CASE", "TEXTS", "to_rows"]


def to_rows(found: Sequence[ServerOperation], place: int, target: int, before: int) -> tuple[Rows, list[bytes]]:
    """Return the rows, and the texts that they name by position; `before` so many rows of this place are written."""
    texts: dict[str, int] = {"": 0}
    rows = np.zeros(len(found), ROW)
    for number, each in enumerate(found):
        row = rows[number]
        row["id"] = (place << SHIFT) + OWN + before + number + 1
        row["intended"], row["start"] = each.start, each.start
        row["first_byte"], row["end"] = each.first_byte, max(each.start, each.end)
        row["bytes"], row["calls"] = each.bytes, each.calls
        for column, text in (("key", each.key), ("error", each.error), ("operation", each.name)):
            row[column] = texts.setdefault(text, len(texts))
        row["case"], row["target"], row["place"] = NO_CASE, target, place
        row["side"], row["phase"], row["outcome"] = Side.SERVER, Phase.MEASURE, each.outcome
    return rows, [text.encode(errors="replace") for text in texts if text]
