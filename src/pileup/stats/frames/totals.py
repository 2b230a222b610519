"""Sums over the frames of a case: exact counts and histograms per operation, over places and seconds.

The report, the screen, checks of a load that is steered and trials of a level take their figures from `Measured`, which
takes frames as they come.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from pileup._core._native import Histogram
from pileup.model.figures import Counts
from pileup.model.record import OUTCOMES, PRESSED, Frame, FrameRow, Phase
from pileup.record.tally import Durations, NotKept, Pressed, Tally, add, together
from pileup.stats.frames.distribution import DueDurations, pooled

MOST_SHORT = 5 * 10**8
"""Intervals shorter than this, ns, say little about a rate."""
MEASURED = frozenset({Phase.MEASURE})
ALL = frozenset(Phase)


@dataclass(slots=True)
class Measured:
    """A case, or several together, in one phase."""

    phases: Collection[int] = MEASURED
    """Of the rows that are counted."""
    intervals: Collection[int] = MEASURED
    """Phases of the frames whose time it is."""
    tallies: dict[tuple[str, bool], Tally] = field(default_factory=dict)
    missed: int = 0
    in_flight: int = 0
    """Most iterations under way at the end of an interval."""
    lateness: Durations = field(default_factory=Durations)
    live: bool = False
    """Whether it is used during a run: then it keeps only iterations and response times."""
    _places: dict[int, Pressed] = field(default_factory=dict)

    @staticmethod
    def of(phase: int) -> Measured:
        """Return an empty one for what is due in a phase."""
        return Measured(frozenset({phase}), frozenset({phase}))

    @staticmethod
    def shown(phase: int) -> Measured:
        """Return one for a screen: only of iterations, with their response times."""
        return Measured(frozenset({phase}), frozenset({phase}), lateness=NotKept(), live=True)

    def take(self, frame: Frame) -> None:
        """Add a frame of any place, in any order."""
        add(frame, self.tallies, self._operation, Tally.live if self.live else Tally.of)
        inside = frame.phase in self.intervals
        if inside or (Phase.MEASURE in self.phases and frame.phase in PRESSED):
            # How many were missed is known when nothing more begins: in the cool-down.
            self.missed += frame.missed
        if inside or frame.phase == Phase.COOLDOWN:
            # The last starts are in the frame at whose end the load had ended.
            self.lateness.add(frame.late)
        if inside and frame.nanoseconds:
            # Frames without a length are a ledger's: open operations there hold no client.
            self.in_flight = max(self.in_flight, frame.in_flight)
            self._places.setdefault(frame.place, Pressed()).take(frame)

    def _operation(self, row: FrameRow) -> tuple[str, bool] | None:
        counts = row.phase in self.phases and (row.iteration or not self.live)
        return (row.operation, row.iteration) if counts else None

    @property
    def seconds(self) -> float:
        """Length of the phase by its frames; the record of operations knows it better."""
        return max((place.nanoseconds for place in self._places.values()), default=0) / 1e9

    @property
    def started(self) -> int:
        """Iterations begun."""
        return sum(place.started for place in self._places.values())

    @property
    def left(self) -> int:
        """Iterations under way at the end of the last interval of the phase, over all places."""
        return sum(place.in_flight for place in self._places.values())

    @property
    def cpu(self) -> float:
        """Share of one core that pileup took, mean over the phase, at the place that took most."""
        return max((place.cpu / place.nanoseconds for place in self._places.values()), default=0.0)

    @property
    def late(self) -> Histogram:
        """Scheduling delays, without those of ramp and warm-up, when connections are made; made again each time."""
        return self.lateness.whole()

    @property
    def rate(self) -> float:
        """Iterations that passed, per second, by when they ended."""
        return self._per_second(sum(tally.done for tally in self.iterations()))

    @property
    def bandwidth(self) -> float:
        """Bytes of iterations per second, by when they came."""
        return self._per_second(sum(tally.moved for tally in self.iterations()))

    @property
    def started_rate(self) -> float:
        """Iterations begun per second."""
        return self._per_second(self.started)

    def _per_second(self, amount: int) -> float:
        return amount / self.seconds if self.seconds else 0.0

    def counts(self, tally: Tally | None = None) -> Counts:
        """Return the counts of an operation, or of the iterations with what was missed."""
        if tally is not None and not tally.iteration:
            return Counts(**tally.counts)
        whole = {name: sum(each.counts[name] for each in self.iterations()) for name in OUTCOMES}
        return Counts(**whole, missed=self.missed)

    def iterations(self) -> list[Tally]:
        """Return the tallies of iterations: one, but for a test whose one step changes its name."""
        return [tally for tally in self.tallies.values() if tally.iteration]

    def named(self, operation: str | None) -> list[Tally]:
        """Return the tallies of an operation; None: of the iterations."""
        if operation is None:
            return self.iterations()
        return [tally for tally in self.tallies.values() if tally.operation == operation]

    @property
    def response(self) -> Histogram:
        """Response times of all iterations that passed (ns); made again each time."""
        return together([tally.response for tally in self.iterations()])

    def due(self, timeout: float | None = None) -> DueDurations:
        """Return the response times of all iterations that were due; `timeout` is what one may take, ns."""
        return pooled([begun(tally, timeout) for tally in self.iterations()], self.missed)

    def forget_durations(self) -> None:
        """Let go of the histograms: counts and rates stay right, quantiles do not."""
        self.lateness = NotKept()
        for tally in self.tallies.values():
            tally.responses, tally.services = NotKept(), NotKept()


def begun(tally: Tally, timeout: float | None = None, service: bool = False) -> DueDurations:
    """Return the response times (with `service` the service times) of all that was begun of an operation."""
    left = tally.ended - tally.counts["passed"] - tally.timed_out
    return DueDurations(tally.service if service else tally.response, tally.timed_out, left, timeout)


def measure(frames: Iterable[Frame], phase: int = Phase.MEASURE) -> Measured:
    """Add up what frames report on one phase."""
    return _sum(Measured.of(phase), frames)


def recent(frames: Iterable[Frame], *, live: bool = False) -> Measured:
    """Return what frames add up to, whatever part of the load's life they are of; `live`: of iterations alone."""
    return _sum(Measured(PRESSED, ALL, live=live), frames)


def _sum(found: Measured, frames: Iterable[Frame]) -> Measured:
    for frame in frames:
        found.take(frame)
    return found


def between(frames: Iterable[Frame], begin: int, end: int) -> Measured:
    """Return what a test did between two times, by frames: of those that cross an edge rates take the share inside.

    Whatever was due in it, or before: operations of a backlog are also what the system did in that time.
    """
    known = list(frames)
    measured = recent(frame for frame in known if begin < frame.time <= end)
    done: dict[tuple[str, bool], list[float]] = {}
    for frame in known:
        inside = min(frame.time, end) - max(frame.time - frame.nanoseconds, begin)
        if inside <= 0 or frame.nanoseconds <= 0:
            continue
        share = inside / frame.nanoseconds
        for row in frame.rows:
            if row.phase in PRESSED:
                both = done.setdefault((row.operation, row.iteration), [0.0, 0.0])
                both[0] += share * row.done
                both[1] += share * row.moved
    for key, (passed, moved) in done.items():
        tally = measured.tallies.setdefault(key, Tally(*key))
        tally.done, tally.moved = round(passed), round(moved)
    return measured
