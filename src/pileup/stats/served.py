"""Operations of servers by kind, those that took the most time first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pileup.model.results import Served

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST = 200
"""Kinds of operations that are reported."""


def served(connection: DuckDBPyConnection) -> tuple[Served, ...]:
    """Return the operations of servers by target and kind, at most 200; none if no monitor recorded any."""
    rows = connection.execute(
        f"""SELECT target, operation, count(*), sum("end" - start)::BIGINT AS took, max("end" - start),
            sum(CASE WHEN first_byte = 0 THEN 0 ELSE first_byte - start END)::BIGINT, sum(calls)::BIGINT,
            max(calls), sum(bytes)::BIGINT
        FROM operations WHERE side = 'server' GROUP BY target, operation
        ORDER BY took DESC, target, operation LIMIT {MOST}"""  # noqa: S608  a number of ours
    ).fetchall()
    return tuple(Served(str(target), str(name), *map(int, numbers)) for target, name, *numbers in rows)
