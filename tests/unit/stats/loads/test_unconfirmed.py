"""What was measured and not confirmed is not part of the figures."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from pileup.stats.loads.unconfirmed import set_aside
from tests.manifests import case_of

ROWS = [(1, "measure", 50), (1, "measure", 150), (1, "warm-up", 140), (2, "measure", 50), (3, "cool-down", 50)]


def _phases(*cases: dict[str, Any]) -> list[tuple[int, int, str]]:
    with duckdb.connect(":memory:") as connection:
        connection.execute("CREATE TABLE rows (case_id INTEGER, phase VARCHAR, intended BIGINT)")
        connection.executemany("INSERT INTO rows VALUES (?, ?, ?)", ROWS)
        connection.execute("CREATE VIEW operations AS SELECT * FROM rows")
        set_aside(connection, map(case_of, cases))
        return connection.execute("SELECT case_id, intended, phase FROM operations ORDER BY ALL").fetchall()


def _case(number: int, measurements: int, measuring: int | None = 100) -> dict[str, Any]:
    return {"id": number, "find": {"measurements": [{}] * measurements, "measuring": measuring}}


ALL = sorted((case, intended, phase) for case, phase, intended in ROWS)


@pytest.mark.parametrize("case", [{"id": 1}, {"id": 1, "find": {"measuring": 100}}, _case(1, 1), _case(1, 0, None)])
def test_t2_nothing_is_set_aside_where_the_first_level_was_confirmed(case: dict[str, Any]) -> None:
    assert _phases(case) == ALL


def test_t2_what_was_measured_before_the_last_level_is_as_a_trial() -> None:
    found = _phases(_case(1, 2), {"id": 2}, _case(3, 2))
    assert [each for each in found if each not in ALL] == [(1, 50, "warm-up")]
    assert len(found) == len(ALL)
