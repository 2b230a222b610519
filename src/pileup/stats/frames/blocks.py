"""The measured part of a case in short blocks of time, from the record, to estimate the dependence of neighbours.

One query serves many operations, and its result is limited: at most a fixed number of blocks, whatever the number of
rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from pileup.model.record import NOT_PASSED
from pileup.record.tally import Tally
from pileup.stats.cases import CaseData
from pileup.stats.frames.distribution import SHARES
from pileup.stats.frames.kept_dependence import Known
from pileup.stats.intervals.correlated import Blocks, Floats, dependence

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST = 4096
"""Blocks of one operation."""
FEWEST = 30
"""Fewer values than this say nothing of how they depend on each other."""
AT_ONCE = 64
"""Operations that one query answers for."""
AMOUNTS = ("ended", "passed", "sums", "counted", "moved")


@dataclass(slots=True)
class BlockRequest:
    """One operation of one case: its time, and the quantiles of its response times."""

    data: CaseData
    tally: Tally
    begin: int
    last: int
    """End of the last of its iterations, or of the measured time if that is later."""
    number: int
    limits: tuple[float, ...]
    """Quantiles of all that ended, what did not pass being above any: infinite where one lies there."""

    @property
    def timed(self) -> int:
        """How many of its blocks are in the measured time."""
        window = self.data.window
        return int(self.number * (window.end - self.begin) / (self.last - self.begin)) if window else 0


def add_dependence(connection: DuckDBPyConnection, cases: Sequence[CaseData], known: Known | None = None) -> None:
    """Find how neighbours depend on each other in each case that has enough of them; `connection` has `operations`.

    For cases in `known` no row is read. Loads of several levels are left out, since their levels differ on purpose.
    """
    if known is not None:
        for data in cases:
            data.dependence.update(known.get(data.entry.id, {}))
        return
    candidates = [data for data in cases if data.window is not None and not data.window.parts]
    lasts = _lasts(connection, [data for data in candidates if any(_enough(data))])
    wanted = (each for data in candidates for each in _wanted(data, lasts))
    while some := list(islice(wanted, AT_ONCE)):
        for each, blocks in _read(connection, some):
            found = dependence(blocks)
            if found is not None:
                each.data.dependence[each.tally.operation, each.tally.iteration] = found


def _enough(data: CaseData) -> Iterable[Tally]:
    for tally in data.measured.tallies.values():
        outlives = not tally.iteration and tally.operation in data.detached
        if tally.counts["passed"] >= FEWEST and not outlives:
            yield tally


def _lasts(connection: DuckDBPyConnection, cases: Sequence[CaseData]) -> dict[int, int]:
    """Return case -> when its last measured operation ended."""
    if not cases:
        return {}
    numbers = ", ".join(str(data.entry.id) for data in cases)
    rows = connection.execute(
        f"""SELECT case_id, max("end") FROM operations
        WHERE case_id IN ({numbers}) AND phase = 'measure' AND side = 'client' GROUP BY case_id"""  # noqa: S608  numbers
    ).fetchall()
    return {int(number): int(last) for number, last in rows}


def _wanted(data: CaseData, lasts: dict[int, int]) -> Iterable[BlockRequest]:
    if data.window is None:
        return
    begin = data.window.begin
    last = max(lasts.get(data.entry.id, 0), data.window.end, begin + 1)
    for tally in _enough(data):
        yield BlockRequest(data, tally, begin, last, min(MOST, tally.counts["passed"]), _limits(tally))


def _limits(tally: Tally) -> tuple[float, ...]:
    histogram, n = tally.response, tally.ended
    ranks = [max(1, math.ceil(share * n)) for share in SHARES]
    return tuple(float(histogram.at_rank(rank)) if rank <= histogram.count else math.inf for rank in ranks)


def _read(connection: DuckDBPyConnection, some: Sequence[BlockRequest]) -> Iterable[tuple[BlockRequest, Blocks]]:
    limits = ", ".join(f"limit{place} DOUBLE" for place in range(len(SHARES)))
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE _wanted (slot INTEGER, case_id UINTEGER, operation VARCHAR, iteration BOOLEAN,
        begin BIGINT, length BIGINT, number INTEGER, {limits})"""
    )
    rows = [[slot, *_row(each)] for slot, each in enumerate(some)]
    connection.executemany(f"INSERT INTO _wanted VALUES ({', '.join('?' * len(rows[0]))})", rows)  # noqa: S608  marks
    found = {name: np.asarray(column) for name, column in connection.execute(_QUERY).fetchnumpy().items()}
    edges = np.searchsorted(found["slot"], np.arange(len(some) + 1))
    for slot, each in enumerate(some):
        mine = slice(int(edges[slot]), int(edges[slot + 1]))
        yield each, _blocks(each, {name: column[mine] for name, column in found.items()})


def _row(wanted: BlockRequest) -> list[object]:
    operation = (wanted.data.entry.id, wanted.tally.operation, wanted.tally.iteration)
    return [*operation, wanted.begin, wanted.last - wanted.begin, wanted.number, *wanted.limits]


def _blocks(wanted: BlockRequest, found: dict[str, Floats]) -> Blocks:
    def filled(name: str) -> Floats:
        column = np.zeros(wanted.number)
        column[found["block"].astype(int)] = found[name].astype(float)
        return column

    below = {share: filled(f"below{place}") for place, share in enumerate(SHARES)}
    outcomes = {name: filled(name) for name in NOT_PASSED if wanted.tally.counts[name]}
    return Blocks(**{name: filled(name) for name in AMOUNTS}, below=below, timed=wanted.timed, outcomes=outcomes)


_RESPONSE = '(o."end" - o.intended)'
_MEASURED = "o.phase = 'measure'"
_PASSED = f"{_MEASURED} AND o.outcome = 'passed'"
_BELOW = ", ".join(
    f"count(*) FILTER ({_PASSED} AND {_RESPONSE} <= w.limit{place}) AS below{place}" for place in range(len(SHARES))
)
_OUTCOMES = ", ".join(f"count(*) FILTER ({_MEASURED} AND o.outcome = '{name}') AS {name}" for name in NOT_PASSED)
_QUERY = f"""SELECT w.slot AS slot, greatest(0, least(w.number - 1,
        floor((o."end" - w.begin)::DOUBLE / w.length * w.number))) AS block,
    count(*) FILTER ({_MEASURED}) AS ended, count(*) FILTER ({_PASSED}) AS passed,
    coalesce(sum({_RESPONSE}::DOUBLE) FILTER ({_PASSED}), 0) AS sums,
    count(*) FILTER (o.outcome = 'passed') AS counted,
    coalesce(sum(o.bytes::DOUBLE) FILTER (o.outcome = 'passed'), 0) AS moved, {_BELOW}, {_OUTCOMES}
FROM operations o JOIN _wanted w
    ON o.case_id = w.case_id AND o.operation = w.operation AND (o.parent = 0) = w.iteration
WHERE o.side = 'client' AND o.phase IN ('ramp', 'warm-up', 'measure') AND o."end" >= w.begin
GROUP BY ALL ORDER BY slot"""  # noqa: S608  names of ours
