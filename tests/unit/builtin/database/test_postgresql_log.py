"""PostgreSQL's log in JSON: which lines are slow statements, and what they say. Lines as of PostgreSQL 15.13."""

import json
import time

import pytest

from pileup.builtin.database.postgresql_log import slow_query

LINE = {
    "timestamp": "2026-11-25 23:41:07.250 UTC",
    "user": "pileup",
    "dbname": "postgres",
    "pid": 4711,
    "error_severity": "LOG",
    "message": "duration: 150.250 ms  statement: SELECT name FROM job WHERE id = 'CREAM1'\n  AND type = 3",
}
ENDED = 1795650067 * 10**9 + 250 * 10**6


def line(**more: object) -> str:
    return json.dumps(LINE | more)


def test_a_slow_statement_is_read() -> None:
    found = slow_query(line())
    assert found is not None
    assert found.kind == "SELECT name FROM job WHERE id = ? AND type = ?"
    assert (found.begin, found.took) == (ENDED - 150_250_000, 150_250_000)
    assert (found.user, found.schema, found.locked, found.examined) == ("pileup", "postgres", 0, 0)


@pytest.mark.parametrize("how", ["execute <unnamed>", "execute S_1", "execute fetch from c1"])
def test_a_prepared_statement_is_one(how: str) -> None:
    found = slow_query(line(message=f"duration: 1.5 ms  {how}: SELECT $1"))
    assert found is not None
    assert found.took == 1_500_000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        "[1]",
        "null",
        "{}",
        line(message="checkpoint starting: time"),
        line(message="duration: 12.0 ms"),
        line(message="duration: 12.0 ms  parse <unnamed>: SELECT 1"),
        line(message="duration: 12.0 ms  bind <unnamed>: SELECT 1"),
        line(message=7),
        line(timestamp="yesterday"),
        line(timestamp=None),
    ],
)
def test_anything_else_is_none(text: str) -> None:
    assert slow_query(text) is None


def test_times_of_another_zone_are_of_this_machine() -> None:
    found = slow_query(line(timestamp="2026-11-25 23:41:07.000 CET"))
    assert found is not None
    local = time.mktime(time.strptime("2026-11-25 23:41:07", "%Y-%m-%d %H:%M:%S"))
    assert found.begin + found.took == int(local) * 10**9
