"""An iteration in virtual time as a test sees it: its operations, and what outlives it."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from pileup.model.record import Labels, Outcome, labels_of
from pileup.plugin.operation import End
from pileup.plugin.recording import text_of
from pileup.plugin.testing import CHECKED
from pileup.plugin.verdict import Judge
from pileup.run.simulation.clock import VirtualClock
from pileup.run.simulation.load import SimulatedIteration, SimulatedOperation


class SimulatedLedger:
    """The open detached operations of a simulation (plugin.Ledger)."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self._open: dict[tuple[str, str], SimulatedOperation] = {}

    def begin(self, iteration: SimulatedIteration, name: str, key: str, start: int | None = None) -> None:
        """Open one for an iteration. Raises ValueError when it is open already."""
        if (name, key) in self._open:
            raise ValueError(f"operation {name!r} on {key!r} is open already; expected a key that no open one has")
        self._open[name, key] = iteration.open(name, key, start=start)

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
        """End one; False when none is open."""
        operation = self._open.pop((name, key), None)
        if operation is None:
            return False
        operation.end(Outcome(outcome), at=end, error=error, bytes=bytes, cause=cause)
        return True

    def end_many(self, name: str, ends: Sequence[End], *, cause: int = 0) -> int:
        """End several of one name, for one cause; return how many were open."""
        return sum(self.end(name, key, outcome, end, error, cause=cause) for key, outcome, end, error in ends)

    def turn(self, name: str, key: str, to: str, at: int | None = None) -> bool:
        """End one as passed and begin `to` in its place."""
        operation = self._open.get((name, key))
        if operation is None or (to, key) in self._open:
            return False
        time = self._clock.now() if at is None else at
        self.end(name, key, end=time)
        self.begin(operation.iteration, to, key, time)
        return True

    def open(self, name: str = "") -> int:
        """Return how many are open, of all names when none is given."""
        return sum(not name or name == one for one, _ in self._open)

    def keys(self, name: str, most: int | None = None) -> list[str]:
        """Return the keys of those open, oldest first."""
        return [key for one, key in self._open if one == name][:most]

    def since(self, name: str, key: str) -> int | None:
        """Return when one began; None when none is open."""
        operation = self._open.get((name, key))
        return None if operation is None else operation.start


class SimulatedOp:
    """An iteration under way (plugin.Op). What comes after its end is not recorded."""

    def __init__(self, begun: SimulatedIteration, number: int, ledger: SimulatedLedger, judge: Judge) -> None:
        self.number = number
        """Number of the iteration over the whole case, from 0."""
        self.client = begun.client
        """Number of the client over the whole case, from 0."""
        self.bytes: int | None = None
        """Bytes moved; by default those of its operations."""
        self.calls: int | None = None
        """The same for calls."""
        self._begun, self._ledger, self._judge = begun, ledger, judge
        self._inside = {"bytes": 0, "calls": 0}

    def __call__(self, name: str, key: str = "", *, labels: Labels | None = None) -> SimulatedBlock:
        """Return an operation for `with` or `async with`; it ends with the block, failed if the block raises."""
        return SimulatedBlock(self, name, key, text_of(labels or {}))

    def check(self, name: str, ok: object) -> bool:
        """Count a check as an operation. Raises ValueError for a name that no suite can name."""
        if not CHECKED.fullmatch(name):
            raise ValueError(f"a check is called {name!r}; expected at most 80 letters, digits, spaces, _ and -")
        outcome = Outcome.PASSED if ok else Outcome.FAILED
        self.record(f"check.{name.replace(' ', '_')}", start=self.now(), outcome=outcome, error="" if ok else name)
        return bool(ok)

    def begin(self, name: str, key: str, start: int | None = None) -> None:
        """Open a detached operation. Raises ValueError when one of that name and key is open."""
        self._ledger.begin(self._begun, name, key, start)

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
        """Record an operation that somebody else has timed. Raises ValueError for invalid times and labels."""
        over = self.now() if end is None else end
        if start < 0 or over < 0:
            raise ValueError(f"operation {name!r} from {start} to {over}; expected ns since the epoch")
        if not self._begun.under_way:
            return
        self._inside["bytes"] += bytes
        self._inside["calls"] += calls
        self._begun.operation(
            name,
            start=start,
            end=max(start, over),
            outcome=Outcome(outcome),
            labels=labels_of(text_of(labels or {})),
            key=key,
            bytes=bytes,
            calls=calls,
            first_byte=first_byte,
            error=error,
        )

    def now(self) -> int:
        """Return the virtual time, ns since the epoch."""
        return self._begun.load.now()

    def judged(self, problem: BaseException) -> tuple[Outcome, str]:
        """Return the outcome and the message of an operation that ended with this exception."""
        return self._judge(problem)

    def end(self, outcome: Outcome = Outcome.PASSED, error: str = "", cause: int = 0) -> None:
        """End the iteration now, unless it has ended."""
        if self._begun.under_way:
            moved = self._inside["bytes"] if self.bytes is None else self.bytes
            made = self._inside["calls"] if self.calls is None else self.calls
            self._begun.end(outcome, error=error, bytes=moved, calls=made, cause=cause)


class SimulatedBlock:
    """One operation (plugin.Operation): from the beginning to the end of its block, in virtual time."""

    def __init__(self, op: SimulatedOp, name: str, key: str, labels: str) -> None:
        self.bytes = 0
        self.calls = 0
        self._op, self._name, self._key, self._labels = op, name, key, labels
        self._begin = op.now()
        self._first = 0

    def first_byte(self) -> None:
        """Mark that the first byte of the answer is here, now."""
        self._first = self._op.now()

    def __enter__(self) -> Self:
        self._begin = self._op.now()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        outcome, error = (Outcome.PASSED, "") if problem is None else self._op.judged(problem)
        self._op.record(
            self._name,
            self._key,
            start=self._begin,
            outcome=outcome,
            bytes=self.bytes,
            calls=self.calls,
            first_byte=self._first,
            error=error,
            labels=labels_of(self._labels),
        )

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.__exit__(kind, problem, trace)
