"""Response times by time: the seconds of a case as columns of counts on a logarithmic grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pileup.model.response_map import PER_DECADE, ResponseMap
from pileup.stats.frames.distribution import DueDurations, bins

MOST = 240
"""Intervals of one case; more seconds are put together."""
BINS = 14 * PER_DECADE
"""Up to 10^14 ns: more than a day."""


@dataclass(frozen=True, slots=True)
class MapColumn:
    """One second: begin and end in ns since the epoch, how many passed in each bin, how many did not pass."""

    begin: int
    end: int
    counts: NDArray[np.int64]
    not_passed: int


def column(begin: int, end: int, due: DueDurations) -> MapColumn:
    """Return a second with the response times of all that ended in it."""
    counts = np.zeros(BINS, np.int64)
    if due.passed.count:
        low, high, found = bins(due.passed)
        places = np.floor(np.log10(np.maximum((low + high) / 2, 1.0)) * PER_DECADE).astype(np.int64)
        counts = np.bincount(np.clip(places, 0, BINS - 1), weights=found, minlength=BINS).astype(np.int64)
    return MapColumn(begin, end, counts, due.n - due.passed.count)


def response_map(columns: Sequence[MapColumn]) -> ResponseMap | None:
    """Return the seconds of a case, in order, as at most MOST intervals; None where nothing passed."""
    whole = _together(columns)
    (seen,) = np.nonzero(whole)
    if not len(seen):
        return None
    size = -(-len(columns) // MOST)
    parts = [columns[place : place + size] for place in range(0, len(columns), size)]
    first, last = int(seen[0]), int(seen[-1]) + 1
    return ResponseMap(
        begins=tuple(part[0].begin for part in parts),
        ends=tuple(part[-1].end for part in parts),
        first=first,
        counts=tuple(tuple(_together(part)[first:last].tolist()) for part in parts),
        not_passed=tuple(sum(each.not_passed for each in part) for part in parts),
    )


def _together(columns: Sequence[MapColumn]) -> NDArray[np.int64]:
    """Return the counts of some seconds together."""
    whole = np.zeros(BINS, np.int64)
    for each in columns:
        whole += each.counts
    return whole
