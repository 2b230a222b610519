"""Finds for operations recorded by monitors the operation of a client that caused them, and how far clocks are apart.

By what the monitor knows of the client, the first of these:

* the id of its operation, which HTTP carries to the server (`X-Pileup-Id`);
* the number of the client, which root:// carries as a login name: of its operations at that time the one that contains
  the server's, with the same key if the server logs one;
* the key: of the operations with that key at that time the nearest one (by their middles); none if two are as near.

Operations joined by ids show how far the clock of the server is ahead. An operation of the server lies within that of
its client, so its middle differs from that of the client by the offset, give or take half of the difference of their
lengths. The offset is the median over the pairs with the smallest differences, as clock filters of NTP choose the
samples with the smallest delay (RFC 5905, section 10).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pileup.model.units import counted, format_time

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

APART = 100_000_000
"""How far the clocks of client and server may be apart for a key to join them, ns."""
NEAR = 2_000_000
"""Of two operations of clients with one key the nearer one is the parent if it is nearer by this, ns: logs have ms."""
OFF = 5_000_000
"""A clock that is off by less is left as it is, ns: logs have ms, and servers look at their clock now and then."""
PAIRS = 100_000
"""Most pairs that an offset is computed from."""
JOINED = "_joined"
"""Table with the parents."""
CORRECTED = "_corrected"


@dataclass(frozen=True, slots=True)
class Clock:
    """How far the clock that a monitor's times are of is ahead, with its error; ns."""

    monitor: str
    ahead: int
    error: int
    pairs: int
    """Operations that it was computed from."""


def in_words(clock: Clock) -> str:
    """Return what was found, as a sentence."""
    side = "ahead of" if clock.ahead > 0 else "behind"
    off = f"{format_time(abs(clock.ahead))} (within {format_time(clock.error)}) {side}"
    by = f"by {counted(clock.pairs, 'operation')} that both have"
    return f"the clock of what {clock.monitor} reads was {off} that of pileup, {by}: its times are corrected"


def join(connection: DuckDBPyConnection, table: str, clients: str) -> str:
    """Make the tables of clocks and parents; return the name of a table with the rows by the clock of the clients.

    Rows have in `parent` the id of the client's operation, in `client` its number from 1, 0 for not known.
    """
    run = connection.execute
    known = run(f"SELECT bool_or(parent <> 0), bool_or(client <> 0) FROM {table}").fetchone() or ()  # noqa: S608
    run("CREATE OR REPLACE TEMP TABLE _clocks (monitor VARCHAR, ahead BIGINT, error BIGINT, pairs BIGINT)")
    by_known = [query for query, any_known in zip((_BY_ID, _BY_CLIENT), known, strict=True) if any_known]
    if _BY_ID in by_known:
        run(f"INSERT INTO _clocks {_CLOCKS.format(table=table, clients=clients)}")
    run(f"CREATE OR REPLACE TEMP TABLE {CORRECTED} AS {_CORRECTED.format(table=table)}")
    queries = " UNION ALL ".join((*by_known, _BY_KEY))
    run(f"CREATE OR REPLACE TEMP TABLE {JOINED} AS {queries.format(table=CORRECTED, clients=clients)}")
    return CORRECTED


def clocks(connection: DuckDBPyConnection) -> list[Clock]:
    """Return the clocks that were off, after `join`."""
    rows = connection.execute("SELECT monitor, ahead, error, pairs FROM _clocks ORDER BY monitor").fetchall()
    return [Clock(str(monitor), int(ahead), int(error), int(pairs)) for monitor, ahead, error, pairs in rows]


_CLOCKS = f"""WITH pairs AS (
    SELECT s.monitor::VARCHAR AS monitor, (s.start - c.start + s."end" - c."end") // 2 AS ahead,
        abs((c."end" - c.start) - (s."end" - s.start)) // 2 AS slack
    FROM {{table}} s JOIN ({{clients}}) c ON c.id = s.parent WHERE s.parent <> 0 AND c.side = 'client'),
drawn AS (SELECT * FROM pairs USING SAMPLE reservoir({PAIRS} ROWS) REPEATABLE (1)),
least AS (SELECT monitor, quantile_disc(slack, 0.1) AS slack FROM drawn GROUP BY monitor),
chosen AS (SELECT s.* FROM drawn s JOIN least l ON s.monitor = l.monitor AND s.slack <= l.slack),
found AS (SELECT monitor, quantile_disc(ahead, 0.5) AS ahead, max(slack) AS slack FROM chosen GROUP BY monitor),
judged AS (
    SELECT f.monitor, any_value(f.ahead) AS ahead, count(*) AS pairs,
        greatest(any_value(f.slack), quantile_disc(abs(s.ahead - f.ahead), 0.5)) AS error,
        count(*) FILTER (abs(s.ahead - f.ahead) <= s.slack + {APART}) AS alike
    FROM found f JOIN drawn s ON s.monitor = f.monitor GROUP BY f.monitor)
SELECT monitor, ahead::BIGINT AS ahead, error::BIGINT AS error, pairs FROM judged
WHERE abs(ahead) > greatest({OFF}, 3 * error) AND 2 * alike > pairs"""  # noqa: S608  numbers of ours
_CORRECTED = """SELECT s.* REPLACE (s.intended - coalesce(k.ahead, 0) AS intended,
    s.start - coalesce(k.ahead, 0) AS start, s."end" - coalesce(k.ahead, 0) AS "end",
    CASE WHEN s.first_byte = 0 THEN 0 ELSE s.first_byte - coalesce(k.ahead, 0) END AS first_byte)
FROM {table} s LEFT JOIN _clocks k ON k.monitor = s.monitor::VARCHAR"""
_THEN = f"""c.start <= s."end" + {APART} AND c."end" >= s.start - {APART}"""
_BY_ID = f"""SELECT s.id, 1 AS cases, c.id AS parent, c.case_id, TRUE AS known, c.phase, c.client
FROM {{table}} s JOIN ({{clients}}) c ON c.id = s.parent AND c.side = 'client' AND {_THEN}
WHERE s.parent <> 0"""  # noqa: S608  names and numbers of ours
_NEAREST = """SELECT id, cases, CASE WHEN alone THEN nearest ELSE 0 END AS parent,
    CASE WHEN alone THEN its_case ELSE case_id END AS case_id, alone OR cases = 1 AS known,
    CASE WHEN alone THEN its_phase END AS phase, CASE WHEN alone THEN its_client ELSE 0 END AS client
FROM (SELECT id, count(DISTINCT case_id) AS cases, min(case_id) AS case_id, arg_min(client, away) AS nearest,
        arg_min(case_id, away) AS its_case, arg_min(phase, away) AS its_phase, arg_min(number, away) AS its_client,
        len(min(away, 2)) = 1 OR min(away, 2)[2] - min(away, 2)[1] > {near} AS alone
    FROM ({near_ones}) GROUP BY id)"""
_BY_KEY = _NEAREST.replace("{near}", str(NEAR)).replace(
    "{near_ones}",
    f"""SELECT s.id, c.id AS client, c.case_id, c.phase, c.client AS number,
            abs((s.start + s."end") // 2 - (c.start + c."end") // 2) AS away
        FROM {{table}} s JOIN ({{clients}}) c ON c.key = s.key AND c.side = 'client' AND {_THEN}
        WHERE s.key <> '' AND s.parent = 0 AND s.client = 0""",  # noqa: S608  names and numbers of ours
)
_BY_CLIENT = _NEAREST.replace("{near}", "0").replace(
    "{near_ones}",
    f"""SELECT s.id, c.id AS client, c.case_id, c.phase, c.client AS number,
            greatest(0, c.start - s.start) + greatest(0, s."end" - c."end") AS away
        FROM {{table}} s JOIN ({{clients}}) c ON c.client = s.client - 1 AND c.side = 'client' AND {_THEN}
            AND (s.key = '' OR c.key = s.key) AND (s.target = '' OR c.target::VARCHAR = s.target::VARCHAR)
        WHERE s.client <> 0 AND s.parent = 0 AND c.id NOT IN (
            SELECT parent FROM ({{clients}}) WHERE parent <> 0 AND side = 'client')""",  # noqa: S608  as above
)
