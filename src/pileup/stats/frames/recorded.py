"""Operations of servers recorded by monitors, case by case, as frames, for the same figures as those of clients.

The record is asked once. What it gives is bounded by the number of operations, labels and bins, not by that of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from pileup._core._native import Histogram
from pileup.model.record import OUTCOMES, Frame, FrameRow, Phase
from pileup.record.operations import BROKEN_OFF

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Recorded = dict[int, dict[str, Frame]]
"""Case -> monitor -> all of its operations that began in the measured time, in one frame without a duration."""
FINE = 2048
"""Times below, ns, have bins of their own; others are kept to 11 binary digits: the three of a histogram."""
_TOOK = '("end" - intended)'
_LOW = f"""CASE WHEN {_TOOK} < {FINE} THEN {_TOOK}
    ELSE ({_TOOK} >> (floor(log2({_TOOK}))::INTEGER - 10)) << (floor(log2({_TOOK}))::INTEGER - 10) END"""
_QUERY = f"""SELECT case_id, monitor, operation, labels, target, outcome, {_LOW} AS low, count(*)::BIGINT,
    sum(bytes)::BIGINT, sum(calls)::BIGINT
FROM caused WHERE side = 'server' AND monitor <> '' AND case_id <> 0 AND phase = 'measure' AND phase <> '{BROKEN_OFF}'
GROUP BY ALL ORDER BY case_id, monitor, operation, labels, target"""  # noqa: S608  words of ours


def recorded(connection: DuckDBPyConnection) -> Recorded:
    """Return what monitors recorded; `connection` has the view `caused`."""
    found: Recorded = {}
    rows = _rows(connection.execute(_QUERY))
    for (case, monitor), group in groupby(rows, key=lambda row: (int(row[0]), str(row[1]))):
        found.setdefault(case, {})[monitor] = _frame(case, group)
    return found


def _rows(cursor: DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while some := cursor.fetchmany(10_000):
        yield from some


def _frame(case: int, rows: Iterable[tuple[Any, ...]]) -> Frame:
    made = tuple(_row(key, group) for key, group in groupby(rows, key=lambda row: row[2:5]))
    return Frame(
        time=0,
        nanoseconds=0,
        place=0,
        case=case,
        phase=Phase.MEASURE,
        started=0,
        missed=0,
        in_flight=0,
        clients=0,
        cpu=0,
        late=b"",
        rows=made,
    )


def _row(key: tuple[Any, ...], rows: Iterable[tuple[Any, ...]]) -> FrameRow:
    operation, labels, target = map(str, key)
    counts, moved, calls, histogram = dict.fromkeys(OUTCOMES, 0), 0, 0, Histogram()
    for *_, outcome, low, count, size, called in rows:
        if outcome in counts:
            counts[outcome] += count
        if outcome == "passed":
            histogram.record(low, count)
        moved, calls = moved + size, calls + called
    took = histogram.encode() if histogram.count else b""
    named = f"target={target}" if target and "target=" not in labels else ""
    return FrameRow(
        operation,
        False,
        Phase.MEASURE,
        **counts,
        bytes=moved,
        calls=calls,
        response=took,
        service=took,
        labels=",".join(sorted(filter(None, (*labels.split(","), named)))),
    )
