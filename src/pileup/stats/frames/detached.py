"""Asynchronous operations: jobs in a queue, recalls from tape.

A ledger reports on them in frames of its own, which stand for no interval of pressing (`nanoseconds` is 0). Their rate
is that of the whole lot: how many passed from the begin of the first to the end of the last, in that time. The measured
part of the load that began them would be the wrong time: they may all end after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from pileup.model.record import Frame
from pileup.model.results import Detached
from pileup.record.tally import SECOND, total
from pileup.stats.frames.window import Window

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST = 3600
"""Seconds that are kept for drawing."""


def is_ledger(frame: Frame) -> bool:
    """Return whether a frame reports on detached operations."""
    return frame.nanoseconds == 0 and frame.clients == 0


def operations_of(frames: Iterable[Frame]) -> set[str]:
    """Return the names of the operations that frames of ledgers report on."""
    return {row.operation for frame in frames if is_ledger(frame) for row in frame.rows if not row.iteration}


def windows(connection: DuckDBPyConnection, wanted: dict[int, set[str]]) -> dict[int, dict[str, Window]]:
    """Return case -> operation -> the time that all of them took together; `wanted` is case -> operations."""
    found: dict[int, dict[str, Window]] = {}
    if not any(wanted.values()):
        return found
    cases = ", ".join(str(number) for number, names in wanted.items() if names)
    rows = connection.execute(
        f"""SELECT case_id, operation, min(start), max("end") FILTER (outcome NOT IN ('unfinished', 'lost'))
        FROM operations WHERE case_id IN ({cases}) AND parent <> 0 AND phase = 'measure' AND side = 'client'
        GROUP BY case_id, operation"""  # noqa: S608  numbers only
    ).fetchall()
    for number, operation, begin, end in rows:
        if operation in wanted[number]:
            found.setdefault(number, {})[operation] = Window(begin, max(begin + 1, end or 0))
    return found


def in_time(connection: DuckDBPyConnection, wanted: dict[int, set[str]]) -> dict[int, tuple[Detached, ...]]:
    """Return case -> how many of each operation were open and had ended as time went on, by the record.

    Exact once the run has ended: an operation has its row when it ends.
    """
    found: dict[int, list[Detached]] = {}
    cases = ", ".join(str(number) for number, names in wanted.items() if names)
    if not cases:
        return {}
    rows = connection.execute(
        f"""WITH mine AS (SELECT * FROM operations WHERE case_id IN ({cases}) AND parent <> 0 AND side = 'client'
            AND phase IN ('ramp', 'warm-up', 'measure', 'cool-down'))
        SELECT case_id, operation, second, sum(begun), sum(ended) FROM (
            SELECT case_id, operation, start // {SECOND} AS second, 1 AS begun, 0 AS ended FROM mine
            UNION ALL SELECT case_id, operation, "end" // {SECOND}, 0, 1 FROM mine)
        GROUP BY ALL ORDER BY case_id, operation, second"""  # noqa: S608  numbers only
    ).fetchall()
    for (number, operation), group in groupby(rows, key=lambda row: (row[0], row[1])):
        if operation in wanted[number]:
            found.setdefault(number, []).append(_line(operation, [(row[2], int(row[3]), int(row[4])) for row in group]))
    return {number: tuple(lines) for number, lines in found.items()}


def _line(operation: str, seconds: list[tuple[int, int, int]]) -> Detached:
    """Return the line of one operation out of second, begun, ended in it."""
    level, looks = 0, []
    for second, begun, ended in seconds:
        level += begun - ended
        looks.append(((second + 1) * SECOND, level, ended))
    return _made(operation, looks)


def so_far(frames: Sequence[Frame]) -> tuple[Detached, ...]:
    """Return the same of a run that goes on, by the frames of its ledgers, all operations of a case together."""
    if not frames:
        return ()
    places: dict[int, int] = {}
    looks: dict[int, tuple[int, int, int]] = {}
    for frame in sorted(frames, key=lambda frame: frame.time):
        places[frame.place] = frame.in_flight
        second = frame.time // SECOND
        before = looks.get(second, (0, 0, 0))[2]
        looks[second] = (second + 1) * SECOND, sum(places.values()), before + total([frame]).ended
    return (_made("", list(looks.values())),)


def _made(operation: str, looks: list[tuple[int, int, int]]) -> Detached:
    kept, seconds = _thinned(looks)
    times, level, ended = (tuple(each[column] for each in kept) for column in range(3))
    return Detached(operation, times, level, ended, seconds)


def _thinned(looks: list[tuple[int, int, int]]) -> tuple[list[tuple[int, int, int]], int]:
    """Join what is in equal intervals so that not more than MOST are left, and return their length in seconds too.

    Of each the newest level and the sum of what ended. A time without news stays one.
    """
    first = looks[0][0] - SECOND
    size = 1 if len(looks) <= MOST else -(-(looks[-1][0] - first) // (MOST * SECOND))
    kept = []
    for number, group in groupby(looks, key=lambda look: (look[0] - 1 - first) // (size * SECOND)):
        part = list(group)
        kept.append((first + (number + 1) * size * SECOND, part[-1][1], sum(each[2] for each in part)))
    return kept, size
