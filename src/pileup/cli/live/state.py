"""What the screen shows of a run that goes on, read from its growing folder and from nothing else."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pileup.cli.live.tally import NEVER, CaseTally, window_of
from pileup.model import self_metrics
from pileup.model.journal import EventEntry
from pileup.model.manifest import CaseEntry, CriterionEntry, FindEntry, RunState
from pileup.model.record import PRESSED, CaseOutcome, Frame, Phase
from pileup.record import ErrorTail, Position, RunFolder
from pileup.stats.errors import said
from pileup.stats.frames.window import going_on
from pileup.stats.verdicts.so_far import SoFar, so_far

MESSAGES = 6


@dataclass(slots=True)
class CaseState:
    """One case: what run.json says of it, and how far it is."""

    number: int
    name: str
    load: str
    longest: int
    rate: float | None
    started: int | None = None
    ended: int | None = None
    outcome: CaseOutcome | None = None
    reason: str = ""
    workers: int = 1
    """Cores that a place may press it from."""
    trial: int = 0
    """Number of the trial under way while a level is looked for; 0 otherwise."""
    tally: CaseTally = field(default_factory=CaseTally)
    test: str = ""
    point: Mapping[str, str] = field(default_factory=dict)
    spans: tuple[tuple[int, int], ...] = ()
    """What is measured of several levels, ns after the begin of the first."""
    judged: tuple[SoFar, ...] = ()
    """What criteria say of it so far."""

    def look_for(self, find: FindEntry | None) -> None:
        """Take in what run.json says of the search for a level: trials come before what is measured."""
        self.trial = len(find.trials) + 1 if find and find.measuring is None else 0
        self.tally.begin(NEVER if self.trial else (find.measuring or 0) if find else 0)

    @property
    def has_rate(self) -> bool:
        """Whether the window of "now" is long enough for a rate: at least two starts are due in it."""
        return not self.rate or self.rate * self.tally.window >= 2e9

    @property
    def running(self) -> bool:
        """It has begun and not ended."""
        return self.started is not None and not self.outcome


@dataclass(slots=True)
class Message:
    """Something that happened and that the user should know, with how often."""

    text: str
    count: int = 1


@dataclass(slots=True)
class State:
    """A run as it is. Times in ns since the epoch, durations in ns."""

    title: str = ""
    started: int = 0
    expected: int = 0
    """Time that it is expected to take; 0: nobody knows."""
    longest: int = 0
    ended: bool = False
    criteria: tuple[CriterionEntry, ...] = ()
    now: int = 0
    cases: dict[int, CaseState] = field(default_factory=dict)
    metrics: dict[tuple[str, str, str], tuple[float, str]] = field(default_factory=dict)
    """(monitor, metric, labels) -> newest value and its unit."""
    watched: int = 0
    """Time of the newest sample of the generator itself."""
    messages: deque[Message] = field(default_factory=lambda: deque(maxlen=MESSAGES))

    @property
    def running(self) -> list[CaseState]:
        """Cases under way."""
        return [case for case in self.cases.values() if case.running]

    @property
    def finished(self) -> list[CaseState]:
        """Cases that have an outcome, in the order in which they got it."""
        done = [case for case in self.cases.values() if case.outcome]
        return sorted(done, key=lambda case: (case.ended or 0, case.number))


class FolderWatcher:
    """Reads what is new in a run folder at each `look`. Nothing there raises: a torn file is read next time."""

    def __init__(self, path: Path, now: Callable[[], int] = time.time_ns) -> None:
        self.state = State()
        self._path = path
        self._now = now
        self._folder: RunFolder | None = None
        self._version: tuple[int, int, int] | None = None
        """Of run.json as it was read: a long one takes longer to read than all else."""
        self._frames: Position | None = None
        """How far frames were read."""
        self._tail: tuple[Sequence[Frame], Position] | None = None
        """What was behind that when this look began, and where it ends."""
        self._samples: Position | None = None
        self._errors: dict[int, ErrorTail] = {}
        self._events = 0
        self._since = 0
        """When this session of the run began: what became of cases before is in run.json."""
        self._void: set[tuple[int, int]] = set()
        """(case, place) of attempts that were broken off and are made again."""

    def look(self) -> State:
        """Bring the state up to date and return it."""
        self.state.now = self._now()
        events, samples = self._read_events, self._read_samples
        for part in (self._find_frames, self._read_info, events, self._read_frames, samples, self._read_errors):
            try:
                part()
            except Exception:  # noqa: S112  # a screen never ends a run; it looks again
                continue
        for case in self.state.cases.values():
            self._judge(case)
        for case in self.state.finished:
            case.tally.settle()
        return self.state

    def _judge(self, case: CaseState) -> None:
        """Look what criteria say of a case of which something was measured."""
        tally = case.tally
        if tally.settled or tally.phase < Phase.MEASURE or Phase.MEASURE not in tally.parts:
            return
        mine = [each for each in self.state.criteria if not each.at or any(_is_at(case.point, at) for at in each.at)]
        window = going_on(tally.places.values(), case.spans)
        case.judged = so_far(mine, case.test, tally.so_far(), window, tally.timeout)

    def _open(self) -> RunFolder:
        if self._folder is None:
            self._folder = RunFolder.open(self._path)
        return self._folder

    def _find_frames(self) -> None:
        """See where frames end before run.json is read: that then knows what each of them was pressed for."""
        self._tail = None
        self._tail = self._open().tail_frames(self._frames)

    def _read_info(self) -> None:
        tail, self._tail = self._tail, None
        version = self._open().manifest_version()
        run = None if version == self._version else self._open().manifest()
        self._tail = tail  # frames wait until run.json can be read
        if run is None:
            return
        self._version = version
        state = self.state
        state.title, state.started = run.title, run.started
        state.criteria, state.expected = run.criteria, run.expected
        state.ended = run.state is RunState.ENDED
        self._since = max((session.started for session in run.sessions), default=0)
        self._void = set(run.void)
        for entry in run.cases:
            case = state.cases.get(entry.id) or self._add(entry)
            case.look_for(entry.find)
            case.rate, case.workers = entry.rate, entry.workers or 1
            case.tally.timeout, case.tally.window = entry.timeout, window_of(entry.rate)
            if entry.started:
                case.started = entry.started
            if entry.outcome:
                case.outcome, case.reason = entry.outcome, entry.reason
                case.ended = entry.ended or case.ended or state.now
        state.longest = run.longest or sum(case.longest for case in state.cases.values())

    def _add(self, entry: CaseEntry) -> CaseState:
        case = CaseState(entry.id, entry.name, entry.load, entry.longest, entry.rate)
        case.test, case.point, case.spans = entry.test, dict(entry.point), tuple(entry.spans)
        self.state.cases[case.number] = case
        return case

    def _read_events(self) -> None:
        for event in self._open().events():
            if event.number <= self._events:
                continue
            self._events = event.number
            if event.time < self._since:
                continue
            if event.kind == "case":
                self._case_event(event)
            else:
                self._say(event.text)

    def _case_event(self, event: EventEntry) -> None:
        """Events are there at once; run.json follows within a second or two."""
        case = self.state.cases.get(event.case) if isinstance(event.case, int) else None
        if case is None:
            return
        if event.ended is not None:
            case.outcome, case.reason = event.ended, event.reason
            case.ended = event.time
        elif case.started is None:
            case.started = event.time

    def _say(self, text: str, *, counted: bool = True) -> None:
        """Put a message last; not `counted` is what is seen in samples only, so that its number would be wrong."""
        messages = self.state.messages
        known = next((message for message in messages if message.text == text), None)
        if known is None:
            messages.append(Message(text))
        else:
            known.count += counted
            messages.remove(known)
            messages.append(known)

    def _read_frames(self) -> None:
        if self._tail is None:
            return
        frames, self._frames = self._tail
        pressed: dict[int, list[Frame]] = {}
        for frame in sorted(frames, key=lambda each: each.time):
            if frame.phase in PRESSED and (frame.case, frame.place) not in self._void:
                pressed.setdefault(frame.case, []).append(frame)
        for number, together in pressed.items():
            if number in self.state.cases:
                self.state.cases[number].tally.take(together)

    def _read_samples(self) -> None:
        rows, self._samples = self._open().tail_samples(self._samples)
        for row in rows:
            sample = row.sample
            if row.monitor == self_metrics.MONITOR:
                self.state.watched = max(self.state.watched, row.time)
                if (
                    sample.metric == self_metrics.CPU
                ):  # comes first each second: a loop that has ended says nothing more
                    self.state.metrics.pop((self_metrics.MONITOR, self_metrics.LOOP_LAG, sample.labels), None)
            self.state.metrics[row.monitor, sample.metric, sample.labels] = sample.value, sample.unit

    def _read_errors(self) -> None:
        folder = self._open()
        places = {place for case in self.state.running for place in case.tally.places} or {0}
        for place in places:
            tail = self._errors.setdefault(place, ErrorTail(folder.operations_path(place)))
            for error in tail.look():
                case = self.state.cases.get(error.case)
                names = dict.fromkeys(name for name in (case.name if case else "", error.operation) if name)
                message = said(error.message, error.operation) or "did not pass"
                self._say(f"{' '.join(names)}: {message}", counted=False)


def _is_at(point: Mapping[str, str], at: Mapping[str, str]) -> bool:
    return all(point.get(name) == value for name, value in at.items())


__all__ = ["CaseState", "FolderWatcher", "Message", "State"]
