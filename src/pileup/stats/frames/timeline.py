"""A case second by second, summed over its places: what the report draws, and the screen while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from pileup.model.record import PRESSED, Frame, FrameRow, Phase
from pileup.model.results import Timeline
from pileup.record.tally import SECOND, Counters, Durations, Pressed, Tally, add, amount, merged
from pileup.stats.frames.distribution import DueDurations
from pileup.stats.frames.response_map import MapColumn, column, response_map
from pileup.stats.frames.totals import MOST_SHORT

SHARES = (0.5, 0.9, 0.99)
"""Quantiles of each second."""
LATE = 0.99
"""The one of its scheduling delays."""
TAIL = 0.99
NOTHING = Counters()


@dataclass(slots=True)
class Rates:
    """What was done in a second, per second: iterations, and their bytes."""

    started: float = 0.0
    missed: float = 0.0
    passed: float = 0.0
    ended: float = 0.0
    bytes: float = 0.0


@dataclass(slots=True)
class Second:
    """One second of a case."""

    time: int = 0
    """End of its newest frame, ns since the epoch."""
    phase: int = 0
    places: dict[int, Pressed] = field(default_factory=dict)
    iterations: dict[int, Tally] = field(default_factory=dict)
    """Place -> those that ended there."""
    late: Durations = field(default_factory=Durations)
    _tail: float | None = None

    def take(self, frame: Frame) -> None:
        """Add a frame of a load's life."""
        self.time, self.phase = max(self.time, frame.time), frame.phase
        if (pressed := self.places.get(frame.place)) is None:
            pressed = self.places[frame.place] = Pressed()
        pressed.take(frame)
        add(frame, self.iterations, lambda row: frame.place if _counts(row) else None, Tally.of_responses)
        self.late.add(frame.late)
        self._tail = None

    @property
    def seconds(self) -> float:
        """How long it is."""
        return max(place.nanoseconds for place in self.places.values()) / SECOND

    @property
    def rates(self) -> Rates:
        """Its rates, over places: always added in one order, that of a folder's tables."""
        found = Rates()
        for number in sorted(self.places, key=str):
            place, ended = self.places[number], self.iterations.get(number, NOTHING)
            found.started += place.rate(place.started)
            found.missed += place.rate(place.missed)
            found.passed += place.rate(ended.counts["passed"])
            found.ended += place.rate(ended.ended)
            found.bytes += place.rate(ended.moved)
        return found

    def due(self) -> DueDurations:
        """Return the response times of all iterations that ended in it."""
        passed = merged(part for place in self.iterations.values() for part in place.responses.parts)
        return DueDurations(passed, unanswered=sum(place.ended for place in self.iterations.values()) - passed.count)

    @property
    def tail(self) -> float:
        """The p99 of its response times, ns, however few they are; where that had no answer the longest; 0 for none."""
        if self._tail is None:
            due = self.due()
            self._tail = due.at_rank(min(due.rank(TAIL), due.passed.count)) if due.passed.count else 0.0
        return self._tail


@dataclass(slots=True)
class Seconds:
    """The seconds of a case, of frames as they come. A short last interval of a place joins the one before."""

    open: dict[int, Second] = field(default_factory=dict)
    """Second since the epoch -> what was done in it."""
    _last: dict[int, int] = field(default_factory=dict)
    """Place -> second of its newest frame."""

    def take(self, frame: Frame) -> None:
        """Add a frame; those of set-up and clean-up are left out."""
        if frame.phase not in PRESSED:
            return
        key = frame.time // SECOND
        if frame.nanoseconds < MOST_SHORT and frame.place in self._last:
            key = self._last[frame.place]
        self._last[frame.place] = key
        self.open.setdefault(key, Second()).take(frame)

    def in_order(self) -> list[Second]:
        """Return them in the order of time."""
        return [self.open[key] for key in sorted(self.open)]

    def close(self, most: int) -> list[Second]:
        """Let go of all but so many of the newest, and return what was let go in the order of time."""
        keys = sorted(self.open)[: max(0, len(self.open) - most)]
        return [self.open.pop(key) for key in keys]


def timeline(frames: Iterable[Frame]) -> Timeline | None:
    """Return the timeline of one case; None when it was never pressed."""
    seconds = Seconds()
    for frame in frames:
        seconds.take(frame)
    return _columns(seconds.in_order()) if seconds.open else None


def amounts(frames: Iterable[Frame], operation: tuple[str, bool], of: Callable[[FrameRow], int]) -> list[float]:
    """Return an amount of an operation (name, whether iterations) in each second of measuring, over places."""
    parts: dict[tuple[int, int], tuple[int, int]] = {}
    for frame in frames:
        if frame.phase == Phase.MEASURE and frame.nanoseconds >= MOST_SHORT:
            # Two frames of a place may end in one second, none in the next: together they are no double rate.
            place = (frame.time // SECOND, frame.place)
            before, nanoseconds = parts.get(place, (0, 0))
            parts[place] = (before + amount(frame, operation, of), nanoseconds + frame.nanoseconds)
    each = [(second, found / nanoseconds * 1e9) for (second, _), (found, nanoseconds) in sorted(parts.items())]
    return [sum(value for _, value in group) for _, group in groupby(each, key=lambda rate: rate[0])]


def _counts(row: FrameRow) -> bool:
    return row.iteration and row.phase in PRESSED


def _columns(seconds: Sequence[Second]) -> Timeline:
    rates = [second.rates for second in seconds]
    told = [_second(second) for second in seconds]
    quantiles = [each for each, _ in told]
    errors = [second.late.once() for second in seconds]
    return Timeline(
        times=tuple(second.time for second in seconds),
        seconds=tuple(second.seconds for second in seconds),
        phase=tuple(second.phase for second in seconds),
        started=tuple(each.started for each in rates),
        passed=tuple(each.passed for each in rates),
        not_passed=tuple(each.ended - each.passed for each in rates),
        missed=tuple(each.missed for each in rates),
        bandwidth=tuple(each.bytes for each in rates),
        in_flight=tuple(sum(place.in_flight for place in second.places.values()) for second in seconds),
        clients=tuple(sum(place.clients for place in second.places.values()) for second in seconds),
        p50=tuple(each[0] for each in quantiles),
        p90=tuple(each[1] for each in quantiles),
        p99=tuple(each[2] for each in quantiles),
        late=tuple(DueDurations(late).value(LATE) for late in errors),
        latest=tuple(float(late.max) if late.count else None for late in errors),
        responses=response_map([column for _, column in told]),
    )


def _second(second: Second) -> tuple[tuple[float | None, ...], MapColumn]:
    """Return the quantiles of a second and its response times: one histogram takes 300 kB, and is let go of."""
    due = second.due()
    return _quantiles(due), column(second.time - round(second.seconds * SECOND), second.time, due)


def _quantiles(due: DueDurations) -> tuple[float | None, ...]:
    """Return the quantiles of response times over all iterations that ended in a second: those that did not pass count
    as slower than any. None where they are too few for one, or where it is among those that did not pass.
    """
    return tuple(due.value(share) for share in SHARES)
