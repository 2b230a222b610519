"""Sums over frames: the only code that adds their counts and merges their histograms.

Whoever needs figures of frames has them from here: screen and report, checks, loads that are steered, limits, a place
that may be lost. Sums are exact, whatever the order in which frames come, and take no more memory for more frames.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pileup._core._native import Histogram
from pileup.model.record import OUTCOMES, Frame, FrameRow

MOST_PARTS = 256
"""Encoded histograms that are kept side by side, 4 kB each at most; more are made one."""
SECOND = 10**9


def merged(parts: Iterable[bytes]) -> Histogram:
    """Return the sum of encoded histograms, exactly."""
    whole = Histogram()
    for part in parts:
        whole.merge(part)
    return whole


def together(several: Sequence[Histogram]) -> Histogram:
    """Return the exact sum of histograms; a single one is returned as it is."""
    first, *more = several or [Histogram()]
    if not more:
        return first
    whole = Histogram()
    for each in several:
        whole.add(each)
    return whole


@dataclass(slots=True)
class Durations:
    """Histograms of many frames as one. Kept encoded: laid out one takes 300 kB, and a run may have thousands."""

    parts: list[bytes] = field(default_factory=list)

    def add(self, part: bytes) -> None:
        """Add an encoded histogram; empty for none."""
        if part:
            self.parts.append(part)
            if len(self.parts) > MOST_PARTS:
                self.parts = [merged(self.parts).encode()]

    def whole(self) -> Histogram:
        """Return the sum; made again each time."""
        found = merged(self.parts)
        if len(self.parts) > 1:
            self.parts = [found.encode()]
        return found

    def once(self) -> Histogram:
        """Return the same, without keeping it for another call."""
        return merged(self.parts)


class NotKept(Durations):
    """Durations that are not needed."""

    __slots__ = ()

    def add(self, part: bytes) -> None:
        """Drop it."""


@dataclass(slots=True)
class LaidOut(Durations):
    """The same kept as one histogram, for repeated calls while more comes."""

    histogram: Histogram = field(default_factory=Histogram)

    def add(self, part: bytes) -> None:
        """Add an encoded histogram; empty for none."""
        self.histogram.merge(part)

    def whole(self) -> Histogram:
        """Return the sum: it grows with what is added."""
        return self.histogram


@dataclass(slots=True, kw_only=True)
class Counters:
    """Sums over rows of frames."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(OUTCOMES, 0))
    bytes: int = 0
    calls: int = 0
    timed_out: int = 0
    """Of those that did not pass, how many took at least their timeout."""
    repeated: int = 0
    """Of the calls, how many repeated an earlier one."""
    done: int = 0
    """Passed by when they ended: in this phase, whenever they were due."""
    moved: int = 0
    """Bytes by when they came."""

    def take(self, row: FrameRow) -> None:
        """Add a row."""
        for name in OUTCOMES:
            self.counts[name] += getattr(row, name)
        self.bytes += row.bytes
        self.calls += row.calls
        self.timed_out += row.timed_out
        self.repeated += row.repeated
        self.done += row.done
        self.moved += row.moved

    @property
    def ended(self) -> int:
        """All outcomes together."""
        return sum(self.counts.values())


@dataclass(slots=True)
class Tally(Counters):
    """One operation, or the iterations, with its durations."""

    operation: str
    iteration: bool
    responses: Durations = field(default_factory=Durations)
    services: Durations = field(default_factory=Durations)

    @staticmethod
    def of(row: FrameRow) -> Tally:
        """Return an empty one for what a row is about."""
        return Tally(row.operation, row.iteration)

    @staticmethod
    def of_responses(row: FrameRow) -> Tally:
        """Return one that keeps response times alone."""
        return Tally(row.operation, row.iteration, services=NotKept())

    @staticmethod
    def live(row: FrameRow) -> Tally:
        """Return one whose response times are asked for while more comes; it keeps no others."""
        return Tally(row.operation, row.iteration, LaidOut(), NotKept())

    def take(self, row: FrameRow) -> None:
        """Add a row."""
        Counters.take(self, row)
        self.responses.add(row.response)
        self.services.add(row.service)

    def join(self, other: Tally) -> None:
        """Add the sums of another one, whose durations are kept encoded."""
        for name in OUTCOMES:
            self.counts[name] += other.counts[name]
        self.bytes += other.bytes
        self.calls += other.calls
        self.timed_out += other.timed_out
        self.repeated += other.repeated
        self.done += other.done
        self.moved += other.moved
        for part in other.responses.parts:
            self.responses.add(part)
        for part in other.services.parts:
            self.services.add(part)

    @property
    def response(self) -> Histogram:
        """Response times of what passed (ns); made again each time."""
        return self.responses.whole()

    @property
    def service(self) -> Histogram:
        """Service times of what passed (ns); made again each time."""
        return self.services.whole()


@dataclass(slots=True)
class Pressed:
    """Sums over the frames of one place as a whole: how long they are, and what was begun in them."""

    time: int = 0
    """End of the newest, ns since the epoch."""
    nanoseconds: int = 0
    cpu: int = 0
    started: int = 0
    missed: int = 0
    in_flight: int = 0
    """Iterations under way at the end of the newest."""
    clients: int = 0
    """Clients that exist there."""

    def take(self, frame: Frame) -> None:
        """Add a frame."""
        self.nanoseconds += frame.nanoseconds
        self.cpu += frame.cpu
        self.started += frame.started
        self.missed += frame.missed
        if frame.time >= self.time:
            self.time, self.in_flight, self.clients = frame.time, frame.in_flight, frame.clients

    def rate(self, amount: int) -> float:
        """Return an amount of these frames per second."""
        return amount * SECOND / self.nanoseconds if self.nanoseconds else 0.0


K = TypeVar("K", bound=Hashable)
C = TypeVar("C", bound=Counters)


def add(frame: Frame, to: dict[K, C], key: Callable[[FrameRow], K | None], new: Callable[[FrameRow], C]) -> None:
    """Add each row of a frame to what is under its key, made by `new` at first; under None: to nothing."""
    for row in frame.rows:
        found = key(row)
        if found is None:
            continue
        sums = to.get(found)
        if sums is None:
            sums = to[found] = new(row)
        sums.take(row)


def counted(frames: Iterable[Frame], key: Callable[[FrameRow], K | None]) -> dict[K, Counters]:
    """Return the counters of the rows of some frames by their keys; rows with the key None are left out."""
    found: dict[K, Counters] = {}
    for frame in frames:
        add(frame, found, key, lambda _: Counters())
    return found


def total(frames: Iterable[Frame]) -> Counters:
    """Return the counters of all rows of some frames."""
    return counted(frames, lambda _: True).get(True, Counters())


def amount(frame: Frame, operation: tuple[str, bool], of: Callable[[FrameRow], int]) -> int:
    """Return an amount of one operation, or of the iterations (name, whether iterations), whatever the phase."""
    return sum(of(row) for row in frame.rows if (row.operation, row.iteration) == operation)
