"""Operations of clients beside those of servers that belong to them: shares of time, and what only one side saw.

A monitor joins if any of its operations has a parent. Of clients the operations count that have no steps of their own,
in the measured time, of the targets that the monitor speaks of. Monitors may record times of a coarse clock, by what
they declare or by what is seen (all in whole milliseconds, say): then operations are joined and counted, and shares are
left out unless the operations are far longer than its steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pileup.model.event import CLOCK
from pileup.model.joined import Joined, OneSided, ServerClock
from pileup.model.journal import EventEntry
from pileup.record.operations import BROKEN_OFF
from pileup.stats.intervals.confidence import fewest

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST = 200
"""Rows of each table."""
STEPS = 10
"""Steps of the server's clock, for each request, that joined operations must have taken: else a share says nothing."""
KEYS = 5
"""Keys that are named of what only one side saw."""
_TABLES = f"""CREATE OR REPLACE TEMP TABLE _parts AS
    SELECT parent, monitor::VARCHAR AS monitor, count(*) AS requests, sum("end" - start)::BIGINT AS served
    FROM caused WHERE side = 'server' AND parent <> 0 AND phase <> '{BROKEN_OFF}' GROUP BY ALL;
CREATE OR REPLACE TEMP TABLE _watched AS
    SELECT DISTINCT monitor::VARCHAR AS monitor, target::VARCHAR AS target FROM caused
    WHERE side = 'server' AND monitor::VARCHAR IN (SELECT monitor FROM _parts);
CREATE OR REPLACE TEMP TABLE _both AS
    SELECT c.test::VARCHAR AS test, c.operation::VARCHAR AS operation, w.target, w.monitor, c.key, c.start,
        c.outcome::VARCHAR AS outcome, "end" - start AS took, p.requests,
        CASE WHEN p.served IS NOT NULL THEN least(p.served, "end" - start) END AS served
    FROM caused c JOIN _watched w ON w.target = c.target::VARCHAR
        LEFT JOIN _parts p ON p.parent = c.id AND p.monitor = w.monitor
    WHERE c.side = 'client' AND c.phase = 'measure' AND c.id NOT IN (
        SELECT parent FROM caused WHERE side = 'client' AND parent <> 0)"""  # noqa: S608  words of ours
_STEPS = f"""SELECT monitor::VARCHAR, CASE
    WHEN count(*) < {STEPS} THEN 0 WHEN max("end" - start) > 0 AND bool_and(("end" - start) % {10**9} = 0) THEN {10**9}
    WHEN bool_and(("end" - start) % {10**6} = 0) THEN {10**6} ELSE 0 END
FROM caused WHERE side = 'server' AND parent <> 0 AND phase <> '{BROKEN_OFF}' GROUP BY ALL"""  # noqa: S608  words of ours
"""Steps that the times of operations are seen to come in, ns; 0: finer than milliseconds, or too few operations."""
_JOINED = f"""SELECT test, operation, target, monitor, count(*), count(requests), coalesce(sum(requests), 0)::BIGINT,
    coalesce(sum(took) FILTER (requests IS NOT NULL), 0)::BIGINT, coalesce(sum(served), 0)::BIGINT,
    quantile_disc(served, 0.5), quantile_disc(served, 0.99),
    quantile_disc(took - served, 0.5), quantile_disc(took - served, 0.99)
FROM _both GROUP BY ALL ORDER BY min(start), test, operation, monitor LIMIT {MOST}"""  # noqa: S608  a number of ours
_ONE_SIDED = f"""SELECT 'client', monitor, test || CASE WHEN operation = test THEN '' ELSE '.' || operation END AS name,
    outcome, TRUE AS measured, count(*) AS n, min(start), list(key ORDER BY start)[1:{KEYS}]
FROM _both WHERE requests IS NULL GROUP BY ALL
UNION ALL
SELECT 'server', s.monitor::VARCHAR, s.operation::VARCHAR, s.outcome::VARCHAR,
    s.case_id <> 0 AND s.phase = 'measure' AS measured, count(*), min(s.start), list(s.key ORDER BY s.start)[1:{KEYS}]
FROM caused s JOIN (SELECT DISTINCT monitor FROM _watched) w ON w.monitor = s.monitor::VARCHAR
WHERE s.side = 'server' AND s.parent = 0 AND s.phase <> '{BROKEN_OFF}' GROUP BY ALL
ORDER BY 1, 5 DESC, n DESC LIMIT {MOST}"""  # noqa: S608  words of ours


def joined(
    connection: DuckDBPyConnection, resolutions: Mapping[str, int]
) -> tuple[tuple[Joined, ...], tuple[OneSided, ...]]:
    """Return the joined operations by kind, and what only one side saw; none if no monitor joins.

    `connection` has the view `caused`; `resolutions` are steps that monitors declare of their clocks, ns.
    """
    any_joined = "SELECT 1 FROM caused WHERE side = 'server' AND parent <> 0 LIMIT 1"
    if connection.execute(any_joined).fetchone() is None:
        return (), ()
    connection.execute(_TABLES)
    seen = {str(monitor): int(step) for monitor, step in connection.execute(_STEPS).fetchall()}
    steps = {monitor: max(step, resolutions.get(monitor, 0)) for monitor, step in seen.items()}
    both = tuple(_row(row, steps) for row in connection.execute(_JOINED).fetchall())
    alone = tuple(
        OneSided(str(side), str(monitor), str(name), str(outcome), bool(measured), int(n), int(first), _keys(keys))
        for side, monitor, name, outcome, measured, n, first, keys in connection.execute(_ONE_SIDED).fetchall()
    )
    return both, alone


def clocks(found: Iterable[EventEntry]) -> tuple[ServerClock, ...]:
    """Return the clocks of servers that were off."""
    told = [each for each in found if each.kind == CLOCK and each.ahead is not None]
    return tuple(ServerClock(each.monitor, each.ahead or 0, each.error or 0) for each in told)


def _row(row: tuple[Any, ...], resolutions: Mapping[str, int]) -> Joined:
    test, operation, target, monitor, *numbers = row
    count, matched, requests, took, served = map(int, numbers[:5])
    resolution = resolutions.get(str(monitor), 0)
    known = took >= STEPS * resolution * requests
    served_p50, served_p99, rest_p50, rest_p99 = (
        float(value) if known and value is not None and matched >= fewest(share) else None
        for value, share in zip(numbers[5:], (0.5, 0.99, 0.5, 0.99), strict=True)
    )
    names = (str(test), str(operation), str(target), str(monitor))
    part = served if known else None
    quantiles = (served_p50, served_p99, rest_p50, rest_p99)
    return Joined(*names, count, matched, requests, took, part, *quantiles, resolution)


def _keys(found: Iterable[object]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(key) for key in found if key))
