"""A case second by second, summed over its places."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import count

from pileup._core._native import Histogram
from pileup.model.record import Frame
from pileup.model.results import Timeline
from pileup.stats.frames.distribution import merged
from pileup.stats.frames.totals import MOST_SHORT, OUTCOMES, PRESSED
from pileup.stats.intervals.confidence import quantile_ranks

SECOND = 10**9
SHARES = (0.5, 0.9, 0.99)
"""Quantiles of each second."""
LATE = 0.99
"""The one of its start errors."""


@dataclass(slots=True)
class _Part:
    """What one place did in one second."""

    nanoseconds: int = 0
    started: int = 0
    missed: int = 0
    passed: int = 0
    ended: int = 0
    bytes: int = 0
    in_flight: int = 0
    clients: int = 0

    def add(self, frame: Frame) -> None:
        self.nanoseconds += frame.nanoseconds
        self.started += frame.started
        self.missed += frame.missed
        self.in_flight, self.clients = frame.in_flight, frame.clients
        for row in frame.rows:
            if row.iteration and row.phase in PRESSED:
                self.passed += row.passed
                self.ended += sum(getattr(row, name) for name in OUTCOMES)
                self.bytes += row.moved

    def rate(self, amount: int) -> float:
        return amount * SECOND / self.nanoseconds if self.nanoseconds else 0.0


@dataclass(slots=True)
class _Second:
    time: int = 0
    phase: int = 0
    places: dict[int, _Part] = field(default_factory=dict)
    response: list[bytes] = field(default_factory=list)
    late: list[bytes] = field(default_factory=list)

    def add(self, frame: Frame) -> None:
        self.time, self.phase = max(self.time, frame.time), frame.phase
        self.places.setdefault(frame.place, _Part()).add(frame)
        self.late += [frame.late] if frame.late else []
        self.response += [row.response for row in frame.rows if row.iteration and row.phase in PRESSED and row.response]

    def rate(self, name: str) -> float:
        return sum(part.rate(getattr(part, name)) for part in self.places.values())

    def level(self, name: str) -> int:
        return sum(getattr(part, name) for part in self.places.values())


def timeline(frames: Iterable[Frame]) -> Timeline | None:
    """Return the timeline of one case; None when it was never pressed. A short last interval joins the one before."""
    seconds: dict[int, _Second] = {}
    last: dict[int, int] = {}
    for frame in frames:
        if frame.phase not in PRESSED:
            continue
        key = frame.time // SECOND
        if frame.nanoseconds < MOST_SHORT and frame.place in last:
            key = last[frame.place]
        last[frame.place] = key
        seconds.setdefault(key, _Second()).add(frame)
    return _columns([seconds[key] for key in sorted(seconds)]) if seconds else None


def _columns(seconds: list[_Second]) -> Timeline:
    quantiles = [_quantiles(second) for second in seconds]
    errors = [merged(second.late) for second in seconds]
    return Timeline(
        times=tuple(second.time for second in seconds),
        seconds=tuple(max(part.nanoseconds for part in second.places.values()) / SECOND for second in seconds),
        phase=tuple(second.phase for second in seconds),
        started=tuple(second.rate("started") for second in seconds),
        passed=tuple(second.rate("passed") for second in seconds),
        not_passed=tuple(second.rate("ended") - second.rate("passed") for second in seconds),
        missed=tuple(second.rate("missed") for second in seconds),
        bandwidth=tuple(second.rate("bytes") for second in seconds),
        in_flight=tuple(second.level("in_flight") for second in seconds),
        clients=tuple(second.level("clients") for second in seconds),
        p50=tuple(each[0] for each in quantiles),
        p90=tuple(each[1] for each in quantiles),
        p99=tuple(each[2] for each in quantiles),
        late=tuple(_late(late) for late in errors),
        latest=tuple(float(late.max) if late.count else None for late in errors),
    )


def _quantiles(second: _Second) -> tuple[float | None, ...]:
    """Return the quantiles of response times over all iterations that ended in a second: those that did not pass count
    as slower than any. None where they are too few for one, or where it is among those that did not pass.
    """
    ended = sum(part.ended for part in second.places.values())
    if ended < fewest(SHARES[0]):
        return (None,) * len(SHARES)
    histogram = merged(second.response)
    return tuple(_quantile(histogram, share, ended) if ended >= fewest(share) else None for share in SHARES)


def _quantile(histogram: Histogram, share: float, ended: int) -> float | None:
    rank = max(1, math.ceil(share * ended))
    return float(min(histogram.at_rank(rank), histogram.max)) if rank <= histogram.count else None


@cache
def fewest(share: float) -> int:
    """Return how many values a quantile takes at least."""
    return next(n for n in count(1) if quantile_ranks(share, n) is not None)


def _late(errors: Histogram) -> float | None:
    return _quantile(errors, LATE, errors.count) if errors.count >= fewest(LATE) else None
