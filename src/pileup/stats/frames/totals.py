"""What the frames of a case add up to: counts and histograms per operation, exactly, over places and seconds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pileup._core._native import Histogram
from pileup.model.record import Frame, Phase
from pileup.model.results import Counts
from pileup.stats.frames.distribution import merged

OUTCOMES = ("passed", "failed", "refused", "ambiguous", "unfinished", "lost")
AMOUNTS = ("bytes", "calls", "timed_out", "repeated", "done", "moved")
MOST_SHORT = 5 * 10**8
"""Intervals shorter than this, ns, say little about a rate."""
PRESSED = frozenset({Phase.RAMP, Phase.WARM_UP, Phase.MEASURE, Phase.COOLDOWN})
"""Phases of a load's life; set-up and clean-up stand apart."""


@dataclass(slots=True)
class Durations:
    """Histograms of many frames as one. Kept encoded: laid out one takes 300 kB, and a run may have thousands."""

    parts: list[bytes] = field(default_factory=list)

    def add(self, part: bytes) -> None:
        """Add an encoded histogram; empty for none."""
        if part:
            self.parts.append(part)

    def whole(self) -> Histogram:
        """Return the sum, exactly."""
        found = merged(self.parts)
        if len(self.parts) > 1:
            self.parts = [found.encode()]
        return found


@dataclass(slots=True)
class Tally:
    """One operation, or the iterations, in one phase."""

    operation: str
    iteration: bool
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
    responses: Durations = field(default_factory=Durations)
    services: Durations = field(default_factory=Durations)

    @property
    def response(self) -> Histogram:
        """Response times of what passed (ns); made anew each time."""
        return self.responses.whole()

    @property
    def service(self) -> Histogram:
        """Service times of what passed (ns); made anew each time."""
        return self.services.whole()

    @property
    def ended(self) -> int:
        """All outcomes together."""
        return sum(self.counts.values())


@dataclass(slots=True)
class Measured:
    """A case, or several together, in one phase."""

    tallies: dict[tuple[str, bool], Tally] = field(default_factory=dict)
    missed: int = 0
    seconds: float = 0.0
    """Length of the phase by its frames; the record of operations knows it better."""
    in_flight: int = 0
    """Most iterations under way at the end of an interval."""
    left: int = 0
    """Iterations under way at the end of the last interval of the phase, over all places."""
    lateness: Durations = field(default_factory=Durations)
    cpu: float = 0.0
    """Share of one core that the generator took, mean over the phase."""

    @property
    def late(self) -> Histogram:
        """Start errors, without those of ramp and warm-up, when connections are made; made anew each time."""
        return self.lateness.whole()

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


def measure(frames: Iterable[Frame], phase: int = Phase.MEASURE) -> Measured:
    """Add up what frames tell of one phase."""
    found = Measured()
    spans: dict[int, list[int]] = {}
    left: dict[int, int] = {}
    for frame in frames:
        _add_rows(found, frame, phase)
        if frame.phase == phase or (phase == Phase.MEASURE and frame.phase in PRESSED):
            # How many were missed is known when nothing more begins: in the cool-down.
            found.missed += frame.missed
        if frame.phase in (phase, Phase.COOLDOWN):
            # The last starts stand in the frame at whose end the load had ended.
            found.lateness.add(frame.late)
        if frame.phase == phase and frame.nanoseconds:
            # Frames of no length are a ledger's: what is open there holds no client.
            found.in_flight = max(found.in_flight, frame.in_flight)
            left[frame.place] = frame.in_flight
            span = spans.setdefault(frame.place, [0, 0])
            span[0] += frame.nanoseconds
            span[1] += frame.cpu
    found.seconds = max((span[0] for span in spans.values()), default=0) / 1e9
    found.left = sum(left.values())
    found.cpu = max((span[1] / span[0] for span in spans.values() if span[0]), default=0.0)
    return found


def _add_rows(found: Measured, frame: Frame, phase: int) -> None:
    for row in frame.rows:
        if row.phase != phase:
            continue
        tally = found.tallies.setdefault((row.operation, row.iteration), Tally(row.operation, row.iteration))
        for name in OUTCOMES:
            tally.counts[name] += getattr(row, name)
        for name in AMOUNTS:
            setattr(tally, name, getattr(tally, name) + getattr(row, name))
        tally.responses.add(row.response)
        tally.services.add(row.service)
