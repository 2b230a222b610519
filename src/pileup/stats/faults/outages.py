"""Effects of faults on the loads: how many iterations did not pass, and when the system was back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from pileup.model.event import Event, Outage
from pileup.model.manifest import CaseEntry, Manifest
from pileup.model.record import NOT_PASSED
from pileup.model.units import format_count, format_time
from pileup.stats.faults.downtime import away, seen

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST = 500
"""Faults that are looked at, the first."""
FOREVER = 1 << 62
RUN = "run"
"""The detached operation of a job from its begin to its end."""


Outages = dict[int, tuple[Outage, ...]]
"""Index of a fault among the events -> its effects on each load, also on those that were not affected."""


def outages(connection: DuckDBPyConnection, events: Sequence[Event], run: Manifest) -> Outages:
    """Return the effects of each fault on the loads until the next one; `connection` has the view `operations`."""
    faults = {place: event for place, event in enumerate(events) if event.kind == "fault"}
    faults = dict(list(faults.items())[:MOST])
    if not faults:
        return {}
    cases = {case.id: case for case in run.cases}
    return _outages(connection, faults, cases)


def with_outages(events: Sequence[Event], found: Outages) -> tuple[Event, ...]:
    """Return the events, those of faults with their effects on the affected loads."""
    felt = {place: tuple(filter(_affected, each)) for place, each in found.items()}
    return tuple(_told(event, felt.get(place, ())) for place, event in enumerate(events))


def _outages(connection: DuckDBPyConnection, faults: dict[int, Event], cases: Mapping[int, CaseEntry]) -> Outages:
    """Return the effects of each fault, by its index and then by case.

    What was begun after it was undone, and did not pass under the next one, is of that one alone.

    Recovery is the time for which the load saw the system away, never shorter than it was:
    - Of a whole server that pileup itself killed, restarted or paused: from the begin of the fault to the end of the
      first iteration that passed and had begun after all processes were gone (`gone` of the event).
    - Of any other fault only failures show when the system went away: from the last begin of an iteration that had
      passed when one had not (from the begin of the fault, where that is later) to the end of the first one that passed
      and had begun after that failure had ended. Of several such times the longest: a failure of another cause is over
      at once. None where the system was away for longer at the end of the load, or there was no such success.
    - Where nothing failed: from the begin of the fault to the end of the first iteration that passed and had begun
      after it. It may have had to wait.
    What had begun before the system was gone proves nothing: it may have been answered before.
    """
    ends = dict(zip(faults, [after.begin for _, after in pairwise(faults.values())] + [FOREVER], strict=True))
    spans = ", ".join(
        f"({number}, {fault.begin}, {fault.end}, {ends[number]}, {_gone(fault)})" for number, fault in faults.items()
    )
    again = _jobs_again(connection, spans)
    found: Outages = {}
    for number, case, *figures in connection.execute(_query(spans)).fetchall():
        fault = faults[number]
        *counted, first, last, success = figures
        if fault.gone is None and first is not None:
            load = seen(connection, case, fault.begin, ends[number])
            success = away(load) if len(load.failed) else success
        told = dict(zip(NOT_PASSED, counted, strict=True))
        entry, jobs = cases.get(case), again.get((number, case))
        outage = Outage(
            entry.name if entry else "", **told, first=first, lasted=last or 0, recovery=success, jobs_again=jobs
        )
        heard = success is not None or _affected(outage)  # a load that was nearly over shows nothing
        if heard and _under_way(entry, fault):
            found[number] = (*found.get(number, ()), outage)
    return found


def _query(spans: str) -> str:
    """Return the query for counts by fault and case, and for times from the fault on: of the first and the last
    iteration that did not pass, and of the first that passed and had begun after the system was gone.
    """
    counts = ", ".join(f"count(*) FILTER (outcome = '{word}')" for word in NOT_PASSED)
    return f"""SELECT f.number, o.case_id, {counts},
            min(o."end") FILTER (outcome != 'passed') - any_value(f.begin),
            max(o."end") FILTER (outcome != 'passed') - any_value(f.begin),
            min(o."end") FILTER (outcome = 'passed' AND start >= coalesce(gone, begin)) - any_value(f.begin)
        FROM operations o
        JOIN (VALUES {spans}) f(number, begin, undone, until, gone) ON o."end" >= f.begin AND o.start < f.until
        WHERE o.parent = 0 AND o.side = 'client' AND o.phase IN ('ramp', 'warm-up', 'measure')
            AND (o.outcome = 'passed' OR o."end" < f.until OR o.start < f.undone)
        GROUP BY f.number, o.case_id ORDER BY f.number, o.case_id"""  # noqa: S608  numbers


def _gone(fault: Event) -> str:
    """Return when all of the server was gone, as SQL; NULL where only the load can show it."""
    return "NULL::BIGINT" if fault.gone is None else f"{fault.gone}"


def _under_way(case: CaseEntry | None, fault: Event) -> bool:
    """Whether a case was under way when a fault began, by run.json."""
    return case is None or (case.started or 0) <= fault.begin <= (case.ended or FOREVER)


def _jobs_again(connection: DuckDBPyConnection, spans: str) -> dict[tuple[int, int], int]:
    """Return by fault and case when the first job began to run after the fault was undone, ns from the fault on."""
    rows = connection.execute(
        f"""SELECT f.number, o.case_id, min(o.start) - any_value(f.begin) FROM operations o
            JOIN (VALUES {spans}) f(number, begin, undone, until, gone) ON o.start >= f.undone AND o.start < f.until
            WHERE o.parent <> 0 AND o.operation = '{RUN}' AND o.side = 'client'
            GROUP BY f.number, o.case_id"""  # noqa: S608  numbers and our own word
    ).fetchall()
    return {(number, case): int(after) for number, case, after in rows}


def _affected(outage: Outage) -> bool:
    return any(getattr(outage, word) for word in NOT_PASSED)


def _told(event: Event, outages: tuple[Outage, ...]) -> Event:
    if not outages:
        return event
    return replace(event, text="; ".join([event.text, *map(words, outages)]), outages=outages)


def words(outage: Outage) -> str:
    """Describe the effects of a fault on a load."""
    counted = [f"{format_count(count)} {word}" for word in NOT_PASSED if (count := getattr(outage, word))]
    since = "" if outage.first is None else f" (the first after {format_time(outage.first)})"
    back = "no success after it"
    if outage.recovery is not None:
        back = f"back after {format_time(outage.recovery)}"
    return f"{outage.case}: {', '.join(counted)}{since}, {back}"
