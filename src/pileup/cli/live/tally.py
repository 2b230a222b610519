"""A case while it runs: its figures so far and of the last seconds, added up as those of the report are."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from pileup.model.figure_words import unanswered
from pileup.model.figures import Figure
from pileup.model.record import Frame, Phase
from pileup.model.units import format_time
from pileup.stats.frames.detached import is_ledger
from pileup.stats.frames.distribution import DueDurations, plain_quantile
from pileup.stats.frames.timeline import Second, Seconds
from pileup.stats.frames.totals import Measured, recent
from pileup.stats.generator.bottleneck import seen

RECENT = 5 * 10**9
"""What "now" means for rates and quantiles, ns: the last 5 s,"""
STARTS = 10
"""or, of a load that is slower, as long as so many starts are due,"""
LONGEST = 120 * 10**9
"""but no more than this."""
HISTORY = 240
"""Seconds that sparklines can show."""
OPEN = 4
"""Of them, seconds of which frames may still come."""
SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
NEVER = 2**63


def window_of(rate: float | None) -> int:
    """Return over how long the figures of "now" are of a load that is to start so many iterations per second, ns.

    In 5 s a load of one each 10 s starts none or one: neither is its rate.
    """
    return min(LONGEST, max(RECENT, round(STARTS * 1e9 / rate))) if rate else RECENT


@dataclass(frozen=True, slots=True)
class Point:
    """One second of the history."""

    rate: float
    """Passed per second."""
    tail: float
    """p99 of the response times, ns; 0 where nothing passed."""

    @staticmethod
    def of(second: Second) -> Point:
        """Return what is shown of a second."""
        return Point(second.rates.passed, second.tail)


@dataclass(frozen=True, slots=True)
class Now:
    """Figures of the last seconds."""

    rate: float
    """Passed per second, as the next two."""
    started_rate: float
    bandwidth: float
    quantiles: dict[str, str]
    median: float
    """Of the response times, ns; infinite where less than half passed."""

    @staticmethod
    def of(measured: Measured, timeout: float | None) -> Now:
        """Return the figures of what the last seconds add up to: its histogram is large, and not kept for them."""
        told = quantiles(measured.due(timeout))
        return Now(measured.rate, measured.started_rate, measured.bandwidth, told, seen(measured, 0.5))


@dataclass(slots=True)
class CaseTally:
    """A case so far: per phase, its seconds, and its last ones. Frames of several places may come in any order."""

    phase: int = Phase.SETUP
    since: int = 0
    """When the load itself began, ns since the epoch: what was pressed before are trials, none of its phases."""
    timeout: float | None = None
    """What an iteration may take, ns."""
    window: int = RECENT
    """What "now" means, ns."""
    parts: dict[int, Measured] = field(default_factory=dict)
    places: dict[int, Frame] = field(default_factory=dict)
    """Newest frame of each place."""
    outliving: dict[int, int] = field(default_factory=dict)
    """Asynchronous operations that are open, by place."""
    _seconds: Seconds = field(default_factory=Seconds)
    _history: deque[Point] = field(default_factory=lambda: deque(maxlen=HISTORY))
    """Seconds of which nothing more comes,"""
    _going_on: list[Point] = field(default_factory=list)
    """and the others."""
    _newest: list[Frame] = field(default_factory=list)
    """Frames of `window`."""
    _now: Now | None = None
    """Their figures; None: not known yet."""
    _settled: bool = False

    def take(self, frames: Iterable[Frame]) -> None:
        """Add frames of a load's life."""
        self._settled, self._now = False, None
        for frame in frames:
            self._take(frame)
        last = max((frame.time for frame in self._newest), default=0)
        self._newest = [frame for frame in self._newest if frame.time > last - self.window]
        self._history.extend(map(Point.of, self._seconds.close(OPEN)))
        self._going_on = [Point.of(second) for second in self._seconds.in_order()]

    def _take(self, frame: Frame) -> None:
        """Add a frame. One of a ledger reports on operations that hold no client."""
        if is_ledger(frame):
            self.outliving[frame.place] = frame.in_flight
            return
        of_trial = frame.time <= self.since
        self.phase = max(self.phase, min(frame.phase, Phase.WARM_UP) if of_trial else frame.phase)
        if not of_trial or self.since == NEVER:
            self._add(frame)
        self.places[frame.place] = frame
        self._seconds.take(frame)
        self._newest.append(frame)

    def _add(self, frame: Frame) -> None:
        for phase in range(min(self.phase, Phase.MEASURE), Phase.MEASURE + 1):  # what is over is not shown any more
            self.parts.setdefault(phase, Measured.shown(phase)).take(frame)

    def begin(self, since: int) -> None:
        """Count again, from a time on: what was pressed before is not part of the figures; NEVER: trials go on."""
        if since != self.since:
            self.since, self.phase = since, Phase.SETUP
            self.parts.clear()

    def settle(self) -> None:
        """Let go of what only a running case needs: histograms take room, and there may be many cases."""
        if self._settled:
            return
        self._settled, self._now = True, None
        self._newest.clear()
        self._seconds, self._history, self._going_on = Seconds(), deque(maxlen=HISTORY), []
        for part in self.parts.values():
            part.forget_durations()

    @property
    def settled(self) -> bool:
        """Whether it has let go of what only a running case needs."""
        return self._settled

    def so_far(self) -> Measured:
        """Return the phase under way: the measured part once that has begun, with what was missed at its end."""
        return self.parts.get(min(self.phase, Phase.MEASURE)) or Measured()

    def recent(self) -> Measured:
        """Return what the last seconds add up to."""
        return recent(self._newest, live=True)

    def now(self) -> Now:
        """Return the figures of the last seconds."""
        if self._now is None:
            self._now = Now.of(self.recent(), self.timeout)
        return self._now

    @property
    def history(self) -> list[Point]:
        """The last seconds, one by one."""
        return [*self._history, *self._going_on][-HISTORY:]

    @property
    def in_flight(self) -> int:
        """Iterations under way, over all places."""
        return sum(frame.in_flight for frame in self.places.values())

    @property
    def open(self) -> int:
        """Asynchronous operations that have not ended, over all places."""
        return sum(self.outliving.values())

    @property
    def clients(self) -> int:
        """Clients that exist, over all places."""
        return sum(frame.clients for frame in self.places.values())


def quantiles(due: DueDurations) -> dict[str, str]:
    """Return what is shown of response times, as the report has it: over all that was due; "-" for too few."""
    return {name: _shown(plain_quantile(due, share)) for name, share in SHARES.items()}


def _shown(figure: Figure) -> str:
    if figure.above is not None:
        return unanswered(replace(figure, note=""))
    return format_time(figure.value) if figure.value else "-"
