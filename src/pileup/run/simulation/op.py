"""An iteration in virtual time as a test sees it: its operations, and what outlives it."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from pileup.model.record import Labels, Outcome, labels_of
from pileup.plugin.plain_op import Ended, PlainBlock, PlainLedger, PlainOp, Recorded
from pileup.plugin.recording import text_of
from pileup.plugin.verdict import Judge
from pileup.run.simulation.clock import VirtualClock
from pileup.run.simulation.load import SimulatedIteration, SimulatedOperation


class SimulatedLedger(PlainLedger[SimulatedOperation]):
    """The open detached operations of a simulation (plugin.Ledger)."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self._clock = clock

    def begin(self, iteration: SimulatedIteration, name: str, key: str, start: int | None = None) -> None:
        """Open one for an iteration. Raises ValueError when it is open already."""
        self.refuse_open(name, key)
        self._open[name, key] = iteration.open(name, key, start=start)

    def now(self) -> int:
        """Return the virtual time."""
        return self._clock.now()

    def start_of(self, one: SimulatedOperation) -> int:
        """Return when one began."""
        return one.start

    def close(self, name: str, key: str, one: SimulatedOperation, ended: Ended) -> None:
        """Record one that has ended."""
        one.end(ended.outcome, at=ended.time, error=ended.error, bytes=ended.bytes, cause=int(ended.cause))

    def follow(self, one: SimulatedOperation, name: str, key: str, start: int) -> SimulatedOperation:
        """Return one that begins in the place of another, for its iteration."""
        return one.iteration.open(name, key, start=start)


class SimulatedOp(PlainOp):
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

    def begin(self, name: str, key: str, start: int | None = None) -> None:
        """Open a detached operation. Raises ValueError when one of that name and key is open."""
        self._ledger.begin(self._begun, name, key, start)

    def keep(self, found: Recorded) -> None:
        """Record an operation that has ended, while the iteration is under way."""
        if self._begun.under_way:
            self._inside["bytes"] += found.bytes
            self._inside["calls"] += found.calls
            self._begun.operation(
                found.name,
                start=found.start,
                end=found.end,
                outcome=found.outcome,
                labels=found.labels,
                key=found.key,
                bytes=found.bytes,
                calls=found.calls,
                first_byte=found.first_byte,
                error=found.error,
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


class SimulatedBlock(PlainBlock):
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
