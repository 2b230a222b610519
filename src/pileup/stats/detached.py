"""Operations that outlive the iterations that began them: jobs in a queue, recalls from tape.

A ledger tells of them in frames of its own, which stand for no interval of pressing (`nanoseconds` is 0). Their rate is
that of the whole lot: how many passed from the begin of the first to the end of the last, in that time. The measured
part of the load that began them would be the wrong time: they may all end after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pileup.model.record import Frame
from pileup.model.results import Detached
from pileup.stats.window import Window

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SECOND = 10**9
MOST = 3600
"""Looks at a ledger that are kept for drawing."""


def is_ledger(frame: Frame) -> bool:
    """Return whether a frame tells of detached operations."""
    return frame.nanoseconds == 0 and frame.clients == 0


def operations_of(frames: Iterable[Frame]) -> set[str]:
    """Return the names of the operations that frames of ledgers tell of."""
    return {row.operation for frame in frames if is_ledger(frame) for row in frame.rows if not row.iteration}


def windows(connection: DuckDBPyConnection, wanted: dict[int, set[str]]) -> dict[int, dict[str, Window]]:
    """Return case -> operation -> the time that all of them took together; `wanted` is case -> operations."""
    found: dict[int, dict[str, Window]] = {}
    if not any(wanted.values()):
        return found
    cases = ", ".join(str(number) for number, names in wanted.items() if names)
    rows = connection.execute(
        f"""SELECT case_id, operation, min(start), max("end") FILTER (outcome NOT IN ('unfinished', 'lost')),
            count(*) FILTER (outcome = 'passed'), coalesce(sum(bytes) FILTER (outcome = 'passed'), 0)
        FROM operations WHERE case_id IN ({cases}) AND parent <> 0 AND phase = 'measure' AND side = 'client'
        GROUP BY case_id, operation"""  # noqa: S608  numbers only
    ).fetchall()
    for number, operation, begin, end, passed, moved in rows:
        if operation in wanted[number]:
            window = Window(begin, max(begin + 1, end or 0), {(operation, False): (float(passed), float(moved))})
            found.setdefault(number, {})[operation] = window
    return found


def in_time(frames: Sequence[Frame]) -> Detached | None:
    """Return how many operations were open and had ended as time went on, summed over places; None without a ledger."""
    if not frames:
        return None
    ordered = sorted(frames, key=lambda frame: frame.time)
    places: dict[int, int] = {}
    looks: dict[int, tuple[int, int, int]] = {}
    for frame in ordered:
        places[frame.place] = frame.in_flight
        second = frame.time // SECOND
        before = looks.get(second, (0, 0, 0))[2]
        looks[second] = frame.time, sum(places.values()), before + _ended(frame)
    kept = _thinned(list(looks.values()))
    return Detached(tuple(each[0] for each in kept), tuple(each[1] for each in kept), tuple(each[2] for each in kept))


def _ended(frame: Frame) -> int:
    outcomes = ("passed", "failed", "refused", "ambiguous", "unfinished", "lost")
    return sum(getattr(row, name) for row in frame.rows for name in outcomes)


def _thinned(looks: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Join neighbours so that not more than MOST are left: the newest level, the sum of what ended."""
    size = -(-len(looks) // MOST)
    parts = [looks[place : place + size] for place in range(0, len(looks), size)]
    return [(part[-1][0], part[-1][1], sum(each[2] for each in part)) for part in parts]
