"""Stalls under a closed load: nothing ended while all clients waited, so nothing was sent that could have been slow.

A closed load of c clients has at most c slow responses of a stall, however long it was: its quantiles hide it
("coordinated omission", G. Tene, How NOT to Measure Latency, 2013). An open load at the same rate would have gone on
sending: what it had sent is told with numbers. While pileup itself did not run nothing can be said of the server.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from pileup.model.record import Frame
from pileup.model.units import format_count, format_rate, format_time
from pileup.stats.cases import CaseData
from pileup.stats.frames.distribution import bins, merged
from pileup.stats.frames.window import Window
from pileup.stats.generator.holdups import Stretch, stops
from pileup.stats.generator.undisturbed import cut
from pileup.stats.monitors import Whole

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from pileup._core._native import Histogram

LEAST = 10**8
"""Stalls shorter than this, ns, are not looked for."""
MUCH_LONGER = 10
"""So many times the 90th percentile: then a stall is none of the usual response times, also with one client."""
MOST = 100
"""Stalls that are looked at in a case, the longest first."""
SHARES = {0.99: "p99", 0.999: "p99.9"}


@dataclass(frozen=True, slots=True)
class Stall:
    """A time in which nothing of a case was answered while all its clients waited; ns since the epoch."""

    begin: int
    end: int
    clients: int
    """How many waited."""

    @property
    def length(self) -> int:
        """Nanoseconds."""
        return self.end - self.begin


def remarks(connection: DuckDBPyConnection, cases: Sequence[CaseData], series: Sequence[Whole] = ()) -> dict[int, str]:
    """Return what is to be said of the stalls of closed loads, by the id of their case; nothing where there was none.

    `connection` has the view `operations`, `series` are all samples of the run.
    """
    closed = {data.entry.id: data for data in cases if data.entry.load_kind == "closed" and data.window}
    told = {}
    for number, gaps in _gaps(connection, list(closed)).items():
        data = closed[number]
        response = merged(part for tally in data.measured.iterations() for part in tally.responses.parts)
        stopped = stops(data.frames, series)
        long = [gap for gap in gaps if _is_long(gap, response, data.window)]
        theirs = [
            (gap, [piece for piece in cut([gap], stopped) if _is_long(piece, response, data.window)]) for gap in long
        ]
        ours = [gap for gap, pieces in theirs if not pieces and cut([gap], stopped) != [gap]]
        waited = _with_clients(connection, number, [piece for _, pieces in theirs for piece in pieces])
        stalls = [stall for stall in waited if _all_waited(stall, data.frames)]
        found = [
            words(stalls, response, data.window.seconds) if stalls and data.window else "",
            own_words([Stall(*gap, 0) for gap in ours], stopped) if ours else "",
        ]
        if any(found):
            told[number] = "; ".join(filter(None, found))
    return told


def own_words(stalls: Sequence[Stall], stopped: Sequence[Stretch]) -> str:
    """Say that nothing was answered because pileup did not run, the longest time first."""
    longest = max(stalls, key=lambda stall: stall.length)
    inside = [each for each in stopped if each.begin < longest.end and longest.begin < each.end]
    again = f" (and {len(stalls) - 1} more times)" if len(stalls) > 1 else ""
    return (
        f"nothing was answered for {format_time(longest.length)} from {_clock(longest.begin)}{again}: it was pileup, "
        f"whose process did not run for {format_time(sum(each.stopped for each in inside))} of that, and not the server"
    )


def words(stalls: Sequence[Stall], response: Histogram, seconds: float) -> str:
    """Say what a closed load has hidden, the longest stall first. `response` is of what passed in so many seconds."""
    longest = max(stalls, key=lambda stall: stall.length)
    whole = sum(stall.length for stall in stalls)
    rate = response.count / max(1e-9, seconds - whole / 1e9)
    at = _clock(longest.begin)
    who = "its client" if longest.clients == 1 else f"{format_count(longest.clients)} clients"
    again = f" (and {len(stalls) - 1} more times, {format_time(whole)} in all)" if len(stalls) > 1 else ""
    here, there = quantiles(response, stalls, rate)
    return (
        f"nothing was answered for {format_time(longest.length)} from {at} while {who} waited{again}: a closed load "
        "sends nothing meanwhile, so its quantiles hide this (coordinated omission); an open load at the same rate "
        f"({format_rate(rate)}) would have seen about {format_count(round(rate * whole / 1e9))} requests wait up to "
        f"{format_time(longest.length)}: {here} here would be at least about {there} there"
    )


def quantiles(response: Histogram, stalls: Sequence[Stall], rate: float) -> tuple[str, str]:
    """Return p99 and p99.9 as measured, and as an open load of that rate would have them at least.

    What is due in a stall of length L waits for its rest, evenly spread over 0 to L. The backlog behind it is left out:
    how fast a system works it off, a closed load cannot know.
    """
    low, high, counts = bins(response)
    middle = (low + high) / 2
    waits = [np.linspace(0, stall.length, max(2, round(rate * stall.length / 1e9))) for stall in stalls]
    values = np.concatenate([middle, *waits])
    weights = np.concatenate([counts, *(np.ones(len(wait)) for wait in waits)])
    order = np.argsort(values)
    values = values[order]
    share = np.cumsum(weights[order]) / weights.sum()
    here = [float(min(response.quantile(wanted), response.max)) for wanted in SHARES]
    there = [float(values[min(int(np.searchsorted(share, wanted)), len(values) - 1)]) for wanted in SHARES]
    named = ", ".join(f"{name} {format_time(value)}" for name, value in zip(SHARES.values(), here, strict=True))
    return named, " and ".join(format_time(max(pair)) for pair in zip(here, there, strict=True))


def _clock(moment: int) -> str:
    return datetime.fromtimestamp(moment / 1e9, UTC).strftime("%H:%M:%S")


def _gaps(connection: DuckDBPyConnection, cases: Sequence[int]) -> dict[int, list[tuple[int, int]]]:
    """Return the times (begin, end) of a case in which nothing ended, those of LEAST and more, the longest first.

    Ends are counted in pieces of LEAST: any such gap reaches over the edge of two, and nothing has to be sorted.
    """
    if not cases:
        return {}
    rows = connection.execute(
        f"""WITH pieces AS (
            SELECT case_id, "end" // {LEAST} AS piece, min("end") AS first, max("end") AS last FROM operations
            WHERE case_id IN ({", ".join(map(str, cases))}) AND parent = 0 AND side = 'client'
              AND phase IN ('ramp', 'warm-up', 'measure') GROUP BY ALL),
        gaps AS (
            SELECT case_id, last AS begin, lead(first) OVER (PARTITION BY case_id ORDER BY piece) AS until FROM pieces)
        SELECT case_id, begin, until FROM gaps WHERE until - begin >= {LEAST}
        QUALIFY row_number() OVER (PARTITION BY case_id ORDER BY until - begin DESC) <= {MOST}
        ORDER BY case_id, until - begin DESC"""  # noqa: S608  numbers only
    ).fetchall()
    found: dict[int, list[tuple[int, int]]] = {}
    for number, begin, end in rows:
        found.setdefault(number, []).append((begin, end))
    return found


def _is_long(gap: tuple[int, int], response: Histogram, window: Window | None) -> bool:
    begin, end = gap
    if window is None or not response.count or not window.begin <= begin < end <= window.end:
        return False
    return end - begin >= MUCH_LONGER * response.quantile(0.9)


def _with_clients(connection: DuckDBPyConnection, case: int, gaps: Sequence[tuple[int, int]]) -> list[Stall]:
    """Return gaps with how many iterations waited through at least half of each."""
    if not gaps:
        return []
    halves = ", ".join(f"({begin}, {begin + (end - begin) // 2}, {end})" for begin, end in gaps)
    rows = connection.execute(
        f"""SELECT g.begin, g.until, count(*) FROM operations o
        JOIN (VALUES {halves}) g(begin, half, until) ON o.start <= g.half AND o."end" >= g.until
        WHERE o.case_id = {case} AND o.parent = 0 AND o.side = 'client' GROUP BY ALL ORDER BY g.begin"""  # noqa: S608
    ).fetchall()
    return [Stall(begin, end, waited) for begin, end, waited in rows]


def _all_waited(stall: Stall, frames: Sequence[Frame]) -> bool:
    """Return whether no client was left that could have begun something, by the frames at the begin of a stall."""
    clients: dict[int, int] = {}
    for frame in sorted(frames, key=lambda frame: frame.time):
        if frame.nanoseconds and frame.time >= stall.begin:
            clients.setdefault(frame.place, frame.clients)
    return stall.clients >= sum(clients.values())
