"""Samples of monitors as series over the run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pileup.model.record import SampleRow
from pileup.model.results import Series

MOST_DRAWN = 2000
Arrays = tuple[NDArray[np.int64], NDArray[np.float64]]
VISIT = "visit="
"""Label of what is measured once per visit to a point."""


@dataclass(slots=True)
class MetricSeries:
    """All samples of one metric with one set of labels on one host."""

    monitor: str
    metric: str
    labels: str
    unit: str
    host: str
    times: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    _arrays: tuple[int, Arrays] | None = field(default=None, repr=False, compare=False)

    def between(self, begin: int | None, end: int | None) -> NDArray[np.float64]:
        """Return the values from `begin` to `end` (ns since the epoch), all without bounds, in order of time."""
        return self.points(begin, end)[1]

    def points(self, begin: int | None, end: int | None) -> Arrays:
        """Return the same with their times."""
        times, values = self._finite()
        if begin is None or end is None:
            return times, values
        within = slice(np.searchsorted(times, begin, "left"), np.searchsorted(times, end, "right"))
        return times[within], values[within]

    def _finite(self) -> Arrays:
        """Return times and values of what is finite as arrays in order of time; kept, for many spans are asked for."""
        if self._arrays is None or self._arrays[0] != len(self.times):
            times, values = np.array(self.times, dtype=np.int64), np.array(self.values, dtype=float)
            inside = np.isfinite(values)
            order = np.argsort(times[inside], kind="stable")
            self._arrays = len(self.times), (times[inside][order], values[inside][order])
        return self._arrays[1]

    @property
    def key(self) -> tuple[str, str]:
        """What distinguishes it from other series of its metric, except the visit to a point: labels and host."""
        return ",".join(part for part in self.labels.split(",") if not part.startswith(VISIT)), self.host

    @property
    def visit(self) -> int | None:
        """The visit to a point that it belongs to alone; None: it goes on over the whole run."""
        found = [part.removeprefix(VISIT) for part in self.labels.split(",") if part.startswith(VISIT)]
        return int(found[0]) if found and found[0].isdigit() else None

    def has(self, labels: Iterable[tuple[str, str]]) -> bool:
        """Return whether it has these labels, maybe more; `host` is one of them."""
        own = {"host": self.host, **dict(part.split("=", 1) for part in self.labels.split(",") if "=" in part)}
        return all(own.get(name) == value for name, value in labels)

    def drawn(self) -> Series:
        """Return it for drawing: at most 2000 points that keep every peak and every dip."""
        kept = thinned(self.values)
        times, values = tuple(self.times[place] for place in kept), tuple(self.values[place] for place in kept)
        return Series(self.monitor, self.metric, self.labels, self.unit, self.host, times, values)


def pooled(
    series: Sequence[MetricSeries], spans: Sequence[tuple[int, int]] | None, visits: Collection[int] | None
) -> NDArray[np.float64]:
    """Return the values of one metric within some times (None: at any time), in the order of time.

    `visits` are those to the point that is asked for (None: all of the run): what was measured once per visit, such as
    the time to rest after it, belongs to them whenever it was reported.
    """
    return pooled_points(series, spans, visits)[1]


def pooled_points(
    series: Sequence[MetricSeries], spans: Sequence[tuple[int, int]] | None, visits: Collection[int] | None
) -> Arrays:
    """Return the same with their times, ns since the epoch."""
    found: list[Arrays] = []
    for each in series:
        if each.visit is not None:
            found += [each.points(None, None)] if visits is None or each.visit in visits else []
        elif spans is None:
            found.append(each.points(None, None))
        else:
            found += [each.points(begin, end) for begin, end in spans]
    if not found:
        return np.empty(0, dtype=np.int64), np.empty(0)
    return np.concatenate([times for times, _ in found]), np.concatenate([values for _, values in found])


def whole_series(samples: Iterable[SampleRow]) -> list[MetricSeries]:
    """Return the samples by metric, in the order of their names."""
    found: dict[tuple[str, ...], MetricSeries] = {}
    for row in samples:
        sample = row.sample
        key = (row.monitor, sample.metric, sample.labels, sample.unit, row.host)
        series = found.get(key)
        if series is None:
            series = found[key] = MetricSeries(*key)
        series.times.append(row.time)
        series.values.append(sample.value)
    return [found[key] for key in sorted(found)]


def thinned(values: Sequence[float]) -> list[int]:
    """Return places in order: of each stretch its lowest and its highest value, and both ends."""
    n = len(values)
    if n <= MOST_DRAWN:
        return list(range(n))
    array = np.nan_to_num(np.asarray(values, dtype=float))
    edges = np.linspace(0, n, MOST_DRAWN // 2, dtype=int)
    kept = {0, n - 1}
    for begin, end in pairwise(edges.tolist()):
        kept.update((begin + int(array[begin:end].argmin()), begin + int(array[begin:end].argmax())))
    return sorted(kept)
