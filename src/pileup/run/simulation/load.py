"""The load of one case in virtual time: what a simulation does, as rows and as a frame each second."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import islice
from typing import TypedDict, Unpack

from pileup._core._native import Histogram
from pileup.fleet.order import Order
from pileup.model.record import ITERATION, CaseOutcome, Frame, Labels, Outcome, Phase, labels_text
from pileup.record import RunFolder
from pileup.run.simulation.clock import VirtualClock
from pileup.run.simulation.rows import PLACE, EndedRow, FrameCounts, RowWriter

BEAT = 10**9
"""Default interval of frames, ns."""
AT_ONCE = 1024
"""Arrivals that are asked for at first; then twice as many each time."""


class Details(TypedDict, total=False):
    """What is reported about an iteration or an operation when it has ended, beside its outcome."""

    first_byte: int
    bytes: int
    calls: int
    key: str
    error: str
    cause: int


class SimulatedLoad:
    """What a simulation does of one case. It begins now; all times are those of the clock, ns since the epoch."""

    def __init__(
        self,
        clock: VirtualClock,
        folder: RunFolder,
        rows: RowWriter,
        order: Order,
        *,
        longest: int,
        beat: int = BEAT,
        single: str = "",
    ) -> None:
        self.order = order
        self.begun = clock.now()
        self.missed = 0
        """Iterations that were due and could not begin, since the last frame."""
        self.ended: tuple[CaseOutcome, str] | None = None
        """How the case ended, and why, where its rows do not say it: a client could not be set up."""
        self._clock, self._folder, self._rows = clock, folder, rows
        self._longest = longest
        self._single = single
        self._engine = order.at_place()
        end = self._engine.end
        self.end = None if end is None else self.begun + end
        """When nothing more begins; None where no time says."""
        self._measured = self._planned()
        self._under_way: dict[int, SimulatedIteration] = {}
        self._free: list[int] = []
        self._clients = 0
        self._counts, self._late, self._started = FrameCounts(), Histogram(), 0
        self._open: dict[int, SimulatedOperation] = {}
        self._open_told, self._open_counts = 0, FrameCounts()
        self._last = self.begun
        self._closed = self._no_more = False
        self._interval = beat
        clock.at(self.begun + beat, self._beat, alone=False)

    def now(self) -> int:
        """Return the time, ns since the epoch."""
        return self._clock.now()

    def arrivals(self) -> Iterator[int]:
        """Yield when the iterations of an open load are due: as the engine would begin them, of the suite's seed.

        Raises ValueError for any other load: how its clients go on is the simulation's.
        """
        most, told, limit = self._engine.iterations, 0, AT_ONCE
        while most is None or told < most:
            found = self._engine.schedule(limit if most is None else min(limit, most))
            yield from (self.begun + time for _, time, _ in islice(found, told, None))
            if len(found) == told:
                return
            told, limit = len(found), 2 * limit

    @property
    def clients(self) -> int | None:
        """Most clients at a time; None where an open load does not say."""
        return self._engine.most_clients

    @property
    def limit(self) -> int | None:
        """Iterations in all, if their number is limited."""
        return self._engine.number_here

    def birth(self, client: int) -> int | None:
        """Return when a client of a closed load begins, as in the engine; None: never."""
        time = self._engine.birth(client)
        return None if time is None else self.begun + time

    def again(self, client: int, turn: int) -> int | None:
        """Return when a client that has just ended its iteration number `turn`, from 0, begins the next one.

        That is after the think time that the engine would draw, and when the load needs the client; None: never.
        """
        since = self._clock.now() - self.begun + self._engine.think(client, turn)
        time = self._engine.wanted(client, since)
        return None if time is None else self.begun + time

    def begin(self, intended: int | None = None, client: int | None = None) -> SimulatedIteration:
        """Begin an iteration now that should have begun at `intended` (now), of a client, by default the first free
        one.

        Raises ValueError when it was due after the end of the load.
        """
        now = self._clock.now()
        due = now if intended is None else intended
        if self._closed or (self.end is not None and due >= self.end):
            raise ValueError(f"an iteration is due at {due}; expected a time before the end of its load")
        given = client is not None
        if client is None:
            client = heappop(self._free) if self._free else self._clients
        self._clients = max(self._clients, client + 1)
        phase = self.order.phase or Phase(self._engine.phase(due - self.begun))
        begun = SimulatedIteration(self, self._rows.next(), client, due, now, phase, given)
        self._under_way[begun.id] = begun
        self._started += 1
        if phase is Phase.MEASURE:
            self._late.record(now - due)
        return begun

    def no_more(self) -> None:
        """Say that nothing more begins, though the time of the load is not over."""
        self._no_more = True

    @property
    def over(self) -> bool:
        """Whether nothing more begins and nothing is under way."""
        at_end = self._no_more or (self.end is not None and self._clock.now() >= self.end)
        return self._closed or (at_end and not self._under_way)

    def attend(self) -> None:
        """Let time go on until the load is over, or the case has taken its longest possible time."""
        limit = self.begun + self._longest
        while not self.over and self._clock.now() < limit and self._clock.step():
            pass

    def close(self) -> None:
        """End the load: what is under way is unfinished. Asynchronous operations go on."""
        if self._closed:
            return
        for iteration in list(self._under_way.values()):
            iteration.end(Outcome.UNFINISHED)
        self._tell()
        self._closed = True

    def give_up(self) -> None:
        """End what is open still, as unfinished."""
        self.close()
        for operation in list(self._open.values()):
            operation.end(Outcome.UNFINISHED)
        self._tell_open()

    def _take(self, row: EndedRow) -> None:
        self._rows.add(row)
        timed_out = row.outcome is not Outcome.PASSED and row.end - row.start >= self.order.timeout
        self._counts.add(row, self._phase_at(row.end), timed_out=timed_out)

    def _take_open(self, row: EndedRow) -> None:
        self._rows.add(row)
        self._open_counts.add(row, row.phase)  # it has no part in the life of the load: that is over long since

    def _planned(self) -> tuple[int, int]:
        """Return the measured time; its end is 0 where no time says."""
        load, spans = self.order.load, self.order.load.spans
        first = spans[0][0] if spans else load.ramp + load.before
        last = spans[-1][1] if spans else self._engine.end
        return self.begun + first, 0 if last is None else self.begun + last

    def _phase_at(self, time: int) -> Phase:
        """Return the part of the load's life at a time: what ends after the time of the load ends in its cool-down."""
        if self.end is not None and time >= self.end:
            return Phase.COOLDOWN
        return self.order.phase or Phase(self._engine.phase(time - self.begun))

    def _beat(self) -> None:
        if not self._closed:
            self._tell()
        self._tell_open()
        if not self._closed or self._open:
            self._clock.at(self._clock.now() + self._interval, self._beat, alone=False)

    def _tell(self) -> None:
        """Write the frame of the time since the last one; its phase is the one that it ended in."""
        now, late, rows = self._clock.now(), self._late, self._counts.drain()
        if now == self._last and not (rows or self.missed or self._started):
            return
        # An open load without `clients` has as many as it needs, so nothing waits for one.
        clients = self.order.load.clients or self._clients + self.order.load.open
        self._folder.append_frame(
            Frame(
                time=now,
                nanoseconds=max(1, now - self._last),
                place=PLACE,
                case=self.order.case,
                phase=self._phase_at(max(self._last, now - 1)),
                started=self._started,
                missed=self.missed,
                in_flight=len(self._under_way),
                clients=max(1, clients),
                cpu=0,
                late=late.encode() if late.count else b"",
                rows=rows,
                measured_from=self._measured[0],
                measured_to=self._measured[1],
            )
        )
        self._last, self._late, self._started, self.missed = now, Histogram(), 0, 0

    def _tell_open(self) -> None:
        """Write a frame of asynchronous operations, when there is news."""
        rows = self._open_counts.drain()
        if rows or len(self._open) != self._open_told:
            self._open_told = len(self._open)
            self._folder.append_frame(
                Frame(
                    time=self._clock.now(),
                    nanoseconds=0,
                    place=PLACE,
                    case=self.order.case,
                    phase=Phase.MEASURE,
                    started=0,
                    missed=0,
                    in_flight=len(self._open),
                    clients=0,
                    cpu=0,
                    late=b"",
                    rows=rows,
                )
            )


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedIteration:
    """An iteration under way, until `end`."""

    load: SimulatedLoad
    id: int
    client: int
    intended: int
    start: int
    phase: Phase
    given: bool = False
    """Whether whoever began it says which client has it."""

    @property
    def under_way(self) -> bool:
        """Whether it has not ended."""
        return self.id in self.load._under_way

    def end(self, outcome: Outcome = Outcome.PASSED, **details: Unpack[Details]) -> None:
        """End it now. Raises ValueError when it has ended."""
        load = self.load
        if load._under_way.pop(self.id, None) is None:
            raise ValueError(f"iteration {self.id} has ended; expected one that is under way")
        if not self.given:
            heappush(load._free, self.client)
        name, times = load._single or ITERATION, (self.intended, self.start, load._clock.now())
        row = self._row(self.id, name, times, outcome, details)
        row.parent = 0
        load._take(row)

    def operation(
        self,
        name: str,
        *,
        start: int,
        end: int | None = None,
        outcome: Outcome = Outcome.PASSED,
        labels: Labels | None = None,
        **details: Unpack[Details],
    ) -> None:
        """Note an operation of it that has ended, at `end` (now)."""
        load, text = self.load, labels_text(labels or {}, name)
        times = (start, start, load._clock.now() if end is None else end)
        row = self._row(load._rows.next(), name, times, outcome, details)
        row.labels = text
        load._take(row)

    def open(
        self, name: str, key: str = "", *, start: int | None = None, labels: Labels | None = None
    ) -> SimulatedOperation:
        """Begin an operation that may outlive it, at `start` (now): a job, a recall from tape."""
        begin = self.load._clock.now() if start is None else start
        text = labels_text(labels or {}, name)
        begun = SimulatedOperation(self, self.load._rows.next(), name, key, begin, text)
        self.load._open[begun.id] = begun
        return begun

    def _row(self, id: int, name: str, times: tuple[int, int, int], outcome: Outcome, details: Details) -> EndedRow:
        intended, start, end = times
        return EndedRow(
            id=id,
            parent=self.id,
            operation=name,
            case=self.load.order.case,
            client=self.client,
            target=self.load.order.target,
            phase=self.phase,
            intended=intended,
            start=start,
            end=end,
            outcome=outcome,
            **details,
        )


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedOperation:
    """An operation that is open, until `end`; the iteration that began it may have ended long before."""

    iteration: SimulatedIteration
    id: int
    name: str
    key: str
    start: int
    labels: str

    def end(self, outcome: Outcome = Outcome.PASSED, *, at: int | None = None, **details: Unpack[Details]) -> None:
        """End it, at a time (now). Raises ValueError when it has ended."""
        load = self.iteration.load
        if load._open.pop(self.id, None) is None:
            raise ValueError(f"{self.name} {self.key} has ended; expected one that is open")
        details.setdefault("key", self.key)
        times = (self.start, self.start, max(self.start, load._clock.now() if at is None else at))
        row = self.iteration._row(self.id, self.name, times, outcome, details)
        row.labels = self.labels
        load._take_open(row)
