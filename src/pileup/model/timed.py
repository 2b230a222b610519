"""Operations that others timed, in columns: as a monitor hands them on, here or from another host."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NUMBERS = ("start", "end", "first_byte", "bytes", "calls", "outcome", "parent", "client")
"""Columns of numbers. Times in ns since the epoch; `parent` is an id, 0 for none; `client` is -1 for none."""
TEXTS = ("operation", "key", "error", "labels")
"""Columns of texts, as positions in the texts of the batch, counted from 1; 0 is the empty text."""
KINDS = (
    dict.fromkeys(NUMBERS[:4], "q")
    | {"calls": "I", "outcome": "B", "parent": "Q", "client": "q"}
    | dict.fromkeys(TEXTS, "I")
)
"""Column -> type code of its array."""


@dataclass(frozen=True, slots=True)
class OperationBatch:
    """Some operations: columns of equal length, and the texts that they name."""

    columns: Mapping[str, array[Any]]
    texts: tuple[str, ...]

    def __len__(self) -> int:
        """How many operations."""
        return len(self.columns["start"])

    def to_wire(self) -> tuple[list[str], list[bytes]]:
        """Return its texts, and its columns as bytes."""
        return list(self.texts), [self.columns[name].tobytes() for name in KINDS]

    @classmethod
    def from_wire(cls, texts: object, blobs: tuple[bytes, ...]) -> OperationBatch:
        """Return what `to_wire` gave. Raises ValueError when it is not one."""
        if not isinstance(texts, list) or len(blobs) != len(KINDS):
            raise ValueError("no columns of operations")
        columns = {name: array(kind) for name, kind in KINDS.items()}
        for column, blob in zip(columns.values(), blobs, strict=True):
            column.frombytes(blob)
        if len({len(column) for column in columns.values()}) != 1:
            raise ValueError("columns of operations of different lengths")
        if any(max(columns[name], default=0) > len(texts) for name in TEXTS):
            raise ValueError("operations name a text that is not there")
        return cls(columns, tuple(map(str, texts)))
