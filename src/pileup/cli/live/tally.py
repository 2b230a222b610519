"""Counts and quantiles of a case while it runs, summed up from frames."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pileup.model.record import Frame, FrameRow, Phase

if TYPE_CHECKING:
    from pileup._core._native import Histogram

RECENT = 5 * 10**9
"""What "now" means for rates and quantiles, ns."""
OUTCOMES = ("passed", "failed", "refused", "ambiguous", "unfinished", "lost")


def histogram() -> Histogram | None:
    """Return an empty histogram, or None where the compiled module is not built."""
    try:
        from pileup._core._native import Histogram
    except ImportError:
        return None
    return Histogram()


@dataclass(slots=True)
class Part:
    """Frames added up: one phase of a case, or the last seconds of it."""

    nanoseconds: int = 0
    started: int = 0
    missed: int = 0
    bytes: int = 0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(OUTCOMES, 0))
    times: Histogram | None = None

    def add(self, rows: Sequence[FrameRow]) -> None:
        """Add the outcomes, bytes and times of some rows."""
        iterations = [row for row in rows if row.iteration]
        self.bytes += _bytes(rows, iterations)
        for row in iterations:
            for name in OUTCOMES:
                self.counts[name] += getattr(row, name)
            if row.response:
                self.times = self.times if self.times is not None else histogram()
                if self.times is not None:
                    self.times.merge(row.response)

    def add_starts(self, frame: Frame) -> None:
        """Add what a frame says of its interval as a whole."""
        self.nanoseconds += frame.nanoseconds
        self.started += frame.started
        self.missed += frame.missed

    @property
    def rate(self) -> float:
        """Passed per second."""
        return self.counts["passed"] * 1e9 / self.nanoseconds if self.nanoseconds else 0.0

    @property
    def started_rate(self) -> float:
        """Started per second."""
        return self.started * 1e9 / self.nanoseconds if self.nanoseconds else 0.0

    @property
    def bandwidth(self) -> float:
        """Bytes per second."""
        return self.bytes * 1e9 / self.nanoseconds if self.nanoseconds else 0.0

    def quantile(self, share: float) -> int | None:
        """Return a quantile of the response times of what passed (ns), None where nothing did."""
        return self.times.quantile(share) if self.times is not None and self.times.count else None


def _bytes(rows: Sequence[FrameRow], iterations: Sequence[FrameRow]) -> int:
    """Bytes of the iterations; of the operations inside them where iterations carry none."""
    return sum(row.bytes for row in iterations) or sum(row.bytes for row in rows)


@dataclass(slots=True)
class CaseTally:
    """A case so far: per phase, and its last seconds. Frames of several places may come in any order."""

    phase: int = Phase.SETUP
    since: int = 0
    """When the load itself began, ns since the epoch: what was pressed before are trials, none of its phases."""
    parts: dict[int, Part] = field(default_factory=dict)
    places: dict[int, Frame] = field(default_factory=dict)
    """Newest frame of each place."""
    outliving: dict[int, int] = field(default_factory=dict)
    """Operations that outlive their iterations and are open, by place."""
    _recent: deque[Frame] = field(default_factory=deque)

    def take(self, frame: Frame) -> None:
        """Add a frame. One of no length is a ledger's: it tells of operations that hold no client."""
        if frame.nanoseconds == 0:
            self.outliving[frame.place] = frame.in_flight
            return
        of_trial = frame.time < self.since
        self.phase = max(self.phase, min(frame.phase, Phase.WARM_UP) if of_trial else frame.phase)
        self._part(frame.phase).add_starts(frame)
        for phase in {row.phase for row in frame.rows}:
            self._part(phase).add([row for row in frame.rows if row.phase == phase])
        self.places[frame.place] = frame
        self._recent.append(frame)
        while self._recent[0].time <= frame.time - RECENT:
            self._recent.popleft()

    def _part(self, phase: int) -> Part:
        return self.parts.setdefault(phase, Part())

    def settle(self) -> None:
        """Let go of what only a running case needs: histograms take room, and there may be many cases."""
        self._recent.clear()
        for part in self.parts.values():
            part.times = None

    def so_far(self) -> Part:
        """Return the phase under way: the measured part once that has begun, with what was missed at its end."""
        part = self.parts.get(min(self.phase, Phase.MEASURE)) or Part()
        after = self.parts.get(Phase.COOLDOWN)
        return replace(part, missed=part.missed + after.missed) if after else part

    def recent(self) -> Part:
        """Return the last seconds, as if one place had done all."""
        part = Part()
        for frame in self._recent:
            part.add_starts(frame)
            part.add(frame.rows)
        part.nanoseconds //= max(1, len({frame.place for frame in self._recent}))
        return part

    @property
    def in_flight(self) -> int:
        """Iterations under way, over all places."""
        return sum(frame.in_flight for frame in self.places.values())

    @property
    def open(self) -> int:
        """Operations that outlive their iterations and have not ended, over all places."""
        return sum(self.outliving.values())

    @property
    def clients(self) -> int:
        """Clients that exist, over all places."""
        return sum(frame.clients for frame in self.places.values())
