"""How a Python test times its operations."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self

from pileup.model.record import Labels

End = tuple[str, int, int | None, str]
"""How a detached operation ended: key, number of the outcome, end (ns since the epoch; None: now), message."""


class Operation(Protocol):
    """One timed act, open while its `with` block runs."""

    bytes: int
    """Bytes moved; set by the test."""
    calls: int
    """Requests or system calls made; set by the test."""

    def first_byte(self) -> None:
        """Mark that the first byte of the answer is here, now."""

    def __enter__(self) -> Self:
        """Begin it."""

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None, /
    ) -> bool | None:
        """End it: with the outcome of the exception, if the block raised one."""

    async def __aenter__(self) -> Self:
        """Begin it, in `async with`; nothing is awaited."""

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None, /
    ) -> bool | None:
        """End it."""


class Op(Protocol):
    """The iteration under way. `with op("list") as listing:` (or `async with`) times one operation inside it."""

    @property
    def number(self) -> int:
        """Number of this iteration over the whole case, from 0."""

    @property
    def client(self) -> int:
        """Number of this client over the whole case, from 0."""

    def __call__(self, name: str, key: str = "", *, labels: Labels | None = None) -> Operation:
        """Begin an operation of that name on that object; it ends with the block, failed if the block raises.

        Figures are broken down by `labels`: {"drive": "d3"}; at most 1,000 sets in a case. Raises ValueError for the
        name of a label that no check could select, TypeError for what is not a mapping.
        """

    def check(self, name: str, ok: object) -> bool:
        """Count `ok` as passed or failed, and return it; the iteration does not fail if it is false.

        `op.check("has header", …)` is recorded as an operation `check.has_header` without duration:
        `fraction(TEST.check.has_header.failed) < 1 %`. Raises ValueError for a name with other characters than letters,
        digits, spaces, `_` and `-`, or with more than 80.
        """

    def begin(self, name: str, key: str, start: int | None = None) -> None:
        """Open a detached operation: it continues after this iteration, and is ended later by its name and key.

        `start` in ns since the epoch, None: now. Raises ValueError when one of that name and key is open already.
        """

    def record(
        self,
        name: str,
        key: str = "",
        *,
        start: int,
        end: int | None = None,
        outcome: int = 0,
        bytes: int = 0,
        calls: int = 0,
        first_byte: int = 0,
        error: str = "",
        labels: Labels | None = None,
    ) -> None:
        """Record an operation that something else has timed: a worker, a library, the log of a job.

        It belongs to this iteration. Times are ns since the epoch, `end` None: now; an end before the start is
        corrected to the start. `outcome` is a number of pileup.plugin.Outcome. Figures are broken down by `labels`:
        {"worker": "n2"}. Raises ValueError for invalid times and for labels that no check could select.
        """


class Ledger(Protocol):
    """The open detached operations of all tests at this place. Each becomes one row of the record when it ends.

    The row belongs to the iteration that began it. Times are ns since the epoch, None: now; an end before the start is
    corrected to the start. What is open at the end of the run is recorded as unfinished.
    """

    def end(
        self,
        name: str,
        key: str,
        outcome: int = 0,
        end: int | None = None,
        error: str = "",
        *,
        bytes: int = 0,
        cause: int = 0,
    ) -> bool:
        """End one; False when none is open. `outcome` is a number of model.record.Outcome, `cause` of Cause."""

    def end_many(self, name: str, ends: Sequence[End], *, cause: int = 0) -> int:
        """End several with the same name and cause; return how many were open."""

    def turn(self, name: str, key: str, to: str, at: int | None = None) -> bool:
        """End one as passed and begin `to` with the same key at that time, for the same iteration.

        False, and nothing is done, when none is open or `to` is open already.
        """

    def open(self, name: str = "") -> int:
        """Return how many are open, of all names when none is given."""

    def keys(self, name: str, most: int | None = None) -> list[str]:
        """Return the keys of those open, oldest first, at most so many."""

    def since(self, name: str, key: str) -> int | None:
        """Return when one began; None when none is open."""
