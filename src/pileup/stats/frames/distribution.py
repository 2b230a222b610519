"""Distributions of durations from HDR histograms: quantiles with intervals, and data for charts.

Quantiles of response times are over all that was due: what did not pass is slower than any that passed. What timed out
is slower than its timeout; what was refused, failed, lost or missed has no answer (right-censored values, E. L. Kaplan,
P. Meier, JASA 53 (1958) 457, all of them behind what was seen). So a quantile is a time, "> 1 s", or "no answer".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pileup._core._native import Histogram
from pileup.model.figures import Distribution, Figure, Interval, Note
from pileup.model.units import format_fraction
from pileup.record.tally import merged, together
from pileup.stats.intervals import correlated
from pileup.stats.intervals.confidence import LEVEL, Z, fewest, wilson
from pileup.stats.intervals.correlated import NO_INFLATION, Dependence, Inflation

SHARES = (0.5, 0.9, 0.99, 0.999, 0.9999)
BOX = (0.01, 0.25, 0.5, 0.75, 0.99)
MOST_BINS = 60
MOST_POINTS = 300
TOO_FEW = Note.TOO_FEW
ROUNDING = 1e-9
"""Of a share times a number: 0.9 x 10 is no more than 9."""
NEARLY_ALL = 0.99
"""Share of the due operations from which on they count as all."""
DEPENDENT = "too few that are independent for an interval"

Bins = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]
"""Lowest values, highest values, counts."""


def quantiles_of(encoded: bytes, shares: Iterable[float]) -> list[int | None]:
    """Return plain quantiles (ns) of an encoded histogram; None for each when it is empty."""
    histogram = merged([encoded])
    return [min(histogram.quantile(share), histogram.max) if histogram.count else None for share in shares]


@dataclass(frozen=True, slots=True)
class DueDurations:
    """Durations of all that was due: those that passed, and how many did not."""

    passed: Histogram
    timed_out: int = 0
    """Of those that did not pass, how many took at least `timeout`."""
    unanswered: int = 0
    """The others."""
    timeout: float | None = None
    """ns; None: not known."""

    @property
    def n(self) -> int:
        """All of them."""
        return self.passed.count + self.timed_out + self.unanswered

    @property
    def share(self) -> float:
        """Share that passed."""
        return self.passed.count / self.n if self.n else 1.0

    def carries(self, share: float) -> bool:
        """Return whether they are enough for a quantile; if nothing passed, one is enough."""
        return self.n >= fewest(share) or (self.n > 0 and self.passed.count == 0)

    def rank(self, share: float) -> int:
        """Return the rank of a quantile."""
        return max(1, math.ceil(share * self.n - ROUNDING))

    def value(self, share: float) -> float | None:
        """Return a quantile, ns; None where they are too few for it, or where it had no answer."""
        rank = self.rank(share)
        return self.at_rank(rank) if rank <= self.passed.count and self.carries(share) else None

    def at_rank(self, rank: int) -> float:
        """Return the value of a rank (1 is the smallest), ns; the timeout for what timed out, infinite for no answer.

        Of both the true value is larger.
        """
        if rank <= self.passed.count:
            return float(min(self.passed.at_rank(rank), self.passed.max))
        within = self.timeout is not None and rank <= self.passed.count + self.timed_out
        return self.timeout if within and self.timeout is not None else math.inf


def pooled(several: Sequence[DueDurations], missed: int = 0) -> DueDurations:
    """Return the durations of several operations together, and of `missed` that were due and never begun."""
    timeout = min((each.timeout for each in several if each.timeout is not None), default=None)
    unanswered = sum(each.unanswered for each in several) + missed
    passed = together([each.passed for each in several])
    return DueDurations(passed, sum(each.timed_out for each in several), unanswered, timeout)


def plain_quantile(due: DueDurations, share: float) -> Figure:
    """Return a quantile (ns) without its interval; no value where n cannot carry it, or where it had no answer."""
    if not due.carries(share):
        return Figure(None, "time", None, due.n, TOO_FEW)
    found = due.value(share)
    if found is None:
        above = due.at_rank(due.rank(share))
        return Figure(None, "time", None, due.n, _unanswered(due, above), above=above)
    return Figure(found, "time", None, due.n)


def quantile(due: DueDurations, share: float, known: Inflation = NO_INFLATION) -> Figure:
    """Return a quantile (ns) with its interval; no value where n cannot carry it, or where it had no answer.

    `known` is how many values that depend on each other count as one that does not
    (`stats/intervals/correlated.py`). No interval where n could carry the quantile only if they were independent.
    """
    found = plain_quantile(due, share)
    middle = found.value if found.above is None else found.above
    if middle is None:
        return found
    ranks = correlated.ranks(share, due.n, known)
    low, high = (due.at_rank(each) for each in ranks) if ranks else (middle, middle)
    if found.above is not None:
        least = _least(due, share, known)
        if least is None and ranks is not None:
            least = min(low, middle)
        return replace(found, interval=None if least is None else Interval(least, math.inf, LEVEL))
    if ranks is None:
        return replace(found, note=DEPENDENT)
    if ranks[1] > due.passed.count:
        high = math.inf
    return replace(found, interval=Interval(min(low, middle), max(high, middle), LEVEL))


def _least(due: DueDurations, share: float, known: Inflation) -> float | None:
    """Return a lower bound of a quantile if surely less than its share passed; None if it is not sure."""
    passed = wilson(due.passed.count / known.careful, due.n / known.careful)
    if passed is None or passed.high >= share:
        return None
    return due.timeout if due.timed_out and due.timeout is not None else math.inf


def _unanswered(due: DueDurations, above: float) -> str:
    """Return what share had no answer, by the timeout if the quantile is among those that timed out."""
    told = format_fraction(1 - due.share)
    return f"{told} had no answer by then" if math.isfinite(above) else f"{told} had no answer"


def quantiles(due: DueDurations, dependence: Dependence | None = None) -> dict[float, Figure]:
    """Return the quantiles of SHARES; empty where nothing was due."""
    known = dependence or Dependence()
    return {share: quantile(due, share, known.factor(share)) for share in SHARES} if due.n else {}


def mean(histogram: Histogram, dependence: Dependence | None = None) -> Figure:
    """Return the mean (ns); where nothing is known of dependence its interval takes the values as independent."""
    n = histogram.count
    if dependence is not None and n > 1:
        return Figure(histogram.mean, "time", correlated.mean_interval(histogram.mean, dependence), n)
    if n == 0:
        return Figure(None, "time", None, 0, "nothing measured")
    middle = histogram.mean
    if n == 1:
        return Figure(middle, "time", None, n)
    low, high, counts = bins(histogram)
    variance = float(np.sum(counts * ((low + high) / 2 - middle) ** 2)) / (n - 1)
    half = Z * math.sqrt(variance / n)
    return Figure(middle, "time", Interval(max(0.0, middle - half), middle + half, LEVEL), n)


def distribution(histogram: Histogram, dependence: Dependence | None = None) -> Distribution | None:
    """Return the distribution that a histogram holds, None for an empty one.

    `dependence`: how its values depend on their neighbours, where that is known.
    """
    if histogram.count == 0:
        return None
    found = bins(histogram)
    if len(found[0]) == 1:
        return _single(histogram, found)
    edges, counts = _drawn(found)
    box = [float(min(histogram.quantile(share), histogram.max)) for share in BOX]
    return Distribution(
        n=histogram.count,
        mean=histogram.mean,
        smallest=histogram.min,
        largest=histogram.max,
        quantiles=quantiles(DueDurations(histogram), dependence),
        edges=edges,
        counts=counts,
        ecdf=_ecdf(histogram, found),
        box=(box[0], box[1], box[2], box[3], box[4]),
        mean_interval=mean(histogram, dependence).interval,
        deviation=deviation(histogram),
    )


def deviation(histogram: Histogram) -> float:
    """Return the standard deviation (ns) of what a histogram holds; 0 below two."""
    if histogram.count < 2:
        return 0.0
    low, high, counts = bins(histogram)
    if len(low) == 1:
        return 0.0
    return math.sqrt(float(np.sum(counts * ((low + high) / 2 - histogram.mean) ** 2)) / (histogram.count - 1))


def _single(histogram: Histogram, found: Bins) -> Distribution:
    """Return the distribution of durations that are all alike, mostly of a single one: there may be thousands."""
    n, value = histogram.count, float(histogram.max)
    none = Figure(None, "time", None, n, TOO_FEW)
    low = max(float(found[0][0]), 0.5)
    return Distribution(
        n=n,
        mean=histogram.mean,
        smallest=histogram.min,
        largest=histogram.max,
        quantiles={share: none if n == 1 else quantile(DueDurations(histogram), share) for share in SHARES},
        edges=(low, max(float(found[1][0]), low * 1.0001)),
        counts=(n,),
        ecdf=((value, 1.0),),
        box=(value, value, value, value, value),
    )


def bins(histogram: Histogram) -> Bins:
    """Return the bins of a histogram as arrays."""
    low, high, counts = histogram.bins()
    return np.array(low, dtype=float), np.array(high, dtype=float), np.array(counts, dtype=np.int64)


def _drawn(found: Bins) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Return edges on a logarithmic grid and the counts between them."""
    edges = _grid(float(found[0][0]), float(found[1][-1]))
    return tuple(edges.tolist()), _counted(found, edges)


def on_one_grid(several: Sequence[Histogram]) -> tuple[tuple[float, ...], list[tuple[int, ...]]]:
    """Return edges (ns) on one logarithmic grid, and how many each has between them; () for an empty one."""
    found = [bins(each) if each.count else None for each in several]
    some = [each for each in found if each is not None]
    if not some:
        return (), [() for _ in several]
    edges = _grid(min(float(low[0]) for low, _, _ in some), max(float(high[-1]) for _, high, _ in some))
    return tuple(edges.tolist()), [() if each is None else _counted(each, edges) for each in found]


def _grid(low: float, high: float) -> NDArray[np.float64]:
    first, last = max(low, 0.5), max(high, 1.0)
    number = int(min(MOST_BINS, max(1, round(math.log(last / first) * 12))))
    return np.geomspace(first, max(last, first * 1.0001), number + 1)


def _counted(found: Bins, edges: NDArray[np.float64]) -> tuple[int, ...]:
    low, high, counts = found
    number = len(edges) - 1
    middle = np.maximum((low + high) / 2, 0.5)
    places = np.clip(np.searchsorted(edges, middle, side="right") - 1, 0, number - 1)
    return tuple(int(count) for count in np.bincount(places, weights=counts, minlength=number))


def _ecdf(histogram: Histogram, found: Bins) -> tuple[tuple[float, float], ...]:
    """Return (duration, share at or below), dense in the upper tail, where people look."""
    _, high, counts = found
    shares = np.cumsum(counts) / histogram.count
    if len(shares) > MOST_POINTS:
        wanted = np.concatenate(
            [np.linspace(0, 0.95, MOST_POINTS // 2), 1 - np.geomspace(0.05, 1e-7, MOST_POINTS // 2 - 2)]
        )
        places = {0, *np.searchsorted(shares, wanted).tolist(), len(shares) - 1}
        kept = np.array(sorted(each for each in places if each < len(shares)))  # np.unique would import numpy.ma
        high, shares = high[kept], shares[kept]
    largest = float(histogram.max)
    return tuple((min(float(value), largest), float(share)) for value, share in zip(high, shares, strict=True))
