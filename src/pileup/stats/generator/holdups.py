"""When pileup itself held a load back: times from its frames and its samples of itself.

A time is pileup's own when its process took its cores whole for two seconds (or wanted to: what its threads waited
for a CPU counts with what they took), when starts came late though clients were free, when its event loop came late,
or when its process did not run at all. What is late beside a slow system is not caused by pileup: of an open load whose
clients were all busy only its own samples are evidence. How late is late enough depends on what is judged: `Bar`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pileup.model import self_metrics
from pileup.model.event import Event
from pileup.model.record import Frame, Phase
from pileup.model.units import format_fraction, format_time
from pileup.record.tally import merged
from pileup.stats.monitors import MetricSeries

if TYPE_CHECKING:
    from pileup._core._native import Histogram

BUSY_CPU = 0.9
"""Share of its cores from which pileup is taken to be the bottleneck: one for each native worker that a load takes."""
BUSY_INTERPRETER = 0.7
"""The same for the threads of Python tests: handing the interpreter over from one to the next idles up to a quarter of
it (a test that only burns CPU in 64 threads was seen at 0.74 to 1.0)."""
OTHERS = 3
"""What threads waited for a CPU counts as wanted up to so many times what they took: who always wants to run beside
three others gets a quarter of a core. Many threads that wake together and want little wait, too, and saturate nothing.
"""
BUSY_FOR = 2 * 10**9
"""CPU alone is evidence when it was busy for so long, ns: a second of it may be anything."""
LATE_LONG = 50 * 10**6
"""Where lateness has to last: that of one second alone is evidence from this on, ns."""
STOPPED = 10**9
"""A watch that comes so late, ns, says that its process did not run: for records without samples of each stop."""
WATCHED = 10**8
"""Interval of the wake-ups of the watch, ns: so long before one was missed a stop may have begun. Of short stops it is
half of what was seen."""
CATCHING_UP = 25 * 10**7
"""What was due in a stop is caught up for half as long again, and for so long, ns, at most; frames report on more."""
NEAR = 15 * 10**8
"""Times that are not farther apart than this, ns, together show that something lasted."""
TOUCHING = 5 * 10**7
"""Times that are not farther apart than this, ns, are one."""
SHORTEST = 10**8
"""Frames shorter than this, ns, say little about CPU."""


def median(late: Histogram) -> float:
    """Return the median of scheduling delays, ns."""
    return float(min(late.quantile(0.5), late.max))


@dataclass(frozen=True, slots=True)
class Bar:
    """From which size on an effect of pileup matters to what is judged. Durations in ns."""

    late: float
    """The lateness of a second's starts from which on it matters."""
    loop: float
    """That of an event loop."""
    of: Callable[[Histogram], float] = median
    """What makes one number of the scheduling delays of a second: how late it was."""
    effect: Callable[[Histogram], float] | None = None
    """What these do to what is judged, where that is another number: it is compared with `late`."""
    lasting: bool = True
    """Whether lateness must last for BUSY_FOR, or be LATE_LONG."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time (ns since the epoch) in which pileup held a load back, and what shows it; durations in ns."""

    begin: int
    end: int
    cpu: float = 0.0
    """Share of a core, the most in one second; 0: not evidence."""
    late: int = 0
    """Lateness of starts in the worst second."""
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
    frames: Sequence[Frame],
    series: Sequence[MetricSeries],
    bar: Bar,
    starved: bool,
    interpreted: bool = False,
    *,
    workers: int = 1,
) -> list[Stretch]:
    """Return when pileup held one case back, over all its places, in the order of time.

    `frames` are those of the case, `series` all samples of the run, `starved` says that starts had to wait for a
    client, `interpreted` that the test is one in Python, `workers` how many cores a place may press it from.
    """
    measured = sorted((frame for frame in frames if _counts(frame)), key=lambda frame: (frame.place, frame.time))
    found, stops = [], []
    for place, span in _spans(measured).items():
        stops += _stops(series, place, span)
        found += _of_loops(series, place, span, bar.loop)
        found += _of_demand(series, place, span, BUSY_INTERPRETER if interpreted else BUSY_CPU * workers)
    found += [_of_frame(frame, bar, starved or _caught_up(frame, stops), workers) for frame in measured]
    found += [replace(each, end=_caught_up_by(each)) for each in stops]
    return _together(_lasting([each for each in found if each.why], bar.lasting))


def stops(frames: Sequence[Frame], series: Sequence[MetricSeries]) -> list[Stretch]:
    """Return when the process of a place that pressed a case did not run, as it is known: no catching up."""
    spans = _spans([frame for frame in frames if frame.nanoseconds > 0])
    return sorted(
        (each for place, span in spans.items() for each in _stops(series, place, span)), key=lambda each: each.begin
    )


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
    text = f"pileup was the bottleneck of {case} ({stretch.why})"
    return Event(self_metrics.EVENT, text, stretch.begin, stretch.end, case)


def _counts(frame: Frame) -> bool:
    return frame.phase == Phase.MEASURE and frame.nanoseconds > 0


def _spans(frames: Iterable[Frame]) -> dict[int, tuple[int, int]]:
    """Return place -> from when to when its frames go."""
    spans: dict[int, tuple[int, int]] = {}
    for frame in frames:
        begin, end = spans.get(frame.place, (frame.time - frame.nanoseconds, frame.time))
        spans[frame.place] = min(begin, frame.time - frame.nanoseconds), max(end, frame.time)
    return spans


def _of_frame(frame: Frame, bar: Bar, starved: bool, workers: int) -> Stretch:
    """Return what one second shows; a stretch without a reason when nothing."""
    cpu = frame.cpu / frame.nanoseconds
    late = _lateness(frame, bar) if frame.late and not starved else 0
    return Stretch(
        frame.time - frame.nanoseconds,
        frame.time,
        cpu if cpu > BUSY_CPU * workers and frame.nanoseconds >= SHORTEST else 0.0,
        late,
        place=frame.place,
    )


def _lateness(frame: Frame, bar: Bar) -> int:
    """Return how late the starts of a second came, ns; 0 where that does not matter."""
    errors = merged([frame.late])
    return int(bar.of(errors)) if (bar.effect or bar.of)(errors) >= bar.late else 0


def _caught_up_by(stop: Stretch) -> int:
    """Return when what was due in a stop has begun, as far as frames do not report on more."""
    return stop.end + min(stop.stopped // 2, CATCHING_UP)


def _caught_up(frame: Frame, stops: Iterable[Stretch]) -> bool:
    """Return whether a stop reaches into a second: it is named, with what was late for it, not the whole second."""
    begin = frame.time - frame.nanoseconds
    return any(each.place == frame.place and begin < _caught_up_by(each) and frame.time > each.begin for each in stops)


def _of(series: Iterable[MetricSeries], metric: str, place: int) -> Iterable[tuple[int, float]]:
    """Yield what a place sampled of itself: (time, value)."""
    for each in series:
        if (
            each.monitor == self_metrics.MONITOR
            and each.metric == metric
            and self_metrics.place_of(each.labels) == place
        ):
            yield from zip(each.times, each.values, strict=True)


def _stops(series: Sequence[MetricSeries], place: int, span: tuple[int, int]) -> list[Stretch]:
    """Return when the process of a place did not run, as exactly as its watch can say."""
    sampled = [(time, int(value * 1e9)) for time, value in _of(series, self_metrics.STOPPED, place)]
    told = [(time, late, min(WATCHED, late // 2)) for time, late in sampled]
    # an older record has no samples of stops, but what came late by more than a second was one
    told += [
        (time, late, 0)
        for time, value in _of(series, self_metrics.LAG, place)
        if (late := int(value * 1e9)) >= STOPPED
        and not any(time - late < other and other - long < time for other, long, _ in told)
    ]
    found = []
    for time, late, before in told:
        begin, end = max(span[0], time - late - before), min(span[1], time)
        if begin < end:
            found.append(Stretch(begin, end, stopped=late, place=place))
    return found


def _of_loops(series: Sequence[MetricSeries], place: int, span: tuple[int, int], least: float) -> list[Stretch]:
    """Return the seconds in which an event loop came late."""
    found = []
    for time, value in _of(series, self_metrics.LOOP_LAG, place):
        late = int(value * 1e9)
        begin, end = max(span[0], min(time - late, time - 10**9)), min(span[1], time)
        if begin < end and late > least:
            found.append(Stretch(begin, end, loop=late, place=place))
    return found


def _of_demand(series: Sequence[MetricSeries], place: int, span: tuple[int, int], busy: float) -> list[Stretch]:
    """Return the seconds in which the threads of a place took a core, or would have: they ran or waited for a CPU.

    A sample reports on the time since the one before, which is more than a second when the watch had no CPU either.
    """
    waits = dict(_of(series, self_metrics.RUN_QUEUE, place))
    found, last = [], 0
    for time, percent in sorted(_of(series, self_metrics.CPU, place)):
        begin, end = max(span[0], last or time - 10**9), min(span[1], time)
        last = time
        cpu, waited = percent / 100, waits.get(time, 0.0) / 100
        if end - begin >= SHORTEST and cpu + min(waited, OTHERS * cpu) > busy:
            found.append(Stretch(begin, end, cpu=cpu, place=place, waited=waited))
    return found


def _lasting(found: Iterable[Stretch], lasting: bool) -> list[Stretch]:
    """Return the stretches that are evidence: with what is near they lasted, or they were bad enough alone."""
    near: list[list[Stretch]] = []
    for each in sorted(found, key=lambda one: (one.place, one.begin, one.end)):
        last = near[-1] if near else []
        if last and last[-1].place == each.place and each.begin - max(one.end for one in last) <= NEAR:
            last.append(each)
        else:
            near.append([each])
    return [each for group in near for each in group if _is_evidence(each, group, lasting)]


def _is_evidence(each: Stretch, group: Sequence[Stretch], lasting: bool) -> bool:
    if each.stopped or max(each.late, each.loop) >= (LATE_LONG if lasting else 1):
        return True
    return sum(one.length for one in _joined(group)) >= BUSY_FOR


def _together(found: Sequence[Stretch]) -> list[Stretch]:
    """Return stretches of all places, one behind the other."""
    return sorted(_joined([replace(each, place=0) for each in _joined(found)]), key=lambda each: each.begin)


def _joined(found: Sequence[Stretch]) -> list[Stretch]:
    """Return stretches of the same place that touch as one, and what is late behind a stop with that."""
    made: list[Stretch] = []
    for each in sorted(found, key=lambda one: (one.place, one.begin, one.end)):
        gap = 10**9 if made and made[-1].stopped and each.late else TOUCHING
        if made and made[-1].place == each.place and each.begin - made[-1].end <= gap:
            made[-1] = _both(made[-1], each)
        else:
            made.append(each)
    return made


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


def _clock(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).strftime("%H:%M:%S")
