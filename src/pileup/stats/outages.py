"""What faults have done to the loads under way: how many did not pass, and when the system was back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pileup.model.results import Event, Outage
from pileup.model.units import format_count, format_time

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST = 500
"""Faults that are looked at, the first."""
FOREVER = 1 << 62
WORDS = ("failed", "refused", "ambiguous", "unfinished", "lost")


def with_outages(connection: DuckDBPyConnection, events: Sequence[Event], info: dict[str, Any]) -> tuple[Event, ...]:
    """Return the events, those of faults with what became of the loads until the next fault; `connection` has the
    view `operations`.
    """
    faults = [event for event in events if event.kind == "fault"][:MOST]
    if not faults:
        return tuple(events)
    names = {int(case["id"]): str(case["name"]) for case in info.get("cases", [])}
    found = _outages(connection, faults, names)
    told = {id(event): found.get(number, ()) for number, event in enumerate(faults)}
    return tuple(_told(event, told.get(id(event), ())) for event in events)


def _outages(
    connection: DuckDBPyConnection, faults: Sequence[Event], names: dict[int, str]
) -> dict[int, tuple[Outage, ...]]:
    """Return what each fault has done, by its place in the list and then by case.

    The system is back with the first iteration that passed and was begun after the first that did not pass had ended:
    what was begun between the fault and its effect may still have passed.
    """
    ends = [after.begin for _, after in pairwise(faults)] + [FOREVER]
    spans = ", ".join(
        f"({number}, {fault.begin}, {end})" for number, (fault, end) in enumerate(zip(faults, ends, strict=True))
    )
    counts = ", ".join(f"count(*) FILTER (outcome = '{word}')" for word in WORDS)
    rows = connection.execute(
        f"""WITH seen AS (
            SELECT f.number, f.begin, o.case_id, o.start, o."end", o.outcome FROM operations o
            JOIN (VALUES {spans}) f(number, begin, until) ON o."end" >= f.begin AND o.start < f.until
            WHERE o.parent = 0 AND o.side = 'client' AND o.phase IN ('ramp', 'warm-up', 'measure')),
        broken AS (
            SELECT *, min("end") FILTER (outcome != 'passed') OVER (PARTITION BY number, case_id) AS first FROM seen)
        SELECT number, case_id, {counts}, max("end") FILTER (outcome != 'passed') - any_value(begin),
            min("end") FILTER (outcome = 'passed' AND start >= first) - any_value(begin)
        FROM broken WHERE first IS NOT NULL GROUP BY number, case_id ORDER BY number, case_id"""  # noqa: S608  numbers
    ).fetchall()
    found: dict[int, tuple[Outage, ...]] = {}
    for number, case, *figures in rows:
        *counted, last, success = figures
        outage = Outage(names.get(case, ""), **dict(zip(WORDS, counted, strict=True)), lasted=last, recovery=success)
        found[number] = (*found.get(number, ()), outage)
    return found


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
