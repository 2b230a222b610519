"""Finished, typed results: the output of the statistics and the input of reports, screens and exports.

Times in nanoseconds since the epoch, durations in nanoseconds, rates per second, sizes in bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pileup.model.bottleneck import BottleneckRow
from pileup.model.breakdown import Breakdown
from pileup.model.check import Check, Selected
from pileup.model.event import Event
from pileup.model.exits import ExitCode
from pileup.model.figures import Counts, Distribution, Figure, SchedulingDelay
from pileup.model.joined import Joined, OneSided, ServerClock
from pileup.model.manifest import Manifest, TrialResult
from pileup.model.matrix import Matrix
from pileup.model.record import CaseOutcome
from pileup.model.response_map import ResponseMap
from pileup.model.submissions import AuditResult, JobsResult
from pileup.model.verdict import ESTIMATE, RunVerdict, Verdict

NO_SHARE = Figure(None, "fraction")


@dataclass(frozen=True, slots=True)
class OperationResult:
    """Figures of one operation of a case over its measured phase."""

    operation: str
    """Its name; of the iterations as a whole `iteration`."""
    iteration: bool
    """Whether these are the iterations as a whole."""
    counts: Counts
    seconds: float
    """Length of the measured phase."""
    rate: Figure
    """Passed per second: what ended in the measured time by that time."""
    throughput: Figure
    """Bytes per second: what came in the measured time by that time."""
    bytes: int
    calls: int
    response: Distribution | None
    """Of what passed."""
    service: Distribution | None
    quantiles: dict[float, Figure] = field(default_factory=dict)
    """Of response times over everything that was due: what did not pass counts as slower than any."""
    service_quantiles: dict[float, Figure] = field(default_factory=dict)
    """The same of service times over all that was begun."""
    detached: bool = False
    """Whether these are asynchronous operations: then `seconds` and `rate` run to the end of the last."""
    repeated: int = 0
    """How many calls repeated one that the server cannot have read, because it had closed the connection."""
    not_passed: Figure = NO_SHARE
    """Share of what was due that did not pass; what was missed was due."""
    cancelled: int = 0
    """How many of the failed ones are cancelled jobs, which say nothing about the system."""
    monitor: str = ""
    """The monitor that recorded them, for operations of a server; `operation` begins with it then."""
    breakdowns: tuple[Breakdown, ...] = ()
    """The same by place and by each other label, where it has several values."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """A case second by second, summed over places. All tuples have one entry per interval."""

    times: tuple[int, ...]
    """End of each interval."""
    seconds: tuple[float, ...]
    phase: tuple[int, ...]
    started: tuple[float, ...]
    """Iterations started per second."""
    passed: tuple[float, ...]
    """Iterations passed per second."""
    not_passed: tuple[float, ...]
    missed: tuple[float, ...]
    bandwidth: tuple[float, ...]
    """Bytes per second."""
    in_flight: tuple[int, ...]
    clients: tuple[int, ...]
    p50: tuple[float | None, ...]
    """Quantiles of response times, ns, over all iterations that ended in the interval: what did not pass is slower than
    any. None where they are too few for the quantile, and where it is among those that did not pass."""
    p90: tuple[float | None, ...]
    p99: tuple[float | None, ...]
    late: tuple[float | None, ...]
    """p99 of the scheduling delay, ns; None where too few began for one."""
    latest: tuple[float | None, ...]
    """Largest scheduling delay, ns; None where nothing began."""
    responses: ResponseMap | None = None
    """How many took how long, time by time; None where nothing passed."""


@dataclass(frozen=True, slots=True)
class Detached:
    """An asynchronous operation of a case, in time. All tuples have one entry per interval with news:
    in between nothing began and nothing ended.
    """

    operation: str
    """Its name; empty while the run goes on: then all such operations of the case together."""
    times: tuple[int, ...]
    """End of each interval."""
    open: tuple[int, ...]
    """Under way then, over all places."""
    ended: tuple[int, ...]
    """Ended in the interval, whatever their outcome."""
    seconds: int = 1
    """Length of the intervals."""

    @property
    def most(self) -> int:
        """Most that were seen under way at once."""
        return max(self.open, default=0)


@dataclass(frozen=True, slots=True)
class Served:
    """Operations of one kind recorded of a server, e.g. slow queries that differ only in values. Times in ns."""

    target: str
    operation: str
    count: int
    total: int
    longest: int
    waited: int
    """Total time before the work began, e.g. for locks."""
    work: int
    """Total work, e.g. rows examined."""
    most_work: int
    bytes: int

    @property
    def mean(self) -> float:
        """Mean time."""
        return self.total / max(1, self.count)


@dataclass(frozen=True, slots=True)
class ErrorGroup:
    """Equal errors of a case counted together."""

    case: str
    operation: str
    outcome: str
    message: str
    count: int
    first: int
    """Time of the first."""
    place: str
    cause: str = ""
    """Word of model.cause.Cause: why, where more is known than the message."""

    @property
    def told(self) -> str:
        """The message, with the cause where it does not say that itself."""
        known = not self.cause or self.cause in self.message.lower()
        return self.message if known else f"{self.message} ({self.cause})".lstrip()


@dataclass(frozen=True, slots=True)
class HeldLevel:
    """How well a case held its quantity, over the measured time, which the time to settle is not part of.

    Values in the base unit of `dimension`; `times` and `values`, `level_times` and `levels` are for drawing.
    """

    metric: str
    """What was held, as written."""
    dimension: str
    """A key of units.DIMENSIONS, or ""."""
    set_point: float
    low: float
    high: float
    """The band."""
    by: str
    """"rate" or "clients": what was changed."""
    looks: int
    """Samples with a value."""
    blind: int
    """Samples at which nothing could be measured."""
    share: float | None
    """Share of the samples with a value in the band; None without one."""
    mean: float | None
    deviation: float | None
    """Standard deviation of the values."""
    farthest: float | None
    """The value farthest from the set point."""
    reached: int | None
    """When the value came into the band first, ns after the begin of the case; None: never."""
    times: tuple[int, ...]
    values: tuple[float, ...]
    level_times: tuple[int, ...]
    levels: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class SteadyState:
    """When a load became steady, by the series that became so last."""

    series: str
    """The series, in words."""
    dimension: str
    """A key of units.DIMENSIONS: of `before` and `after`, in its base unit."""
    began: int | None
    """ns since the epoch; None: it never did."""
    level: int
    """When the load had its full level, ns since the epoch; `began` is the same where it was steady at once."""
    late: int
    """How much of the measured time is before it, ns."""
    before: float
    """Mean of the series until then; of all of it where it never became steady."""
    after: float
    """Mean from then on; of the second half where it never became steady."""


@dataclass(frozen=True, slots=True)
class SoughtCondition:
    """One condition of a search."""

    check: str
    """As written."""
    figure: str
    """Its left side."""
    dimension: str
    """A key of units.DIMENSIONS, or ""."""
    threshold: float
    """In the base unit of `dimension`."""


@dataclass(frozen=True, slots=True)
class FoundLevel:
    """The highest level that meets some conditions, as far as it was found."""

    check: str
    """The conditions, as written."""
    conditions: tuple[SoughtCondition, ...]
    not_passed: float
    """The share of what was due that may not pass, at most; 1: any."""
    by: str
    """"rate" or "clients": what was raised."""
    level: float | None
    """The answer: the highest level that was measured and met the conditions there too. None where there is none, or
    the search was not ended. Of clients a whole number."""
    limit: float | None
    """Where the conditions begin to fail: half of the trials there pass. None where nothing is known of it."""
    low: float | None
    high: float | None
    """The interval that holds the limit, by 95 %."""
    beyond: str
    """"below" where even the lowest level that was allowed does not meet it, "above" where the highest still does."""
    measured: float | None
    """The level that was pressed and measured last."""
    trials: tuple[TrialResult, ...]
    measurements: tuple[TrialResult, ...] = ()
    """Levels that were measured, one below the other, until one met the conditions."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """All about one case."""

    id: int
    name: str
    """Name of the case: that of its test, with the point and the repeat of a scan."""
    test: str
    """Name of the test in the suite."""
    use: str
    """Which plug-in it is."""
    target: str
    """Name of its target, the first of several; empty for none."""
    load: str
    """The load in words: `closed, 100 clients for 10 s`."""
    outcome: CaseOutcome
    """A word of CaseOutcome: "passed", "failed", "error", "not run", "unavailable", "unknown"."""
    reason: str
    """Why it ended so; empty for one that passed."""
    started: int | None
    """ns since the epoch; None: it never did."""
    ended: int | None
    operations: tuple[OperationResult, ...]
    """The iterations first, then the operations inside them."""
    timeline: Timeline | None
    stdout: str
    """Path inside the run folder, or empty."""
    stderr: str
    notes: tuple[str, ...] = ()
    point: dict[str, str] = field(default_factory=dict)
    """Axis of the scan -> value as written; empty for what is done once for all points."""
    repeat: int = 1
    loop: int = 1
    visit: int = -1
    """Which stay at a point it belongs to; -1: to none."""
    role: bool = False
    """Whether it ran alongside others."""
    detached: tuple[Detached, ...] = ()
    """Asynchronous operations, in time."""
    held: HeldLevel | None = None
    """How well its quantity was held, for a load that holds one."""
    steady: SteadyState | None = None
    """When it became steady, if that is known."""
    found: FoundLevel | None = None
    """The level that was found, for a load with `find`."""
    tracebacks: str = ""
    """Path inside the run folder of the tracebacks of its test, or empty."""
    targets: dict[str, str] = field(default_factory=dict)
    """Word of the test's `needs` -> target, of a test that needs several."""
    artefacts: tuple[str, ...] = ()
    """Paths inside the run folder of files that its tests have left."""
    delay: SchedulingDelay | None = None
    """How late its iterations began; None for a check, and where none began."""
    added: int | None = None
    """What the path before its target adds to a round trip, ns; None without a path, or if that is not known."""

    @property
    def aim(self) -> str:
        """Its targets in words: `se`, or `source: a, to: b`."""
        return ", ".join(f"{word}: {name}" for word, name in self.targets.items()) or self.target

    @property
    def iterations(self) -> OperationResult | None:
        """Figures of the iterations, None when nothing was measured."""
        return next((found for found in self.operations if found.iteration), None)


@dataclass(frozen=True, slots=True)
class Series:
    """One metric of a monitor over the run."""

    monitor: str
    metric: str
    labels: str
    unit: str
    host: str
    times: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class PointVerdict:
    """A criterion at one point of a scan, over its repeats together."""

    point: str
    verdict: Verdict
    figure: Figure
    reason: str


@dataclass(frozen=True, slots=True)
class CriterionResult:
    """A criterion judged.

    In a scan it must hold at every point (or at those that it names): `figure` and `reason` are then of the point
    that decided, `points` of each.
    """

    id: str
    says: str
    """Its sentence."""
    check: str
    """As written; empty for `coverage: none`."""
    coverage: str
    """"full", "partial" or "none": how much of the sentence the check covers."""
    verdict: Verdict
    figure: Figure
    """What the check found."""
    threshold: str
    """As people read it: `< 2 s`."""
    reason: str
    """A remark on the verdict, e.g. why it is unknown; often empty."""
    points: tuple[PointVerdict, ...] = ()
    remark: str = ""
    """What the suite says of the coverage."""
    confidence: str = ESTIMATE
    """What is asked for: "estimate", or "shown" where the whole interval must be on the right side."""
    needed: str = ""
    """What would show a verdict that is not shown: `0 failures of 3,838 would`."""
    asked: Check | None = None
    """The check as it was read; None where there is none, or none that can be read."""
    selected: Selected | None = None
    """What it speaks of; None where that is nothing of this run."""


@dataclass(frozen=True, slots=True)
class TimeRatio:
    """How long one test takes and what it asks for, as multiples of the first of its group."""

    test: str
    point: str
    """Of the scan, in words; empty for what is done once, and in a run without a scan."""
    figure: Figure
    """Ratio of the mean response times of iterations."""
    calls: float | None = None
    """Ratio of the calls of an iteration; None where one of the two has none."""
    bytes: float | None = None
    """Ratio of the bytes of an iteration, likewise."""


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """For how many round trips an iteration waits, from its times near and far."""

    test: str
    point: str
    """Of what else the scan varies, in words."""
    figure: Figure
    requests: float | None = None
    """Calls of an iteration: each waits for a round trip if none goes on beside another."""
    explained: Figure | None = None
    """Time far away as a multiple of the time near by and a round trip for each request; None without requests."""
    ratio: Figure | None = None
    """The same of the ratio of times to the first test of the group; None for the first."""


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Tests that must give equal answers."""

    tests: tuple[str, ...]
    verdict: RunVerdict
    reason: str
    """Which answers differ, or are missing."""
    ratios: tuple[TimeRatio, ...]
    round_trips: tuple[RoundTrips, ...] = ()
    """Of each test, where the suite varies the distance."""


@dataclass(frozen=True, slots=True)
class FaultResult:
    """The effects of one fault of the suite on the load of one test, over all its occurrences at a point.

    Means over these times; their intervals show how the times vary, and are missing for one time alone.
    """

    fault: str
    """Its name, or its place in the list of the suite, from 1."""
    says: str
    """The first time of it, in words."""
    test: str
    point: str
    """Name of the point of the scan; empty without one."""
    times: int
    never: int
    """Times after which nothing passed any more, up to the next fault or the end of the load."""
    recovery: Figure
    """How long the load saw the system as unavailable."""
    jobs_again: Figure
    """From the fault to the first job that began to run once it was undone."""
    failed: Figure
    """Iterations of a time, as the next four."""
    refused: Figure
    ambiguous: Figure
    unfinished: Figure
    lost: Figure
    jobs_lost: Figure
    """Acknowledged submissions of a time that were lost, by the audits before and after it."""
    lost_share: Figure
    """Their share of what was acknowledged between those audits, over all times (Wilson's interval)."""


SIDE_BY_SIDE = " / "
"""Between names, and between values, of axes that are varied together."""


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the scan: every test there under the same options and settings."""

    number: int
    """Place in the order of the scan; 0 is the one that others are compared with."""
    name: str
    """Its values in words: `se.threads=4, copy.buffer=64 KiB`."""
    values: dict[str, str]
    """Axis -> value, as written."""
    together: tuple[tuple[str, ...], ...] = ()
    """Axes that are varied together, in groups."""

    @property
    def factors(self) -> dict[str, str]:
        """What varies by itself: axes, and those that are varied together as one, `n / size` -> `2 / 1 GiB`."""
        group = {name: SIDE_BY_SIDE.join(names) for names in self.together for name in names}
        found: dict[str, list[str]] = {}
        for axis, value in self.values.items():
            found.setdefault(group.get(axis, axis), []).append(value)
        return {name: SIDE_BY_SIDE.join(parts) for name, parts in found.items()}


@dataclass(frozen=True, slots=True)
class PointFigure:
    """One metric at one point: the mean over repeats, whose interval shows how the repeats vary."""

    point: int
    figure: Figure
    repeats: tuple[float | None, ...]
    """One number per repeat, in the order of `Comparison.repeats`; None where there is none."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One point less the first, repeat by repeat."""

    point: int
    difference: Figure
    """Mean of the paired differences. The interval is of this difference alone."""
    relative: Figure
    """Ratio of the two means less one, as a fraction."""
    p: float | None
    """How probable such a difference is by chance where the points differ by 1 % at most; None below two pairs."""
    adjusted: float | None
    """The same adjusted for the number of points that are looked at (Holm)."""
    verdict: str
    """"larger", "smaller", "no difference shown" (by `adjusted`, at 5 %), or "too few"."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One value of one axis, averaged over all other axes, and its difference to the first value of the axis."""

    axis: str
    value: str
    figure: Figure
    difference: Difference | None
    """None for the first value of an axis. `point` is then the place of the value in its axis."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The points of a scan compared in one metric of one test, or in what a monitor saw."""

    test: str
    """Name of the test, or of the monitor."""
    operation: str
    """Empty: the iterations. Of a monitor its metric with labels and host."""
    metric: str
    """"rate", "throughput", "mean", "p50", "p90", "p99", "not passed"."""
    dimension: str
    repeats: tuple[str, ...]
    """What each repeat is called: `2`, or `2~3` for the second repeat in the third loop."""
    points: tuple[PointFigure, ...]
    differences: tuple[Difference, ...]
    """Of every point but the first."""
    effects: tuple[Effect, ...]
    """Of every axis with several values, where there are several such axes."""
    notes: tuple[str, ...] = ()
    monitor: bool = False
    """Whether these are samples: of a monitor, or numbers that a test reported under its name."""
    unit: str = ""
    """Unit of samples that have no dimension."""


@dataclass(frozen=True, slots=True)
class RunResults:
    """A whole run, judged: the input of reports."""

    folder: str
    run: Manifest
    """run.json."""
    cases: tuple[CaseResult, ...]
    criteria: tuple[CriterionResult, ...]
    series: tuple[Series, ...]
    errors: tuple[ErrorGroup, ...]
    exit_code: ExitCode
    verdict: RunVerdict
    limit: str
    """`bottlenecks` in one line, for formats without tables."""
    notes: tuple[str, ...] = field(default=())
    overhead: str = ""
    """What pileup itself costs per iteration on this machine, in words; empty where it was not calibrated."""
    events: tuple[Event, ...] = ()
    """What happened to the run, but for cases that began and ended."""
    points: tuple[Point, ...] = ()
    """Points of the scan; none without one."""
    comparisons: tuple[Comparison, ...] = ()
    equivalences: tuple[Equivalence, ...] = ()
    """Tests that must give equal answers, as the suite groups them."""
    faults: tuple[FaultResult, ...] = ()
    """Effects of the faults of the suite on the loads, over their repeats."""
    audits: tuple[AuditResult, ...] = ()
    """The fates of submissions, by each audit."""
    served: tuple[Served, ...] = ()
    """Operations of servers by kind, those that took the most time first, if monitors read their logs."""
    joined: tuple[Joined, ...] = ()
    """Operations of clients and how much of their time was the server's, if a monitor joins them."""
    one_sided: tuple[OneSided, ...] = ()
    """What only clients or only servers saw of these."""
    clocks: tuple[ServerClock, ...] = ()
    """Clocks of servers that were off."""
    jobs: tuple[JobsResult, ...] = ()
    """How jobs ended, for each test that submitted some."""
    limited: tuple[str, ...] = ()
    """Cases of which pileup was the bottleneck."""
    matrices: tuple[Matrix, ...] = ()
    """Places against targets, of each test that a scan over both has varied."""
    bottlenecks: tuple[BottleneckRow, ...] = ()
    """The bottleneck of each measured load, those limited by pileup first; single checks have none."""
