"""What run.json holds, as frozen types (docs/record.md has its keys); `record/manifest.py` alone reads and writes it.

The fields are those of the file, by the same names and in its order; one that is a keyword of Python ends with an
underscore. Times in nanoseconds since the epoch, durations in nanoseconds, rates per second. Defaults of fields are the
values for older records, which lack them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pileup.model.check import Check, Unreadable
from pileup.model.ending import StoppedBy
from pileup.model.not_covered import Uncovered
from pileup.model.record import CaseOutcome
from pileup.model.verdict import RunVerdict

LATER = {"later": True}
"""Metadata of a field that is in run.json only once there is something to say."""


class RunState(StrEnum):
    """The state of a run; one that has crashed stays at `running`."""

    RUNNING = "running"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Session:
    """One time that pileup worked on a run; a run that is resumed has several."""

    started: int
    ended: int | None = None
    """None: it goes on, or has crashed."""


@dataclass(frozen=True, slots=True)
class SuiteSource:
    """The suite of a run."""

    source: str = ""
    """The file."""
    folder: str = ""
    text: str = ""
    """Its text, secrets hidden."""
    digest: str = ""
    """SHA-256 of the file's bytes and the values set, hexadecimal."""
    values: Mapping[str, str] = field(default_factory=dict)
    """What was set on the command line, secrets hidden."""


@dataclass(frozen=True, slots=True)
class Host:
    """A machine that generated load. `memory` in bytes."""

    name: str = ""
    system: str = field(default="", metadata=LATER)
    kernel: str = field(default="", metadata=LATER)
    machine: str = field(default="", metadata=LATER)
    cpu: str = field(default="", metadata=LATER)
    cpus: int | None = field(default=None, metadata=LATER)
    memory: int | None = field(default=None, metadata=LATER)
    open_files: int | None = field(default=None, metadata=LATER)
    """Files that a process may have open."""
    congestion_control: str = ""
    load1: float | None = field(default=None, metadata=LATER)
    """Its load average, over a minute, when the run began."""
    clock_error: int | None = field(default=None, metadata=LATER)
    """Bound of the error of its clock against UTC when the run began, ns; None: nothing keeps it right, or unknown."""


@dataclass(frozen=True, slots=True)
class TargetEntry:
    """A target as it was reached."""

    name: str
    kind: str = ""
    url: str = ""
    launched: bool = False
    """Whether pileup started it."""
    private: bool | None = None
    """Whether it ends with the session: a private server or folder; None in old records."""
    about: str = ""
    """What it reports about itself, or why it is unavailable."""
    remarks: tuple[str, ...] = field(default=(), metadata=LATER)


@dataclass(frozen=True, slots=True)
class PlaceEntry:
    """A process that generated a part of the load."""

    number: int = 0
    name: str = ""
    host: str = ""
    workers: int | None = field(default=None, metadata=LATER)
    """Native workers; None in old records."""
    offset: int = 0
    """Of its clock, ns."""
    error: int = 0
    """Bound of the error of that, ns."""
    session: int | str = ""
    """Which session of the run had it, from 1; in a merged run with the run before a colon."""


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The state of a search for the highest level that meets its conditions; see stats/loads/knee.py."""

    level: float
    low: float
    high: float
    below: float
    """How probable it is that even the lowest level does not meet them."""
    above: float
    """How probable it is that the highest level still meets them."""


@dataclass(frozen=True, slots=True)
class TrialResult:
    """One trial of a search. `begin` and `end` in ns since the epoch, settling included."""

    level: float
    begin: int
    end: int
    values: tuple[float | None, ...]
    """The figure of each condition, in its base unit; None where there is none, or no bound to it was seen."""
    passed: bool | None
    """None: it could not be reported."""
    why: str
    limited: bool = False
    """It did not pass, and pileup was the bottleneck."""
    due: int = 0
    """Iterations that were due in the trial; 0 in old records."""
    not_passed: int = 0
    """How many of them did not pass."""


@dataclass(frozen=True, slots=True)
class FindEntry:
    """A load that searches for the highest level that meets its conditions."""

    raise_: str
    """"rate" or "clients"."""
    while_: str
    """The conditions, as written."""
    between: tuple[float, float]
    not_passed: float | None = None
    """Share of what was due that may not pass; None in records from before the word was there."""
    within: float = 0.0
    trial: int = 0
    """Length of a trial, ns."""
    settle: int = 0
    trials: tuple[TrialResult, ...] = ()
    measurements: tuple[TrialResult, ...] = ()
    """Levels that were measured, one below the other, until one met the conditions."""
    answer: SearchAnswer | None = None
    measured: float | None = None
    """The level that was measured last."""
    measuring: int | None = None
    """Since when."""


@dataclass(frozen=True, slots=True)
class HoldEntry:
    """A load that holds a quantity: `at`, `half` of the band and `between` in base units."""

    metric: str
    """What is held, as written."""
    dimension: str
    """A key of units.DIMENSIONS, or ""."""
    at: float
    half: float
    by: str
    """"rate" or "clients"."""
    between: tuple[float, float] = (0.0, 0.0)
    settle: int = 0
    every: int = 0


@dataclass(frozen=True, slots=True)
class ReplayEntry:
    """A load that replays the starts of a record."""

    run: str = ""
    case: str = ""
    speed: float = 1.0
    recorded: int = 0
    """Starts that the case has in that record."""
    starts: int = 0
    """How many of them the load has."""
    last: int = 0
    digest: str = ""
    """Of the starts that were pressed; empty before."""


@dataclass(frozen=True, slots=True)
class CaseEntry:
    """A case: its load, and its outcome."""

    id: int
    name: str
    test: str = ""
    use: str = ""
    target: str = ""
    """The first of several."""
    targets: Mapping[str, str] = field(default_factory=dict, metadata=LATER)
    """Word of the test's `needs` -> target, of a test that needs several."""
    latency: Mapping[str, int] = field(default_factory=dict, metadata=LATER)
    """Target -> what its `path` adds to a round trip, ns; only targets with a path that pileup keeps itself."""
    load: str = ""
    """In words."""
    load_kind: str = ""
    rate: float | None = None
    """What an open load asks for."""
    clients: int | None = None
    for_: int | None = None
    times: int | None = None
    spans: tuple[tuple[int, int], ...] = ()
    """What is measured in between, ns after the begin, where that is not all."""
    pacing: str = field(default="normal", metadata=LATER)
    """How exactly what is due begins; `coarse`: up to a millisecond late, as was asked for."""
    levels: tuple[tuple[int, int, float], ...] = field(default=(), metadata=LATER)
    """Of a load of several levels: begin and end of each, ns after the begin, without ramp; its rate or clients."""
    find: FindEntry | None = field(default=None, metadata=LATER)
    hold: HoldEntry | None = field(default=None, metadata=LATER)
    replay: ReplayEntry | None = field(default=None, metadata=LATER)
    point: Mapping[str, str] = field(default_factory=dict)
    """Axis of the scan -> value as written; empty for what is done once for all points."""
    repeat: int = 1
    loop: int = 1
    visit: int = -1
    """Which stay at a point it belongs to; -1: to none."""
    role: bool = False
    """Whether it runs alongside others."""
    scope: str = ""
    after: tuple[int, ...] = ()
    timeout: int | None = None
    fail_when: str | None = None
    expected: int = field(default=0, metadata=LATER)
    """Time that it is expected to take, ns; 0 in records that do not know it."""
    longest: int = 0
    outcome: CaseOutcome | None = None
    """None: it has not ended."""
    reason: str = ""
    started: int | None = None
    ended: int | None = None
    cut: bool = False
    """Whether it was stopped before its load was over: another session may do it again."""
    notes: tuple[str, ...] = ()
    engine: str = field(default="", metadata=LATER)
    """"native" or "python", once it has begun."""
    workers: int | None = field(default=None, metadata=LATER)
    """Native workers that pressed it at a place, the most."""


@dataclass(frozen=True, slots=True)
class MonitorEntry:
    """A monitor of the suite."""

    name: str = ""
    use: str = ""
    every: int = 0
    host: str = ""
    """Where it samples; empty: here."""
    watches: str = ""
    """The target whose host it speaks of."""
    records: bool | None = field(default=None, metadata=LATER)
    """Whether it records operations of a server; None: not known."""
    resolution: int | None = field(default=None, metadata=LATER)
    """Steps of the clock that their times are of, ns; 0: fine enough; None: not known."""


@dataclass(frozen=True, slots=True)
class CriterionEntry:
    """A criterion of the suite, its check read."""

    id: str
    says: str
    check: Check | Unreadable | None = None
    """None: it has none. Not readable only if another release or program wrote it."""
    coverage: str = "full"
    """full, partial, none, or far: full where a path adds to the round trips of its test, else partial."""
    remark: str | None = None
    at: tuple[Mapping[str, str], ...] = ()
    """Points of the scan at which it must hold; empty: at each."""
    confidence: str = ""
    """"estimate" or "shown"; empty in old records: "estimate"."""
    at_least: int = field(default=0, metadata=LATER)
    """Fewest values that its figure must be of, to be judged; 0: any number."""
    during: tuple[str, ...] = field(default=(), metadata=LATER)
    """Tests in whose measured time the samples of its monitor count; empty: of all."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An audit of the submissions to a target."""

    number: int
    target: str
    fault: int
    """Number of the fault that it came after, from 0; -1: at the end of the run."""
    after: str = ""
    """That fault in words."""
    load: str = ""
    """The test under whose load it was."""
    begin: int = 0
    claims: Mapping[str, int] = field(default_factory=dict)
    """Test -> submissions that were to be looked up."""
    gone: int = 0
    """Submissions that cannot be looked up any more: their private server went with the session that made them."""
    end: int = 0
    looked: int = 0
    problem: str = ""
    """Why it is not complete; empty when it is."""
    run: str = field(default="", metadata=LATER)
    """In a merged run, the folder of the run that made it."""


@dataclass(frozen=True, slots=True)
class UntilEntry:
    """A study that is repeated until a figure is precise, and how precise it is."""

    figure: str
    within: float
    at_least: int = 0
    repeats: int = 0
    half: float | None = None
    """Half of the interval as a share of the mean, at the point where it is widest; None: not known."""
    reached: bool = False
    point: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MergedRun:
    """A run that a merged one was made of; `cases`, `places` and `repeats` were added to its numbers."""

    folder: str = ""
    started: int | None = None
    ended: int | None = None
    versions: Mapping[str, str] | None = None
    exit_code: int | None = None
    verdict: RunVerdict | None = None
    merged: tuple[MergedRun, ...] | None = None
    cases: int = 0
    places: int = 0
    repeats: int = 0
    place: str = field(default="", metadata=LATER)
    """The place that it became; empty: further repeats."""
    clock_error: int | None = field(default=None, metadata=LATER)
    """Bound of the error of the clock of its host against UTC, ns; None: not known, or not asked for."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """All of run.json: the suite, versions, machines, and the outcomes so far."""

    format: int = 1
    title: str = ""
    about: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    state: RunState = RunState.RUNNING
    started: int = 0
    ended: int | None = None
    """None: it goes on, or has crashed."""
    sessions: tuple[Session, ...] = ()
    suite: SuiteSource = field(default_factory=SuiteSource)
    versions: Mapping[str, str] = field(default_factory=dict)
    hosts: tuple[Host, ...] = ()
    targets: tuple[TargetEntry, ...] = ()
    places: tuple[PlaceEntry, ...] = ()
    void: tuple[tuple[int, int], ...] = ()
    """(case, place) of attempts that were interrupted and are repeated."""
    scan: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    points: tuple[Mapping[str, str], ...] = ()
    together: tuple[tuple[str, ...], ...] = field(default=(), metadata=LATER)
    """Axes of the scan that are varied together, in groups."""
    repeat: int = 1
    loop: int = 1
    cases: tuple[CaseEntry, ...] = ()
    monitors: tuple[MonitorEntry, ...] = ()
    equivalent: tuple[tuple[str, ...], ...] = ()
    """Tests that must give equal answers, in groups."""
    criteria: tuple[CriterionEntry, ...] = ()
    expected: int = field(default=0, metadata=LATER)
    """Time that the whole run is expected to take, ns; 0 in records that do not know it."""
    longest: int = 0
    not_covered: tuple[Uncovered, ...] = ()
    fault_problems: tuple[str, ...] = ()
    stopped: str = ""
    """Why it did not go to its end; empty when it did."""
    stopped_by: StoppedBy | None = field(default=None, metadata=LATER)
    """Who or what stopped it; None: nobody."""
    exit_code: int | None = None
    verdict: RunVerdict | None = None
    """None: it has not ended."""
    debug_build: bool = False
    simulated: bool = field(default=False, metadata=LATER)
    """Whether its time is virtual: a simulation wrote it, and no system was measured."""
    overhead: Mapping[str, float] = field(default_factory=dict)
    """Kind of iteration -> what one costs that does nothing, ns."""
    results: None = None
    """Nothing: the figures are in results.json."""
    audits: tuple[AuditEntry, ...] = field(default=(), metadata=LATER)
    until: UntilEntry | None = field(default=None, metadata=LATER)
    merged: tuple[MergedRun, ...] = field(default=(), metadata=LATER)
    nonce: str = ""
    """Identifies the run in the registry of this user and in names of temporary files; empty in old records."""

    @property
    def has_ended(self) -> bool:
        """Whether it went to its end: else it goes on, or has crashed."""
        return self.ended is not None
