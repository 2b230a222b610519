"""The results of one case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pileup.model.breakdown import Breakdown
from pileup.model.figure_words import words
from pileup.model.figures import Counts, Figure, SchedulingDelay
from pileup.model.manifest import CaseEntry
from pileup.model.record import OTHER_LABELS, UNKNOWN, Frame, labels_of
from pileup.model.results import CaseResult, Detached, HeldLevel, OperationResult, SteadyState
from pileup.model.units import format_count
from pileup.record.tally import Tally, total
from pileup.stats.frames.detached import is_ledger, so_far
from pileup.stats.frames.distribution import distribution, quantiles
from pileup.stats.frames.label_lines import with_lines
from pileup.stats.frames.labels import breakdowns, chosen
from pileup.stats.frames.timeline import timeline
from pileup.stats.frames.totals import Measured, measure
from pileup.stats.frames.window import Window
from pileup.stats.generator.own_waits import own_words
from pileup.stats.intervals import shares
from pileup.stats.intervals.correlated import Dependence
from pileup.stats.intervals.rates import takes_longer
from pileup.stats.loads.find import found, found_words
from pileup.stats.loads.hold import held_words
from pileup.stats.loads.settling import settled_words
from pileup.stats.stragglers import stragglers
from pileup.stats.verdicts.case_failure import CHECKS, not_passed
from pileup.stats.verdicts.resolve import Part

ByLabel = Mapping[tuple[str, bool], tuple[Breakdown, ...]]
OTHERS = tuple(labels_of(OTHER_LABELS).items())
MOST_SERVED = 50
"""Operations that one monitor recorded whose figures a case has."""


@dataclass(slots=True)
class CaseData:
    """The data of one case: its entry in run.json, its frames, its measured time."""

    entry: CaseEntry
    frames: list[Frame]
    """Frames of the load; those of its ledger are separated from the input."""
    window: Window | None
    detached: dict[str, Window] = field(default_factory=dict)
    """Asynchronous operation -> the time from the first of them to the end of the last."""
    lines: tuple[Detached, ...] = ()
    """These over time, from the record; for an active run from the frames."""
    dependence: dict[tuple[str, bool], Dependence] = field(default_factory=dict)
    """(operation, iteration) -> how its values depend on their neighbours, where that is known."""
    held: HeldLevel | None = None
    settled: SteadyState | None = None
    remark: str = ""
    """Further remarks on its figures."""
    recorded: dict[str, Frame] = field(default_factory=dict)
    """Monitor -> the operations of servers that it recorded in the measured time."""
    places: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """Number of a place -> its names: its own first, then its host, and the number."""
    measured: Measured = field(init=False)
    drawn: list[Frame] = field(init=False)
    """All frames of pressing, trials of a level that is looked for too."""
    ledger: list[Frame] = field(init=False)
    """Frames that report on detached operations."""

    def __post_init__(self) -> None:
        self.ledger = [frame for frame in self.frames if is_ledger(frame)]
        if self.ledger:
            self.frames = [frame for frame in self.frames if not is_ledger(frame)]
        self.measured = measure([*self._counted(), *self.ledger])
        self.drawn, self.frames = self.frames, self._counted()

    def _counted(self) -> list[Frame]:
        """Return the frames that figures are made of: trials of a level that is looked for are not part of them."""
        find = self.entry.find
        if find is None:
            return self.frames
        since = find.measuring or 2**63
        return [frame for frame in self.frames if frame.time > since]

    @property
    def point(self) -> dict[str, str]:
        """Where in the scan it was; empty for what is done once for all points."""
        return dict(self.entry.point)

    @property
    def visit(self) -> int:
        """Which stay at a point it belongs to, -1 for none."""
        return self.entry.visit

    @property
    def part(self) -> Part:
        """What a check needs of it, but for single rows."""
        return Part(self.measured, self.window, self.frames, None, self.detached, self.dependence, self.entry.timeout)

    @property
    def is_check(self) -> bool:
        """Whether it was run as a check, not pressed for a time."""
        return self.entry.load_kind in CHECKS


def case_result(data: CaseData, outputs: dict[str, str], artefacts: tuple[str, ...] = ()) -> CaseResult:
    """Return all about one case; `outputs` maps stream to the path of what it printed, `artefacts` are its files."""
    entry = data.entry
    by_label = breakdowns(
        [*data.frames, *data.ledger], data.places, data.part.seconds(), data.entry.timeout, data.dependence
    )
    by_label = {key: with_lines(key, found, data.drawn, data.places) for key, found in by_label.items()}
    own = (_operation(data, tally, by_label) for tally in _ordered(data.measured))
    operations = (*own, *(each for monitor in sorted(data.recorded) for each in _served(data, monitor)))
    return CaseResult(
        id=entry.id,
        name=entry.name,
        test=entry.test,
        use=entry.use,
        target=entry.target,
        load=entry.load,
        outcome=entry.outcome or UNKNOWN,
        reason=entry.reason or ("" if entry.outcome else "it had not ended when the record did"),
        started=entry.started,
        ended=entry.ended,
        operations=operations,
        timeline=timeline(data.drawn),
        stdout=outputs.get("stdout", ""),
        stderr=outputs.get("stderr", ""),
        tracebacks=outputs.get("tracebacks", ""),
        notes=(*entry.notes, *_notes(data), *stragglers(operations), *_not_told_apart(data)),
        point=data.point,
        repeat=entry.repeat,
        loop=entry.loop,
        visit=data.visit,
        role=entry.role,
        detached=data.lines or so_far(data.ledger),
        held=data.held,
        steady=data.settled,
        found=found(entry),
        targets=dict(entry.targets),
        artefacts=artefacts,
        delay=_delay(data),
        added=entry.latency.get(entry.target),
    )


def _delay(data: CaseData) -> SchedulingDelay | None:
    """Return how late the iterations of a case began."""
    late = data.measured.late
    if data.is_check or late.count == 0:
        return None
    middle, high = (float(min(late.quantile(share), late.max)) for share in (0.5, 0.99))
    return SchedulingDelay(late.count, middle, high, late.max)


def _ordered(measured: Measured) -> list[Tally]:
    """Iterations first; of those that never ended under their own name, the largest first."""
    return sorted(
        measured.tallies.values(), key=lambda tally: (not tally.iteration, -tally.ended if tally.iteration else 0)
    )


def _operation(data: CaseData, tally: Tally, by_label: ByLabel) -> OperationResult:
    only = len(data.measured.iterations()) == 1
    counts = data.measured.counts(tally if not (tally.iteration and only) else None)
    part, known = data.part, data.part.known(tally)
    due, begun = part.begun(tally), part.begun(tally, service=True)
    return OperationResult(
        operation=tally.operation,
        iteration=tally.iteration,
        counts=counts,
        seconds=part.seconds(tally),
        rate=part.rate(tally),
        throughput=part.throughput(tally),
        bytes=tally.bytes,
        calls=tally.calls,
        response=distribution(tally.response, known),
        service=distribution(tally.service, known),
        quantiles=quantiles(replace(due, unanswered=due.unanswered + counts.missed), known),
        service_quantiles=quantiles(begun, known),
        repeated=tally.repeated,
        detached=part.is_detached(tally),
        not_passed=_not_passed(counts, known),
        breakdowns=by_label.get((tally.operation, tally.iteration), ()),
    )


def _served(data: CaseData, monitor: str) -> list[OperationResult]:
    """Return the figures of what a monitor recorded in a case: of the operations that took most time in all."""
    frame = data.recorded[monitor]
    measured = measure([frame])
    whole = replace(data, frames=[], recorded={}, detached={}, lines=(), dependence={})
    whole.measured = measured
    by_label = breakdowns([frame], {}, whole.part.seconds())
    most = sorted(measured.tallies.values(), key=lambda tally: -tally.response.mean * tally.response.count)[
        :MOST_SERVED
    ]
    found = (_operation(whole, tally, by_label) for tally in sorted(most, key=lambda tally: tally.operation))
    return [replace(each, operation=f"{monitor}.{each.operation}", monitor=monitor) for each in found]


def _not_told_apart(data: CaseData) -> list[str]:
    """Note that recorded operations may belong to another case, and that there were too many labels."""
    told = []
    crowd = total(chosen([*data.frames, *data.ledger], OTHERS, data.places)).ended
    if crowd:
        told.append(
            f"{format_count(crowd)} operations have one of too many sets of labels, and are counted together as"
            f" {OTHER_LABELS}: leave out labels that differ in nearly every operation"
        )
    for monitor, frame in data.recorded.items():
        count = total(chosen([frame], (("shared", "yes"),), {})).ended
        if count:
            told.append(
                f"{format_count(count)} operations that {monitor} recorded began while other tests used the "
                "same target, and no key says to which they belong: they are counted here, with the label shared=yes"
            )
    return told


def _not_passed(counts: Counts, known: Dependence | None) -> Figure:
    due = counts.ended + counts.missed
    if due == 0:
        return Figure(None, "fraction", None, 0, "nothing measured")
    count, bursts = due - counts.passed, known.not_passed if known else shares.SINGLY
    return Figure(count / due, "fraction", shares.interval(count, due, bursts), due)


def _notes(data: CaseData) -> list[str]:
    counts = data.measured.counts()
    told = not_passed(counts)
    known = data.is_check or told in data.entry.reason
    held = held_words(data.held) if data.held is not None else ""
    sought = found(data.entry)
    level = found_words(sought) if sought is not None else ""
    steady = settled_words(data.settled) if data.settled is not None else ""
    own = own_words(data.measured)
    said = ("" if known else told, _longer(data), data.remark, held, level, steady, *own)
    return [text for text in said if text]


def _longer(data: CaseData) -> str:
    """Note if iterations take longer than the measured time."""
    found = next((tally for tally in data.measured.iterations() if takes_longer(tally, data.measured)), None)
    if found is None or data.is_check:
        return ""
    told = words(data.part.rate(found))
    return f"iterations take longer than the measured time: its rate, {told}, is known no better; measure for longer"
