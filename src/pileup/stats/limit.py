"""What the limit was: the load asked for, the system, or the generator itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pileup.model import own
from pileup.model.event import Event
from pileup.model.record import Phase
from pileup.model.results import ErrorGroup
from pileup.model.units import format_count, format_fraction, format_rate, format_time
from pileup.stats import generator
from pileup.stats.cases import CaseData
from pileup.stats.generator import BUSY_CPU, LATE_SHARE, Stretch
from pileup.stats.monitors import Whole

LIMITED_SHARE = 0.05
"""Share of the measured time from which on what the generator did decides the figures of a case."""
LATE_TOLD = 0.1
LATE_LEAST = 10**6
"""Start errors (p99) up to this, ns, or up to a tenth of the median response are not worth a word."""
REACHED = 0.98
LONG_ENOUGH = 1.0
"""Seconds below which the CPU time of the generator says nothing."""
MANY_WRONG = 0.05
"""Share of iterations that did not pass from which a system is not merely busy."""
MOST_TOLD = 3
WHOLE = 0.9
"""Share of the measured time that is as good as all of it."""
_WAS = "the generator was the limit"
OUT_OF = {
    "too many open files": "open files (ulimit -n)",
    "open: Too many open files (os error 24)": "open files (ulimit -n)",
    "no local port left for a new connection": "local ports (net.ipv4.ip_local_port_range)",
}
"""Failures for which pileup's own machine is to blame, by their messages: what it has run out of."""


@dataclass(frozen=True, slots=True)
class Limit:
    """What held one case back. `stretches` are the times at which the generator did, and `share` is their part."""

    case: str
    generator: bool
    words: str
    stretches: tuple[Stretch, ...] = ()
    share: float = 0.0
    what: str = ""
    """`words` without what follows from it."""
    failures: bool = False
    """Whether failures, too, are the generator's own."""


def limits(cases: Sequence[CaseData], series: Sequence[Whole] = (), errors: Sequence[ErrorGroup] = ()) -> list[Limit]:
    """Return what limited each sustained load that was measured. `series` and `errors` are those of the whole run."""
    watched = [each for each in series if each.monitor == own.MONITOR]
    return [_of_case(data, watched, errors) for data in cases if not data.is_check and data.measured.iterations()]


def events(found: Sequence[Limit]) -> tuple[Event, ...]:
    """Return the times at which the generator was the limit, for charts and lists."""
    return tuple(generator.event(limit.case, each) for limit in found for each in limit.stretches)


def one_line(found: Sequence[Limit]) -> str:
    """Return the limits of a run in one line, those of the generator first."""
    if not found:
        return "No load was pressed for a time: single checks have no limit."
    ordered = sorted(found, key=lambda limit: (not limit.generator, -limit.share))
    slow = sum(limit.generator for limit in found)
    if slow > MOST_TOLD:
        worst = ordered[0]
        return f"{_WAS} in {slow} of {len(found)} cases; the worst is {worst.case}: {worst.words}"
    told = [f"{limit.case}: {limit.words}" for limit in ordered[:MOST_TOLD]]
    more = [f"{len(ordered) - MOST_TOLD} more cases"] if len(ordered) > MOST_TOLD else []
    return "; ".join(told + more)


def _of_case(data: CaseData, watched: Sequence[Whole], errors: Sequence[ErrorGroup]) -> Limit:
    name = data.info["name"]
    for each in errors:
        if each.case == name and each.message in OUT_OF:
            what = f"{_WAS} ({format_count(each.count)} failed: pileup had no more {OUT_OF[each.message]})"
            return Limit(
                name, True, f"{what}: these failures are not the system's", share=1.0, what=what, failures=True
            )
    interpreted = data.info.get("engine") == "python"
    starved = _all_clients_busy(data)
    found = tuple(generator.stretches(data.frames, watched, _median(data), starved, interpreted))
    part = generator.share(found, data.frames)
    busy = _generator(data)
    if busy or part >= LIMITED_SHARE:
        told = _times(found) if found else f"({busy})"
        what = f"{_WAS} {told}"
        return Limit(name, True, f"{what}: {_blame(part, bool(found))}", found, part or 1.0, what)
    told = _open(data) if data.info.get("load_kind") == "open" else _closed(data)
    if found:
        told += f"; the generator held it back {_times(found)}: the slowest responses contain that"
        return Limit(name, False, told, found, part)
    late = _late(data, LATE_TOLD)
    return Limit(name, False, told + (f"; starts came {late}: the slowest responses contain that" if late else ""))


def _times(found: Sequence[Stretch]) -> str:
    """Return when the generator was the limit, the longest time first, and why."""
    worst = max(found, key=lambda each: each.length)
    more = f", and {len(found) - 1} more times" if len(found) > 1 else ""
    return f"{worst.when} ({worst.why}){more}"


def _blame(part: float, timed: bool) -> str:
    where = "" if part >= WHOLE or not timed else f" of that time ({format_fraction(part)} of what was measured)"
    return f"the figures{where} are not the system's"


def _median(data: CaseData) -> float:
    return max((tally.response.quantile(0.5) for tally in data.measured.iterations()), default=0)


def _generator(data: CaseData) -> str:
    """Return why the generator was the limit, empty when it was not."""
    measured = data.measured
    late = _late(data, LATE_SHARE)
    if measured.cpu > BUSY_CPU and measured.seconds >= LONG_ENOUGH:
        return f"it took {format_fraction(measured.cpu)} of a core"
    return f"starts came {late}" if late else ""


def _late(data: CaseData, share: float) -> str:
    """Return how late starts came if that is more than a share of the median response, empty otherwise."""
    measured = data.measured
    errors = measured.late
    if errors.count == 0 or _all_clients_busy(data):
        return ""
    late = min(errors.quantile(0.99), errors.max)
    return f"{format_time(late)} late at the 99th percentile" if late > max(share * _median(data), LATE_LEAST) else ""


def _all_clients_busy(data: CaseData) -> bool:
    """Return whether starts had to wait for a client: then they were late by the system, or for want of clients."""
    if data.info.get("load_kind") != "open":
        return False
    full = any(frame.in_flight >= frame.clients > 1 for frame in data.frames if frame.phase == Phase.MEASURE)
    return data.measured.missed > 0 or (full and data.measured.in_flight >= _most_clients(data))


def _most_clients(data: CaseData) -> int:
    return int(data.info.get("clients") or DEFAULT_CLIENTS)


DEFAULT_CLIENTS = 64
"""Clients of an open load that names none, at least: those of Python tests; native ones have more."""


def _open(data: CaseData) -> str:
    asked = float(data.info.get("rate") or 0)
    achieved, missed = _rate(data), data.measured.missed
    told = f"{format_rate(achieved)} passed" + (f" of {format_rate(asked)} asked for" if asked else "")
    counts = data.measured.counts()
    due = counts.ended + missed
    if missed == 0 and due and counts.passed >= REACHED * due:
        if data.info.get("hold"):
            return _steered(data, told)
        if achieved >= 0.9 * asked:
            return f"the load asked for was reached ({told})"
        if _all_clients_busy(data):
            return f"the system was the limit ({told}, up to {_flight(data)} in flight)"
        return f"it cannot be said ({told})"
    if missed:
        return f"the system was the limit ({told}, {format_count(missed)} missed, up to {_flight(data)} in flight)"
    return f"the system was the limit ({told}, {format_count(due - counts.passed)} did not pass)"


def _closed(data: CaseData) -> str:
    response = max((tally.response for tally in data.measured.iterations()), key=lambda found: found.count)
    if response.count == 0:
        return "it cannot be said: nothing passed"
    clients = max((frame.clients for frame in data.frames if frame.phase == Phase.MEASURE), default=0)
    clients = int(data.info.get("clients") or clients)
    each = "1 client" if clients == 1 else f"{format_count(clients)} clients"
    told = f"{format_rate(_rate(data))} at a median of {format_time(response.quantile(0.5))}"
    counts = data.measured.counts()
    if counts.passed < (1 - MANY_WRONG) * counts.ended:
        wrong = f"{format_count(counts.ended - counts.passed)} of {format_count(counts.ended)} did not pass"
        return f"the system was the limit: {each}, {told}, and {wrong}"
    if data.info.get("hold"):
        return _steered(data, told)
    # a search has tried more clients already
    more = "" if data.info.get("find") else "; more clients may give more"
    return f"{each} kept busy: {told}{more}"


def _steered(data: CaseData, told: str) -> str:
    """Return what is said of a load that asked for no level of its own."""
    hold = data.info["hold"]
    return f"the {hold['by']} followed what {hold['metric']} asked for ({told})"


def _flight(data: CaseData) -> str:
    return format_count(max((frame.in_flight for frame in data.frames), default=0))


def _rate(data: CaseData) -> float:
    found = [data.part.rate(tally) for tally in data.measured.iterations()]
    return sum(each.value or 0.0 for each in found)
