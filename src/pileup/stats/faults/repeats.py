"""Faults over their repeats: how long the system was unavailable, what did not pass, lost jobs; also as samples.

Samples are under the name `fault`, with labels that say which one and which test, and the recovery under the name of
the test too, all faults together: `max(fault.recovery[fault=crash,test=submit]) < 60 s`, `max(submit.recovery) < 60 s`.
If the system never recovered the value is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pileup.model.event import FAULT, RECOVERY, Event, Outage
from pileup.model.figures import Figure
from pileup.model.manifest import Manifest
from pileup.model.record import NOT_PASSED
from pileup.model.results import FaultResult
from pileup.model.submissions import AuditResult
from pileup.stats.audits import LOST, REUSED, UNKNOWN, share
from pileup.stats.compare.points import name_of
from pileup.stats.faults.outages import Outages
from pileup.stats.intervals.paired import Values, amount
from pileup.stats.monitors import VISIT, MetricSeries

AGAIN = "jobs_again"
FORGOTTEN, FORGOTTEN_SHARE = "forgotten", "forgotten_share"
NOBODY = Figure(None, "count", None, 0, "no audit")


@dataclass(frozen=True, slots=True)
class LostSubmissions:
    """Jobs lost between two audits, of those acknowledged between them."""

    lost: int
    acknowledged: int


@dataclass(frozen=True, slots=True)
class FaultEffect:
    """One occurrence of a fault, and its effects on the load of one test."""

    event: Event
    test: str
    point: str
    visit: int
    outage: Outage
    forgotten: LostSubmissions | None
    """None: there is no audit."""


def effects(events: Sequence[Event], found: Outages, audits: Sequence[AuditResult], run: Manifest) -> list[FaultEffect]:
    """Return every time that a fault happened, for each load under way, in the order of time."""
    cases = {case.name: case for case in run.cases}
    times = []
    for place, outages in found.items():
        event = events[place]
        for outage in outages if event.fault else ():
            case = cases[outage.case]
            test = case.test or outage.case
            lost = _forgotten(event, [each for each in audits if each.test == test])
            point = name_of(case.point)
            times.append(FaultEffect(event, test, point, max(0, case.visit), outage, lost))
    return times


def _forgotten(event: Event, audits: Sequence[AuditResult]) -> LostSubmissions | None:
    """Return what the audit after a fault found lost beyond the audit before that one.

    An audit that is not complete, or does not know the fate of some, says nothing.
    """
    own = (place for place, each in enumerate(audits) if each.fault == event.number and each.time >= event.end)
    place = next(own, None)
    if place is None:
        return None
    after = audits[place]
    before = next((each for each in reversed(audits[:place]) if each.target == after.target), None)
    if any(each is not None and (each.problem or each.fates.get(UNKNOWN)) for each in (after, before)):
        return None
    lost, acknowledged = _lost(after), after.acknowledged
    if before is not None:
        lost, acknowledged = lost - _lost(before), acknowledged - before.acknowledged
    return LostSubmissions(max(0, lost), max(0, acknowledged))


def _lost(audit: AuditResult) -> int:
    return audit.fates.get(LOST, 0) + audit.fates.get(REUSED, 0)


def results(faults: Sequence[FaultEffect]) -> tuple[FaultResult, ...]:
    """Return what each fault has done to each test, over its repeats, in the order of their first time."""
    groups: dict[tuple[str, str, str], list[FaultEffect]] = {}
    for each in faults:
        groups.setdefault((each.event.fault, each.test, each.point), []).append(each)
    return tuple(_result(group) for group in groups.values())


def _result(group: Sequence[FaultEffect]) -> FaultResult:
    first = group[0]
    lost = [each.forgotten for each in group if each.forgotten is not None]
    outages = [each.outage for each in group]
    return FaultResult(
        fault=first.event.fault,
        says=first.event.says,
        test=first.test,
        point=first.point,
        times=len(group),
        never=sum(each.recovery is None for each in outages),
        recovery=_mean([each.recovery for each in outages], "time"),
        jobs_again=_mean([each.jobs_again for each in outages], "time"),
        **{word: _mean([getattr(each, word) for each in outages], "count") for word in NOT_PASSED},
        jobs_lost=_mean([each.lost for each in lost], "count") if lost else NOBODY,
        lost_share=share(sum(each.lost for each in lost), sum(each.acknowledged for each in lost)),
    )


def _mean(values: Values, dimension: str) -> Figure:
    """Return a mean over times; counts come in ones."""
    return amount(values, dimension, 1.0 if dimension == "count" else 0.0)


def series(faults: Sequence[FaultEffect]) -> list[MetricSeries]:
    """Return the samples that checks may speak of, at the times of the faults."""
    found: dict[tuple[str, str, str], MetricSeries] = {}
    for each in faults:
        visit = f"{VISIT}{each.visit}"
        labels = f"fault={each.event.fault},test={each.test},{visit}"
        for metric, value, unit in _samples(each):
            named = [(FAULT, labels), *([(each.test, visit)] if metric == RECOVERY else [])]
            for name, words in named:
                whole = found.setdefault((name, metric, words), MetricSeries(name, metric, words, unit, ""))
                whole.times.append(each.event.begin)
                whole.values.append(value)
    return list(found.values())


def _samples(each: FaultEffect) -> Iterator[tuple[str, float, str]]:
    recovery = each.outage.recovery
    yield RECOVERY, math.inf if recovery is None else recovery / 1e9, "s"
    if each.outage.jobs_again is not None:
        yield AGAIN, each.outage.jobs_again / 1e9, "s"
    for word in NOT_PASSED:
        yield word, float(getattr(each.outage, word)), ""
    if each.forgotten is not None:
        yield FORGOTTEN, float(each.forgotten.lost), ""
        if each.forgotten.acknowledged:
            yield FORGOTTEN_SHARE, 100 * each.forgotten.lost / each.forgotten.acknowledged, "%"


def never(found: Sequence[MetricSeries]) -> bool:
    """Whether the system did not recover at some time."""
    return any(math.isinf(value) for each in found if each.metric == RECOVERY for value in each.values)
