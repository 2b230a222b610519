"""When samples fulfil a check on a monitor for the first time: what a cooldown waits for."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable

from pileup.model import check as checks
from pileup.model.record import SampleRow
from pileup.stats.monitors import whole_series
from pileup.stats.verdicts.resolve import of_values, to_base

MOST = 100_000
"""Samples kept for the check: the newest of them."""


class RestCheck:
    """A check on a monitor, given samples as they come. Raises ValueError for a check that is none on a monitor."""

    def __init__(self, text: str, monitors: Collection[str]) -> None:
        self._check = checks.parse(text)
        self._selected = checks.resolve(self._check, (), monitors)
        self._seen: deque[SampleRow] = deque(maxlen=MOST)

    def since(self, rows: Iterable[SampleRow]) -> int | None:
        """Take what came, and return the time of the sample by which the check holds, ns since the epoch.

        Every series must fulfil it. None while none of them does, or there is no sample of that metric.
        """
        wanted = (self._selected.name, self._selected.metric)
        mine = [row for row in rows if (row.monitor, row.sample.metric) == wanted]
        for row in sorted(mine, key=lambda row: row.time):
            self._seen.append(row)
            if self._holds():
                return row.time
        return None

    def _holds(self) -> bool:
        series = [each for each in whole_series(self._seen) if each.has(self._selected.labels)]
        figures = [of_values(self._check, *to_base(each.between(None, None), each.unit)) for each in series]
        return bool(figures) and all(figure.value is not None and self._check.holds(figure.value) for figure in figures)
