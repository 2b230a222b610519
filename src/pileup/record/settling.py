"""Assigns operations recorded by monitors to cases, and to operations of clients.

The parent, which gives the case and phase, is found by what the monitor knows (`joining`). Else by time and target: the
case on that target that was under way when it began. Where several were, it belongs to the first of them and has the
label `shared=yes`: it is not known to which of them it belongs. An operation that began while no such case was under
way has no case.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pileup.model.manifest import CaseEntry, Manifest
from pileup.model.record import Frame
from pileup.record import joining

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

COARSE = 1_000_000_000
"""Logs may be written in whole seconds: what seems to begin so shortly before a case, and in no other, is of it, ns."""
SHARED = "shared=yes"
FOREVER = 2**62
Spans = list["CaseSpan"]


@dataclass(frozen=True, slots=True)
class CaseSpan:
    """When a case was under way, and measured: ns since the epoch."""

    case: int
    name: str
    test: str
    target: str
    targets: tuple[str, ...]
    """Those that it works with, that one among them."""
    begin: int
    end: int
    measured: tuple[tuple[int, int], ...]


def spans(run: Manifest, frames: Iterable[Frame]) -> Spans:
    """Return these of all cases that have begun; the measured time as their places report it."""
    told: dict[int, dict[int, Frame]] = {}
    for frame in frames:
        if frame.measured_from:
            told.setdefault(frame.case, {})[frame.place] = frame
    return [_span(case, list(told.get(case.id, {}).values())) for case in run.cases if case.started]


def _span(case: CaseEntry, last: list[Frame]) -> CaseSpan:
    begin, end = case.started or 0, case.ended or FOREVER
    since = (case.find.measuring or FOREVER) if case.find else 0
    measured: tuple[tuple[int, int], ...] = () if case.find else ((begin, end),)
    if last and since < FOREVER:
        first = max(since, min(frame.measured_from for frame in last))
        until = max(frame.measured_to or end for frame in last)
        parts = case.spans if len(case.spans) > 1 else ()
        between = tuple((first + low, min(first + high, until)) for low, high in parts if first + low < until)
        measured = between or ((first, until),)
    targets = tuple(dict.fromkeys((case.target, *case.targets.values())))
    return CaseSpan(case.id, case.name, case.test, case.target, targets, begin, end, measured)


def settled(connection: DuckDBPyConnection, table: str, clients: str, found: Spans) -> str:
    """Return SQL for the rows of a table of what monitors recorded, each with its case, phase and parent.

    `clients` is SQL for the rows of clients. It makes the tables that the query needs; `joining.clocks` says what
    clocks were found then.
    """
    connection.execute(
        """CREATE OR REPLACE TEMP TABLE _spans (case_id UINTEGER, name VARCHAR, test VARCHAR, target VARCHAR,
        targets VARCHAR[], begin BIGINT, until BIGINT)"""
    )
    connection.execute("CREATE OR REPLACE TEMP TABLE _measured (case_id UINTEGER, begin BIGINT, until BIGINT)")
    whole = [[each.case, each.name, each.test, each.target, list(each.targets), each.begin, each.end] for each in found]
    parts = [[each.case, *part] for each in found for part in each.measured]
    if whole:
        connection.executemany("INSERT INTO _spans VALUES (?, ?, ?, ?, ?, ?, ?)", whole)
    if parts:
        connection.executemany("INSERT INTO _measured VALUES (?, ?, ?)", parts)
    table = joining.join(connection, table, clients)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE _timed AS {_TIMED.format(table=table)}")
    return _SETTLED.format(table=table)


_TIMED = f"""SELECT s.id, min(p.case_id) AS case_id, count(*) AS cases
FROM {{table}} s JOIN _spans p ON s.start >= p.begin AND s.start < p.until
    AND (s.target = '' OR list_contains(p.targets, s.target))
GROUP BY s.id
UNION ALL
SELECT s.id, min(p.case_id), 1
FROM {{table}} s JOIN _spans p ON s.start >= p.begin - {COARSE} AND s.start < p.begin
    AND (s.target = '' OR list_contains(p.targets, s.target))
WHERE NOT EXISTS (SELECT 1 FROM _spans q WHERE s.start >= q.begin AND s.start < q.until
    AND (s.target = '' OR list_contains(q.targets, s.target)))
GROUP BY s.id"""  # noqa: S608  names and numbers of ours
_SETTLED = f"""WITH owned AS (
    SELECT s.*, coalesce(k.parent, 0) AS own_parent, coalesce(k.client, 0) AS own_client,
        k.phase AS own_phase,
        CASE WHEN k.known THEN k.case_id ELSE coalesce(t.case_id, 0) END AS own_case,
        NOT coalesce(k.known, FALSE) AND coalesce(t.cases, 0) > 1 AS shared
    FROM {{table}} s LEFT JOIN {joining.JOINED} k ON s.id = k.id LEFT JOIN _timed t ON s.id = t.id)
SELECT o.* EXCLUDE (own_parent, own_client, own_phase, own_case, shared) REPLACE (
    o.own_parent::UBIGINT AS parent, o.own_client::UINTEGER AS client,
    o.own_case::UINTEGER AS case_id, coalesce(p.name, '') AS "case",
    coalesce(p.test, '') AS test, coalesce(nullif(o.target, ''), p.target, '') AS target,
    CASE WHEN o.shared THEN array_to_string(list_sort(list_filter(string_split(o.labels, ',') || ['{SHARED}'],
        lambda each: each <> '')), ',') ELSE o.labels END AS labels,
    CASE WHEN o.own_phase IS NOT NULL THEN o.own_phase
        WHEN o.own_case = 0 OR EXISTS (SELECT 1 FROM _measured m WHERE m.case_id = o.own_case
            AND o.start >= m.begin AND o.start < m.until) THEN 'measure'
        WHEN o.start < (SELECT min(m.begin) FROM _measured m WHERE m.case_id = o.own_case) THEN 'warm-up'
        ELSE 'cool-down' END AS phase)
FROM owned o LEFT JOIN _spans p ON p.case_id = o.own_case"""  # noqa: S608  names of ours
