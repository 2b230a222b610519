"""What faults have done to the loads under way: how many did not pass, and when the system was back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pileup.model.event import Event, Outage
from pileup.model.units import format_count, format_time

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST = 500
"""Faults that are looked at, the first."""
FOREVER = 1 << 62
RUN = "run"
"""The detached operation of a job from its begin to its end."""
WORDS = ("failed", "refused", "ambiguous", "unfinished", "lost")


Outages = dict[int, tuple[Outage, ...]]
"""Place of a fault among the events -> what it has done to each load under way, to those too that did not feel it."""


def outages(connection: DuckDBPyConnection, events: Sequence[Event], info: dict[str, Any]) -> Outages:
    """Return what became of the loads under each fault until the next one; `connection` has the view `operations`."""
    faults = {place: event for place, event in enumerate(events) if event.kind == "fault"}
    faults = dict(list(faults.items())[:MOST])
    if not faults:
        return {}
    cases = {int(case["id"]): case for case in info.get("cases", [])}
    return _outages(connection, faults, cases)


def with_outages(events: Sequence[Event], found: Outages) -> tuple[Event, ...]:
    """Return the events, those of faults with what they did to the loads that felt them."""
    felt = {place: tuple(filter(_felt, each)) for place, each in found.items()}
    return tuple(_told(event, felt.get(place, ())) for place, event in enumerate(events))


def _outages(connection: DuckDBPyConnection, faults: dict[int, Event], cases: Mapping[int, dict[str, Any]]) -> Outages:
    """Return what each fault has done, by its place and then by case.

    What was begun after it was mended, and did not pass under the next one, is of that one alone.
    The system is back with the first iteration that passed and was begun after the first that did not (after the end
    of that one, if it was under way when the fault came): what was begun between the fault and its effect may still
    have passed. Where all passed it is the first one that was begun after the fault: it may have had to wait.
    """
    ends = [after.begin for _, after in pairwise(faults.values())] + [FOREVER]
    spans = ", ".join(
        f"({number}, {fault.begin}, {fault.end}, {until})"
        for (number, fault), until in zip(faults.items(), ends, strict=True)
    )
    counts = ", ".join(f"count(*) FILTER (outcome = '{word}')" for word in WORDS)
    rows = connection.execute(
        f"""WITH seen AS (
            SELECT f.number, f.begin, o.case_id, o.start, o."end", o.outcome FROM operations o
            JOIN (VALUES {spans}) f(number, begin, mended, until) ON o."end" >= f.begin AND o.start < f.until
            WHERE o.parent = 0 AND o.side = 'client' AND o.phase IN ('ramp', 'warm-up', 'measure')
                AND (o.outcome = 'passed' OR o."end" < f.until OR o.start < f.mended)),
        broken AS (
            SELECT *, min(CASE WHEN start >= begin THEN start ELSE "end" END) FILTER (outcome != 'passed')
                OVER (PARTITION BY number, case_id) AS first FROM seen)
        SELECT number, case_id, {counts}, max("end") FILTER (outcome != 'passed') - any_value(begin),
            min("end") FILTER (outcome = 'passed' AND start >= coalesce(first, begin)) - any_value(begin)
        FROM broken GROUP BY number, case_id ORDER BY number, case_id"""  # noqa: S608  numbers
    ).fetchall()
    again = _jobs_again(connection, spans)
    found: Outages = {}
    for number, case, *figures in rows:
        *counted, last, success = figures
        told = dict(zip(WORDS, counted, strict=True))
        name, jobs = str(cases.get(case, {}).get("name", "")), again.get((number, case))
        outage = Outage(name, **told, lasted=last or 0, recovery=success, jobs_again=jobs)
        heard = success is not None or _felt(outage)  # a load that was as good as over says nothing
        if heard and _under_way(cases.get(case, {}), faults[number]):
            found[number] = (*found.get(number, ()), outage)
    return found


def _under_way(case: dict[str, Any], fault: Event) -> bool:
    """Whether a case was under way when a fault began, by run.json."""
    return (case.get("started") or 0) <= fault.begin <= (case.get("ended") or FOREVER)


def _jobs_again(connection: DuckDBPyConnection, spans: str) -> dict[tuple[int, int], int]:
    """Return by fault and case when the first job began to run after the fault was mended, ns from the fault on."""
    rows = connection.execute(
        f"""SELECT f.number, o.case_id, min(o.start) - any_value(f.begin) FROM operations o
            JOIN (VALUES {spans}) f(number, begin, mended, until) ON o.start >= f.mended AND o.start < f.until
            WHERE o.parent <> 0 AND o.operation = '{RUN}' AND o.side = 'client'
            GROUP BY f.number, o.case_id"""  # noqa: S608  numbers and our own word
    ).fetchall()
    return {(number, case): int(after) for number, case, after in rows}


def _felt(outage: Outage) -> bool:
    return any(getattr(outage, word) for word in WORDS)


def _told(event: Event, outages: tuple[Outage, ...]) -> Event:
    if not outages:
        return event
    return replace(event, text="; ".join([event.text, *map(words, outages)]), outages=outages)


def words(outage: Outage) -> str:
    """Say what a fault has done to a load."""
    counted = [f"{format_count(count)} {word}" for word in WORDS if (count := getattr(outage, word))]
    if outage.recovery is None:
        return f"{outage.case}: {', '.join(counted)}, no success after it"
    return f"{outage.case}: {', '.join(counted)}, the first success after {format_time(outage.recovery)}"
