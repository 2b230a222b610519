"""The bottleneck of each load: the requested load, the system, or pileup itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pileup.model import self_metrics
from pileup.model.bottleneck import BottleneckRow, LimitedBy
from pileup.model.cause import Cause
from pileup.model.event import Event
from pileup.model.manifest import HoldEntry
from pileup.model.record import Phase
from pileup.model.results import ErrorGroup
from pileup.model.units import counted, format_count, format_fraction, format_rate, format_time
from pileup.stats.cases import CaseData
from pileup.stats.frames.totals import Measured
from pileup.stats.generator import advice, holdups
from pileup.stats.generator.holdups import BUSY_CPU, Bar, Stretch
from pileup.stats.monitors import MetricSeries

LIMITED_SHARE = 0.05
"""Share of the measured time from which on what pileup did decides the figures of a case."""
LATE_SHARE = 0.5
"""Lateness (median) from this share of the median response on is most of what users saw."""
LATE_LEAST = 10**6
"""Lateness below this, ns, is not reported, however short the responses."""
GRID = 10**6
"""What `pacing: coarse` may make a start late by, ns; as in crates/pileup-pacer."""
GRID_WORDS = f"up to {format_time(GRID)} of it for coarse pacing"
"""What is said of it behind how late starts came."""
LATE_SECOND = 5 * 10**6
"""The same of one second."""
LOOP_LEAST = 50 * 10**6
LATE_TOLD = 0.1
"""Lateness (p99) from this share of the 99th percentile of the responses on is reported."""
REACHED = 0.98
LONG_ENOUGH = 1.0
"""Seconds below which the CPU time of pileup says nothing."""
MANY_WRONG = 0.05
"""Share of iterations that did not pass from which a system is not merely busy."""
MOST_TOLD = 3
WHOLE = 0.9
"""Share of the measured time that is as good as all of it."""
WAS = "pileup was the bottleneck"
OUT_OF = {
    Cause.OPEN_FILES.word: "open files (ulimit -n)",
    Cause.LOCAL_PORTS.word: "local ports (net.ipv4.ip_local_port_range)",
}
"""Causes of failures for which pileup's own machine is to blame: what it has run out of."""


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """What held one case back. `stretches` are the times at which pileup did, and `share` is their part."""

    row: BottleneckRow
    words: str
    """The same in one sentence, without the case."""
    stretches: tuple[Stretch, ...] = ()
    share: float = 0.0
    what: str = ""
    """`words` without what follows from it."""
    failures: tuple[ErrorGroup, ...] = ()
    """Failures that are pileup's own."""

    @property
    def case(self) -> str:
        """Name of the case."""
        return self.row.case

    @property
    def generator(self) -> bool:
        """Whether pileup was the bottleneck."""
        return self.row.by is LimitedBy.PILEUP


@dataclass(frozen=True, slots=True)
class _Told:
    """What limited a load where pileup did not: `words` says so with `evidence`."""

    by: LimitedBy
    words: str
    evidence: str
    wrong: bool = False
    """Whether too much did not pass."""


def limits(
    cases: Sequence[CaseData], series: Sequence[MetricSeries] = (), errors: Sequence[ErrorGroup] = ()
) -> list[Bottleneck]:
    """Return what limited each sustained load that was measured. `series` and `errors` are those of the whole run."""
    watched = [each for each in series if each.monitor == self_metrics.MONITOR]
    return [_of_case(data, watched, errors) for data in cases if not data.is_check and data.measured.iterations()]


def events(found: Sequence[Bottleneck]) -> tuple[Event, ...]:
    """Return the times at which pileup was the bottleneck, for charts and lists."""
    return tuple(holdups.event(limit.case, each) for limit in found for each in limit.stretches)


def one_line(found: Sequence[Bottleneck]) -> str:
    """Return the limits of a run in one line, those of pileup first."""
    if not found:
        return "No load was pressed for a time: single checks have no limit."
    ordered = in_order(found)
    slow = sum(limit.generator for limit in found)
    if slow > MOST_TOLD:
        worst = ordered[0]
        return f"{WAS} in {slow} of {len(found)} cases; the worst is {worst.case}: {worst.words}"
    told = [f"{limit.case}: {limit.words}" for limit in ordered[:MOST_TOLD]]
    more = [f"{len(ordered) - MOST_TOLD} more cases"] if len(ordered) > MOST_TOLD else []
    return "; ".join(told + more)


def in_order(found: Sequence[Bottleneck]) -> list[Bottleneck]:
    """Return the limits of a run, those of pileup first."""
    return sorted(found, key=lambda limit: (not limit.generator, -limit.share))


def seen(measured: Measured, share: float) -> float:
    """Return a quantile (ns) of the response times as users saw them, over all that was due.

    What did not pass is slower than any: infinity where so much of it did not.
    """
    passed = measured.response
    counts = measured.counts()
    rank = share * (counts.ended + counts.missed)
    if passed.count == 0 or rank > passed.count:
        return math.inf
    return float(min(passed.quantile(rank / passed.count), passed.max))


def starved(data: CaseData) -> bool:
    """Return whether starts had to wait for a client: then they were late by the system, or for lack of clients."""
    if data.entry.load_kind != "open":
        return False
    full = any(frame.in_flight >= frame.clients > 1 for frame in data.frames if frame.phase == Phase.MEASURE)
    return data.measured.missed > 0 or (full and data.measured.in_flight >= _most_clients(data))


def answers(data: CaseData) -> bool:
    """Return whether a system answered, mostly correctly; otherwise it is never excused."""
    counts = data.measured.counts()
    return 0 < counts.passed >= counts.failed + counts.refused + counts.ambiguous


def measured_seconds(data: CaseData) -> float:
    """Return how long a case was measured, s."""
    return data.window.seconds if data.window is not None else data.measured.seconds


def is_interpreted(data: CaseData) -> bool:
    """Return whether a case is a test in Python."""
    return data.entry.engine == "python"


def workers(data: CaseData) -> int:
    """Return how many native workers pressed a case at a place, the most: so many cores it could take."""
    return data.entry.workers or 1


def _of_case(data: CaseData, watched: Sequence[MetricSeries], errors: Sequence[ErrorGroup]) -> Bottleneck:
    name = data.entry.name
    refused = tuple(each for each in errors if each.case == name and each.cause in OUT_OF)
    if refused:
        return _of_refusals(name, refused)
    kind = starved(data), is_interpreted(data)
    found = tuple(holdups.stretches(data.frames, watched, _bar(data), *kind, workers=workers(data)))
    part = holdups.share(found, data.frames)
    busy = _busy(data)
    if answers(data) and (busy or part >= LIMITED_SHARE):
        what = f"{WAS} {_times(found) if found else f'({busy})'}"
        blame = _blame(part, bool(found))
        evidence = f"{_upper(_times(found) if found else busy)}: {blame}"
        row = BottleneckRow(name, LimitedBy.PILEUP, evidence, advice.against_pileup(found, kind[1]))
        return Bottleneck(row, f"{what}; {blame}", found, part or 1.0, what)
    told = _open(data) if data.entry.load_kind == "open" else _closed(data)
    more = _held_back(data, found)
    evidence = ". ".join(filter(None, (_upper(told.evidence), more)))
    row = BottleneckRow(name, told.by, evidence, advice.to_learn_more(told.by, data.entry, told.wrong))
    return Bottleneck(row, "; ".join(filter(None, (told.words, more))), found, part)


def _of_refusals(name: str, refused: tuple[ErrorGroup, ...]) -> Bottleneck:
    """Return what is said of a load for which the machine of pileup had not enough of something."""
    out = " and ".join(dict.fromkeys(OUT_OF[each.cause] for each in refused))
    why = f"{format_count(sum(each.count for each in refused))} failed: pileup had no more {out}"
    blame = "these failures are not the system's"
    row = BottleneckRow(name, LimitedBy.PILEUP, f"{why}; {blame}", advice.against_refusals(refused))
    what = f"{WAS} ({why})"
    return Bottleneck(row, f"{what}; {blame}", share=1.0, what=what, failures=refused)


def _held_back(data: CaseData, found: Sequence[Stretch]) -> str:
    """Return the effect of pileup on a load of which it was not the bottleneck; empty if it is negligible."""
    if found:
        return f"pileup held it back {_times(found)}: the slowest responses contain that"
    if asked := _told_grid(data):
        return asked
    late = _told_late(data)
    return f"pileup's starts came {late}: the slowest responses contain that" if late else ""


def _upper(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _bar(data: CaseData) -> Bar:
    """Return how late is late where no criterion says what is judged: what users saw, or what was held."""
    hold = data.entry.hold
    if hold is not None:
        # lateness shifts at most its part of what a window holds: what matters is what leaves the band
        share = hold.half / abs(hold.at) if hold.half and hold.at else 1.0
        band = share * measured_seconds(data) * 1e9
        return Bar(band, band)
    half = LATE_SHARE * seen(data.measured, 0.5)
    return Bar(max(half, LATE_SECOND), max(half, LOOP_LEAST))


def _times(found: Sequence[Stretch]) -> str:
    """Return when pileup was the bottleneck, the longest time first, and why."""
    worst = max(found, key=lambda each: each.length)
    more = f", and {len(found) - 1} more times" if len(found) > 1 else ""
    return f"{worst.when} ({worst.why}){more}"


def _blame(part: float, timed: bool) -> str:
    if part >= WHOLE or not timed:
        return "these numbers do not describe the system"
    return f"the numbers of that time ({format_fraction(part)} of what was measured) do not describe the system"


def _busy(data: CaseData) -> str:
    """Return why pileup was the bottleneck of all that was measured, empty when it was not."""
    measured = data.measured
    if measured.cpu > BUSY_CPU * workers(data) and measured.seconds >= LONG_ENOUGH:
        return f"it took {format_fraction(measured.cpu)} of a core"
    errors = measured.late
    if data.entry.hold or errors.count == 0 or starved(data):
        return ""
    late = holdups.median(errors)
    enough = late - _asked(data) >= max(LATE_SHARE * seen(measured, 0.5), LATE_LEAST)
    return f"half of the starts came {format_time(late)} late or more" if enough else ""


def _asked(data: CaseData) -> int:
    """Return how late a start may be because its load asks for that, ns."""
    return GRID if is_coarse(data) else 0


def is_coarse(data: CaseData) -> bool:
    """Return whether a case asks that its starts come together once a millisecond."""
    return data.entry.pacing == "coarse"


def _told_grid(data: CaseData) -> str:
    """Return how late starts came as their load asks for, if most responses contain that to speak of."""
    errors = data.measured.late
    if not _asked(data) or data.entry.hold or errors.count == 0 or starved(data):
        return ""
    late = holdups.median(errors)
    enough = late >= LATE_SHARE * seen(data.measured, 0.5)
    told = f"pileup's starts came {format_time(late)} late in the median, {GRID_WORDS}"
    return f"{told}: response times contain that, service times do not" if enough else ""


def _told_late(data: CaseData) -> str:
    """Return how late starts came if the slowest responses contain that to speak of, empty otherwise."""
    errors = data.measured.late
    if errors.count == 0 or starved(data):
        return ""
    late = min(errors.quantile(0.99), errors.max)
    enough = late > max(LATE_TOLD * seen(data.measured, 0.99), LATE_LEAST)
    return f"{format_time(late)} late at the 99th percentile" if enough else ""


def _most_clients(data: CaseData) -> int:
    return data.entry.clients or DEFAULT_CLIENTS


DEFAULT_CLIENTS = 64
"""Clients of an open load that names none, at least: those of Python tests; native ones have more."""


def _open(data: CaseData) -> _Told:
    asked = data.entry.rate or 0.0
    achieved, missed = _rate(data), data.measured.missed
    told = f"{format_rate(achieved)} passed" + (f" of {format_rate(asked)} asked for" if asked else "")
    counts = data.measured.counts()
    due = counts.ended + missed
    wrong = counts.passed < (1 - MANY_WRONG) * counts.ended
    if missed == 0 and due and counts.passed >= REACHED * due:
        if data.entry.hold:
            return _steered(data.entry.hold, told)
        if achieved >= 0.9 * asked:
            return _Told(LimitedBy.LOAD, f"the load asked for was reached ({told})", told)
        if starved(data):
            return _of_system(f"{told}, up to {_flight(data)} in flight")
        return _Told(LimitedBy.UNKNOWN, f"it cannot be said ({told})", told)
    if missed:
        return _of_system(f"{told}, {format_count(missed)} missed, up to {_flight(data)} in flight", wrong)
    return _of_system(f"{told}, {format_count(due - counts.passed)} did not pass", wrong=True)


def _of_system(evidence: str, wrong: bool = False) -> _Told:
    return _Told(LimitedBy.SYSTEM, f"the system was the bottleneck ({evidence})", evidence, wrong)


def _closed(data: CaseData) -> _Told:
    response = max((tally.response for tally in data.measured.iterations()), key=lambda found: found.count)
    if response.count == 0:
        return _Told(LimitedBy.UNKNOWN, "it cannot be said: nothing passed", "nothing passed", wrong=True)
    clients = max((frame.clients for frame in data.frames if frame.phase == Phase.MEASURE), default=0)
    clients = data.entry.clients or clients
    each = "1 client" if clients == 1 else f"{format_count(clients)} clients"
    told = f"{format_rate(_rate(data))} at a median of {format_time(response.quantile(0.5))}"
    counts = data.measured.counts()
    if counts.passed < (1 - MANY_WRONG) * counts.ended:
        wrong = f"{format_count(counts.ended - counts.passed)} of {format_count(counts.ended)} did not pass"
        evidence = f"{each}, {told}, and {wrong}"
        return _Told(LimitedBy.SYSTEM, f"the system was the bottleneck: {evidence}", evidence, wrong=True)
    if data.entry.hold:
        return _steered(data.entry.hold, told)
    if data.entry.times and not data.entry.find:
        return _fixed(data, each, response.quantile(0.5))
    # a search has tried more clients already
    more = "" if data.entry.find else "; more clients may give more"
    busy = f"{each} kept busy: {told}"
    return _Told(LimitedBy.CLIENTS, f"{busy}{more}", busy)


def _fixed(data: CaseData, clients: str, median: float) -> _Told:
    """Return what is said of a load of a number of iterations: what it does at a time falls towards its end."""
    counts, asked = data.measured.counts(), data.entry.times or 0
    done = f"{format_count(counts.ended)} of {counted(asked, 'iteration')}"
    took = f"{format_time(round(measured_seconds(data) * 1e9))}, at a median of {format_time(median)}"
    evidence = f"{done} by {clients} in {took}"
    return _Told(LimitedBy.LOAD, f"the load is a fixed number of iterations: {evidence}", evidence)


def _steered(hold: HoldEntry, told: str) -> _Told:
    """Return what is said of a load that asked for no level of its own."""
    words = f"the {hold.by} followed what {hold.metric} asked for ({told})"
    return _Told(LimitedBy.HELD, words, words)


def _flight(data: CaseData) -> str:
    return format_count(max((frame.in_flight for frame in data.frames), default=0))


def _rate(data: CaseData) -> float:
    found = [data.part.rate(tally) for tally in data.measured.iterations()]
    return sum(each.value or 0.0 for each in found)
