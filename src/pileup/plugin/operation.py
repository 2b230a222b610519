"""What a Python test gets to time its acts with."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol


class Operation(Protocol):
    """One timed act, open while its `with` block runs."""

    bytes: int
    """Bytes moved; set by the test."""
    calls: int
    """Requests or system calls made; set by the test."""

    def first_byte(self) -> None:
        """Mark that the first byte of the answer is here, now."""


class Op(Protocol):
    """The iteration under way. `with op("list") as listing:` times one operation inside it."""

    @property
    def number(self) -> int:
        """Number of this iteration over the whole case, from 0."""

    @property
    def client(self) -> int:
        """Number of this client over the whole case, from 0."""

    def __call__(self, name: str, key: str = "") -> AbstractContextManager[Operation]:
        """Begin an operation of that name on that object; it ends with the block, failed if the block raises."""
