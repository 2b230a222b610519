"""When the generator itself was the limit: times found in its frames and in what it sampled of itself.

A stretch of time is the generator's when its process took a core whole for two seconds (Python tests share one
interpreter: what its threads waited for a CPU counts, too), when starts came late though clients were free, when its
event loop came late, or when its process did not run at all. What is late beside a slow system is no fault of the
generator: of an open load whose clients were all busy only its own samples are evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from pileup.model import own
from pileup.model.event import Event
from pileup.model.record import Frame, Phase
from pileup.model.units import format_fraction, format_time
from pileup.stats.distribution import merged
from pileup.stats.monitors import Whole

BUSY_CPU = 0.9
"""Share of one core from which the generator is taken to be the limit."""
BUSY_INTERPRETER = 0.7
"""The same for the threads of Python tests, with what they waited for a CPU: handing the interpreter over from one to
the next idles up to a quarter of it (a test that only burns CPU in 64 threads was seen at 0.74 to 1.0)."""
BUSY_FOR = 2 * 10**9
"""CPU alone is evidence when it was busy for so long, ns: a second of it may be anything."""
LATE_SHARE = 0.5
"""Lateness beyond this share of the median response makes the figures those of the generator."""
LATE_LEAST = 5 * 10**6
"""Start errors (p99 of a second) up to this, ns, are no evidence."""
LATE_LONG = 50 * 10**6
"""Lateness of one second alone is evidence from this on, ns; less than that must last."""
LOOP_LEAST = 50 * 10**6
STOPPED = 10**9
"""A watch that comes so late, ns, says that its process did not run."""
JOINED = 15 * 10**8
"""Stretches that are not farther apart than this, ns, are told as one."""
SHORTEST = 5 * 10**8
"""Frames shorter than this, ns, say little about CPU."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time (ns since the epoch) in which the generator was the limit, and what shows it; durations in ns."""

    begin: int
    end: int
    cpu: float = 0.0
    """Share of a core, the most in one second; 0: not evidence."""
    late: int = 0
    """Start error, p99 of the worst second."""
    loop: int = 0
    """Lateness of an event loop."""
    stopped: int = 0
    """Time for which the process did not run."""
    place: int = 0
    waited: float = 0.0
    """Time for which its threads were ready and had no CPU beside `cpu`, share of a core, in that second."""

    @property
    def length(self) -> int:
        """How long it was, ns."""
        return self.end - self.begin

    @property
    def why(self) -> str:
        """What shows it, in words."""
        told = [
            f"CPU {format_fraction(self.cpu)} of a core" if self.cpu and not self.waited else "",
            f"CPU {format_fraction(self.cpu)} of a core and {format_fraction(self.waited)} waited for"
            if self.waited
            else "",
            f"starts {format_time(self.late)} late" if self.late else "",
            f"event loop {format_time(self.loop)} late" if self.loop else "",
            f"its process did not run for {format_time(self.stopped)}" if self.stopped else "",
        ]
        return ", ".join(part for part in told if part)

    @property
    def when(self) -> str:
        """From when to when, UTC."""
        return f"from {_clock(self.begin)} to {_clock(-(-self.end // 10**9) * 10**9)}"


def stretches(
    frames: Sequence[Frame], series: Sequence[Whole], median: float, starved: bool, interpreted: bool = False
) -> list[Stretch]:
    """Return when the generator was the limit of one case, over all its places, in the order of time.

    `frames` are those of the case, `series` all samples of the run, `median` is that of its responses (ns), `starved`
    says that starts had to wait for a client, `interpreted` that the test is one in Python.
    """
    measured = sorted((frame for frame in frames if _counts(frame)), key=lambda frame: (frame.place, frame.time))
    if not measured:
        return []
    least = max(LATE_SHARE * median, LATE_LEAST)
    spans: dict[int, tuple[int, int]] = {}
    for frame in measured:
        begin, end = spans.get(frame.place, (frame.time - frame.nanoseconds, frame.time))
        spans[frame.place] = min(begin, frame.time - frame.nanoseconds), max(end, frame.time)
    found = []
    for place, span in spans.items():
        found += _of_samples(series, place, span, max(LATE_SHARE * median, LOOP_LEAST))
        found += _of_interpreter(series, place, span) if interpreted else []
    stops = [each for each in found if each.stopped]
    found += [_of_frame(frame, least, starved or _caught_up(frame, stops)) for frame in measured]
    lasting = [each for each in _joined([each for each in found if each.why]) if _is_evidence(each)]
    return _together(lasting)


def share(found: Sequence[Stretch], frames: Iterable[Frame]) -> float:
    """Return the share of the measured time that stretches take."""
    measured = [frame for frame in frames if _counts(frame)]
    if not measured or not found:
        return 0.0
    begin, end = min(frame.time - frame.nanoseconds for frame in measured), max(frame.time for frame in measured)
    inside = sum(max(0, min(each.end, end) - max(each.begin, begin)) for each in found)
    return inside / max(1, end - begin)


def event(case: str, stretch: Stretch) -> Event:
    """Return what charts and lists of events show of a stretch."""
    text = f"the generator was the limit of {case} ({stretch.why})"
    return Event(own.EVENT, text, stretch.begin, stretch.end, case)


def _counts(frame: Frame) -> bool:
    return frame.phase == Phase.MEASURE and frame.nanoseconds > 0


def _of_frame(frame: Frame, least: float, starved: bool) -> Stretch:
    """Return what one second shows; a stretch without a reason when nothing."""
    cpu = frame.cpu / frame.nanoseconds
    late = 0
    if frame.late and not starved:
        errors = merged([frame.late])
        late = int(min(errors.quantile(0.99), errors.max))
    return Stretch(
        frame.time - frame.nanoseconds,
        frame.time,
        cpu if cpu > BUSY_CPU and frame.nanoseconds >= SHORTEST else 0.0,
        late if late > least else 0,
        place=frame.place,
    )


def _caught_up(frame: Frame, stops: Iterable[Stretch]) -> bool:
    """Return whether starts of a second were late for a stop that ended in it, or just before: the stop is told."""
    begin = frame.time - frame.nanoseconds
    return any(each.place == frame.place and begin < each.end + SHORTEST and frame.time > each.begin for each in stops)


def _of_samples(series: Iterable[Whole], place: int, span: tuple[int, int], least: float) -> list[Stretch]:
    """Return when an event loop came late, or the process of a place did not run."""
    found = []
    for each in series:
        if each.monitor != own.MONITOR or own.place_of(each.labels) != place:
            continue
        if each.metric not in (own.LAG, own.LOOP_LAG):
            continue
        for time, value in zip(each.times, each.values, strict=True):
            late = int(value * 1e9)
            begin, end = max(span[0], time - late), min(span[1], time)
            if begin >= end:
                continue
            if each.metric == own.LAG and late >= STOPPED:
                found.append(Stretch(begin, end, stopped=late, place=place))
            elif each.metric == own.LOOP_LAG and late > least:
                found.append(Stretch(max(span[0], min(begin, time - 10**9)), end, loop=late, place=place))
    return found


def _of_interpreter(series: Iterable[Whole], place: int, span: tuple[int, int]) -> list[Stretch]:
    """Return when the threads of Python tests, one of which runs at a time, ran or waited for a CPU all the time."""
    metrics = {
        each.metric: dict(zip(each.times, each.values, strict=True))
        for each in series
        if each.monitor == own.MONITOR and own.place_of(each.labels) == place
    }
    waits = metrics.get(own.RUN_QUEUE, {})
    found = []
    for time, percent in metrics.get(own.CPU, {}).items():
        begin, end = max(span[0], time - 10**9), min(span[1], time)
        cpu, waited = percent / 100, waits.get(time, 0.0) / 100
        if end - begin >= SHORTEST and cpu + waited > BUSY_INTERPRETER:
            found.append(Stretch(begin, end, cpu=cpu, place=place, waited=waited))
    return found


def _joined(found: Sequence[Stretch]) -> list[Stretch]:
    """Return stretches of the same place that touch, or nearly so, as one."""
    made: list[Stretch] = []
    for each in sorted(found, key=lambda one: (one.place, one.begin, one.end)):
        if made and made[-1].place == each.place and each.begin - made[-1].end <= JOINED:
            made[-1] = _both(made[-1], each)
        else:
            made.append(each)
    return made


def _together(found: Sequence[Stretch]) -> list[Stretch]:
    """Return stretches of all places, one behind the other."""
    return sorted(_joined([replace(each, place=0) for each in found]), key=lambda each: each.begin)


def _both(first: Stretch, second: Stretch) -> Stretch:
    return Stretch(
        min(first.begin, second.begin),
        max(first.end, second.end),
        max(first.cpu, second.cpu),
        max(first.late, second.late),
        max(first.loop, second.loop),
        max(first.stopped, second.stopped),
        first.place,
        max(first, second, key=lambda each: each.cpu).waited,
    )


def _is_evidence(each: Stretch) -> bool:
    """Return whether a stretch lasted, or was bad enough, to be worth a verdict."""
    return each.length >= BUSY_FOR or bool(each.stopped) or max(each.late, each.loop) >= LATE_LONG


def _clock(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).strftime("%H:%M:%S")
