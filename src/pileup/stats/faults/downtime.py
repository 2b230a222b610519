"""How long a system was unavailable, from the iterations of a load, if nothing else shows when it went down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Times = NDArray[np.int64]
"""ns since the epoch, shape (n,)."""


@dataclass(frozen=True, slots=True)
class IterationsAfterFault:
    """Iterations of a case from a fault on, ended before the next one unless they passed, in any order."""

    begin: int
    """Of the fault."""
    started: Times
    """Begin of each that passed."""
    passed: Times
    """Its end."""
    tried: Times
    """Begin of each that did not pass."""
    failed: Times
    """Its end."""


def seen(connection: DuckDBPyConnection, case: int, begin: int, until: int) -> IterationsAfterFault:
    """Return what a load did between two faults; `connection` has the view `operations`."""
    found = connection.execute(
        """SELECT start, "end", outcome = 'passed' AS passed FROM operations
        WHERE case_id = ? AND parent = 0 AND side = 'client' AND phase IN ('ramp', 'warm-up', 'measure')
            AND "end" >= ? AND start < ? AND (outcome = 'passed' OR "end" < ?)""",
        [case, begin, until, until],
    ).fetchnumpy()
    start, end = np.asarray(found["start"], dtype=np.int64), np.asarray(found["end"], dtype=np.int64)
    good = np.asarray(found["passed"], dtype=bool)
    return IterationsAfterFault(begin, start[good], end[good], start[~good], end[~good])


def away(load: IterationsAfterFault) -> int | None:
    """Return the longest time for which a system was unavailable after a fault, ns; None if it did not recover.

    A time away begins with the last begin of an iteration that had passed when a failure ended, or with the fault where
    that is later: not with its end, since an answer may have lain in the client's hands for a while. It ends with the
    first success that had begun after the failure had ended. So it is never shorter than it was. A failure of another
    cause is over at once: the longest is that of the fault. The system did not come back where the time since the last
    sign of life is longer still, by what was begun in it.
    """
    life, back = _life(load), _back(load)
    known = back >= 0
    longest = int((back - life)[known].max()) if known.any() else None
    open_ = ~known & (load.tried >= life)
    waited = int((load.failed - life)[open_].max()) if open_.any() else 0
    return None if longest is None or waited > longest else longest


def _life(load: IterationsAfterFault) -> Times:
    """Return for each failure the last sign of life by its end, at the earliest the begin of the fault."""
    order = np.argsort(load.passed)
    latest = np.maximum.accumulate(np.append(load.begin, load.started[order]))
    found: Times = latest[np.searchsorted(load.passed[order], load.failed, "right")]
    return found


def _back(load: IterationsAfterFault) -> Times:
    """Return for each failure the end of the first success that began after it had ended, -1 where there is none."""
    order = np.argsort(load.started)
    earliest = np.minimum.accumulate(load.passed[order][::-1])[::-1]
    return np.append(earliest, -1)[np.searchsorted(load.started[order], load.failed, "left")]
