"""Stalls under a closed load: nothing passed while all clients waited or failed, so little was sent that could be slow.

A closed load of c clients has at most c slow responses of a stall, however long it was: its quantiles hide it
("coordinated omission", G. Tene, How NOT to Measure Latency, 2013). An open load at the same rate would have gone on
sending: what it had sent is reported with numbers. While pileup itself did not run nothing can be said of the server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from pileup.model.record import Frame
from pileup.model.units import format_count, format_rate, format_time
from pileup.stats.cases import CaseData
from pileup.stats.frames.distribution import bins
from pileup.stats.frames.window import Window
from pileup.stats.generator.holdups import Stretch, stops
from pileup.stats.generator.undisturbed import cut
from pileup.stats.monitors import MetricSeries

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
    """A time in which nothing of a case passed while all its clients waited or failed; ns since the epoch."""

    begin: int
    end: int
    clients: int
    """How many waited or failed."""
    failed: int = 0
    """Iterations that did not pass in it: a client that cannot connect pauses, so these are few."""

    @property
    def length(self) -> int:
        """Nanoseconds."""
        return self.end - self.begin


def remarks(
    connection: DuckDBPyConnection, cases: Sequence[CaseData], series: Sequence[MetricSeries] = ()
) -> dict[int, str]:
    """Return what is to be said of the stalls of closed loads, by the id of their case; nothing where there was none.

    `connection` has the view `operations`, `series` are all samples of the run.
    """
    closed = {data.entry.id: data for data in cases if data.entry.load_kind == "closed" and data.window}
    told = {}
    for number, gaps in _gaps(connection, {number: data.window for number, data in closed.items()}).items():
        data = closed[number]
        response = data.measured.response
        stopped = stops(data.frames, series)
        long = [gap for gap in gaps if _is_long(gap, response, data.window)]
        parts = [(gap, cut([gap], stopped)) for gap in long]
        theirs = [pieces for _, pieces in parts if _outlasts(_length(pieces), response)]
        ours = [gap for gap, pieces in parts if pieces not in theirs and 2 * _length(pieces) <= _length([gap])]
        waited = _with_clients(connection, number, [piece for pieces in theirs for piece in pieces])
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
    length = format_time(longest.length)
    told = (
        f"nothing passed for {length} from {at} while {who} waited or failed"
        if longest.failed
        else f"nothing was answered for {length} from {at} while {who} waited"
    )
    sends = "little" if longest.failed else "nothing"
    return (
        f"{told}{again}: a closed load sends {sends} meanwhile, so its percentiles hide this (coordinated omission); "
        f"an open load at the same rate ({format_rate(rate)}) would have seen about "
        f"{format_count(round(rate * whole / 1e9))} requests wait up to {length}: {here} here would be at least about "
        f"{there} there"
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


def _gaps(connection: DuckDBPyConnection, cases: Mapping[int, Window | None]) -> dict[int, list[tuple[int, int]]]:
    """Return the times (begin, end) in the window of a case in which nothing passed, those of LEAST and more.

    The longest come first. Ends are counted in pieces of LEAST: any such gap reaches over the edge of two, and nothing
    has to be sorted. What is still open at the end of the window counts up to there.
    """
    wanted = {number: window for number, window in cases.items() if window is not None}
    if not wanted:
        return {}
    edges = ", ".join(f"({number}, {window.begin}, {window.end})" for number, window in wanted.items())
    numbers = ", ".join(map(str, wanted))
    rows = connection.execute(
        f"""WITH ends AS (
            SELECT case_id, "end" // {LEAST} AS piece, min("end") AS first, max("end") AS last
            FROM operations WHERE case_id IN ({numbers}) AND parent = 0 AND side = 'client' AND outcome = 'passed'
                AND phase IN ('ramp', 'warm-up', 'measure')
            GROUP BY ALL),
        pieces AS (
            SELECT ends.*, w.begin, w.until FROM ends JOIN (VALUES {edges}) w(number, begin, until)
                ON case_id = w.number),
        gaps AS (
            SELECT case_id, greatest(last, pieces.begin) AS begin,
                least(coalesce(lead(first) OVER (PARTITION BY case_id ORDER BY piece), until), until) AS until
            FROM pieces)
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
    return _outlasts(end - begin, response)


def _outlasts(length: int, response: Histogram) -> bool:
    return length >= MUCH_LONGER * response.quantile(0.9)


def _length(gaps: Sequence[tuple[int, int]]) -> int:
    return sum(end - begin for begin, end in gaps)


def _with_clients(connection: DuckDBPyConnection, case: int, gaps: Sequence[tuple[int, int]]) -> list[Stall]:
    """Return gaps with how many clients were stuck in each: they waited through half of it or more, or failed in it."""
    if not gaps:
        return []
    halves = ", ".join(f"({begin}, {begin + (end - begin) // 2}, {end})" for begin, end in gaps)
    rows = connection.execute(
        f"""WITH stuck AS (
            SELECT g.begin, g.until, o.place, o.client,
                o.outcome <> 'passed' AND o."end" < g.until AS failed
            FROM operations o
            JOIN (VALUES {halves}) g(begin, half, until) ON
                (o.start <= g.half AND o."end" >= g.until)
                OR (o.outcome <> 'passed' AND o."end" > g.begin AND o."end" < g.until)
            WHERE o.case_id = {case} AND o.parent = 0 AND o.side = 'client')
        SELECT begin, until, count(DISTINCT (place, client)), count(*) FILTER (failed) FROM stuck
        GROUP BY ALL ORDER BY begin"""  # noqa: S608  numbers only
    ).fetchall()
    return [Stall(begin, end, stuck, failed) for begin, end, stuck, failed in rows]


def _all_waited(stall: Stall, frames: Sequence[Frame]) -> bool:
    """Return whether no client was left that could have begun something, by the frames at the begin of a stall."""
    clients: dict[int, int] = {}
    for frame in sorted(frames, key=lambda frame: frame.time):
        if frame.nanoseconds and frame.time >= stall.begin:
            clients.setdefault(frame.place, frame.clients)
    return stall.clients >= sum(clients.values())
