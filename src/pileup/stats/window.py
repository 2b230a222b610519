"""When a case was measured, and what was done in that time, by the record of operations.

An iteration that crosses an edge of the measured time counts with the share of its life inside: neither what the load
left over from the warm-up nor a backlog served after the end makes the rate wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(slots=True)
class Window:
    """The measured time of a case, ns since the epoch; (operation, iteration) -> passed and bytes inside it."""

    begin: int
    end: int
    done: dict[tuple[str, bool], tuple[float, float]] = field(default_factory=dict)
    parts: tuple[tuple[int, int], ...] = ()
    """What is measured in between, (begin, end) each, when that is not all: ramps between stages are left out."""

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Its parts, one when there is no other."""
        return self.parts or ((self.begin, self.end),)

    @property
    def seconds(self) -> float:
        """Its length."""
        return sum(end - begin for begin, end in self.spans) / 1e9


def windows(connection: DuckDBPyConnection, cases: list[dict[str, Any]]) -> dict[int, Window]:
    """Return the window of every case that was measured; `connection` has the view `operations`."""
    rows = connection.execute(
        """SELECT case_id, min(intended), max("end") FROM operations
        WHERE parent = 0 AND phase = 'measure' AND side = 'client' GROUP BY case_id"""
    ).fetchall()
    told = {int(case["id"]): case for case in cases}
    found = {number: _window(begin, end, told.get(number, {})) for number, begin, end in rows}
    if found:
        _fill(connection, found)
    return found


def _window(begin: int, end: int, case: dict[str, Any]) -> Window:
    """Return the measured time of a case, from its first start to its last end, as far as its load says no other."""
    spans = case.get("spans") or []
    stop = _end(begin, end, spans[-1][1] if spans else case.get("for"))
    parts = tuple((begin + first, min(begin + last, stop)) for first, last in spans if begin + first < stop)
    return Window(begin, stop, parts=parts if len(parts) > 1 else ())


def _end(begin: int, end: int, wanted: int | None) -> int:
    """End of the measured time: as the load asked, earlier when the last one ended before that time was over."""
    asked = begin + wanted if wanted else end
    # A load that was stopped ends early; one that ran to its end has its last start a little before.
    return max(begin + 1, asked if end >= begin + 0.9 * (asked - begin) else end)


def _fill(connection: DuckDBPyConnection, found: dict[int, Window]) -> None:
    spans = [(number, *span) for number, window in found.items() for span in window.spans]
    values = ", ".join(map(str, spans))
    share = """CASE WHEN o."end" = o.start THEN (o.start BETWEEN w.begin AND w.stop)::DOUBLE
        ELSE greatest(0, least(o."end", w.stop) - greatest(o.start, w.begin)) / (o."end" - o.start) END"""
    rows = connection.execute(
        f"""SELECT o.case_id, o.operation, o.parent = 0, sum({share}), sum(o.bytes * {share})
        FROM operations o JOIN (VALUES {values}) w(case_id, begin, stop) ON o.case_id = w.case_id
        WHERE o.outcome = 'passed' AND o.side = 'client' AND o.phase IN ('ramp', 'warm-up', 'measure')
          AND o."end" >= w.begin AND o.start <= w.stop
        GROUP BY ALL"""  # noqa: S608  numbers only
    ).fetchall()
    for number, operation, iteration, passed, moved in rows:
        found[number].done[operation, iteration] = (float(passed), float(moved))
