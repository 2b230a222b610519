"""Intervals for values whose neighbours depend on each other, such as response times at a queue.

A case is cut into many short blocks of time. The sum of what is in them has a variance that is estimated from their
autocovariances up to a lag of several autocorrelation times (A. D. Sokal, in: Functional Integration, 1997, p. 131;
bias and precision: N. Madras, A. D. Sokal, J. Stat. Phys. 50 (1988) 109). Compared with independent values that gives
an effective number of values:

* quantiles: order statistics (David, Nagaraja, Order Statistics, 3rd ed., section 7.1) of that many, with interpolated
  ranks (J. L. Nyblom, Stat. Probab. Lett. 14 (1992) 129). The dependence is that of "is it at or below the quantile".
  In the tail there are few bursts to learn from, so a quantile takes at least the dependence of those nearer to the
  median. Whether there is an interval at all must not be decided by the luck of a run that saw few bursts: that is
  decided by the median's dependence, which luck in the tail hardly touches, and with a margin (`Inflation.careful`).
* means: Student's interval, adjusted for skewness (R. Willink, Commun. Stat. Theory Methods 34 (2005) 1).
* rates: the law of a count of independent events with the same relative variance (gamma, F. Garwood, Biometrika 28
  (1936) 437, by the cube root of E. B. Wilson, M. M. Hilferty, PNAS 17 (1931) 684): never below zero.
* shares: `stats/intervals/shares.py`.

How often they cover the truth is measured by `benchmarks/coverage.py`; docs/compare.md has its result.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pileup.model import student
from pileup.model.figures import Interval
from pileup.stats.intervals.confidence import LEVEL, TAIL, Z, binomial
from pileup.stats.intervals.shares import SINGLY, Bursts

Floats = NDArray[np.float64]
WINDOW = 8.0
"""Autocovariances are taken up to this many autocorrelation times; beyond that they are noise alone."""
LEAST_TIME = 0.6
"""That of independent values is 0.5. Neighbours that avoid each other have less, and would end the sum too early."""
MARGIN = 3.0
"""What a quantile far out may depend more on its neighbours than the median does: 2.5 at a queue of any load."""
DOUBT = 1.6448536269514722
"""Quantile of the normal law at 95 %: how far the variance may be above its estimate."""
COARSER = 8
"""Blocks that are looked at as one, too, if there are enough such."""
FEWEST_COARSE = 100
FEWEST_BLOCKS = 60
"""The same where it is asked how an amount varies over longer times."""
FEWEST_EVENTS = 60
"""Fewer events than this do not show how their number varies."""
FEWEST_BATCHES = 8
"""Batches below which nothing is said of their skewness."""
STEPS = 1 / 6
"""Variance of a count between two edges that know nothing of it: two roundings of 1/12."""
MOST_FREEDOM = 5000
MOST_DOUBT = 1e3


@dataclass(frozen=True, slots=True)
class Blocks:
    """A case in blocks of equal length, one after another: arrays with one entry per block."""

    ended: Floats
    """How many of those to be measured ended, whatever their outcome."""
    passed: Floats
    sums: Floats
    """Sum of the values of what passed."""
    counted: Floats
    """How many passed, also of those that began before the measured time."""
    moved: Floats
    """Their bytes."""
    below: Mapping[float, Floats]
    """Share -> how many of what passed lie at or below that quantile of all that ended: what did not pass is above."""
    timed: int
    """How many of the first blocks lie in the measured time; later ones hold what was still to end."""
    outcomes: Mapping[str, Floats] = field(default_factory=dict)
    """Outcome -> how many of what ended had it; without "passed"."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Variance of the sum of a series, the degrees of freedom of that estimate, and its window in entries."""

    variance: float
    freedom: int
    window: int

    @property
    def factor(self) -> float:
        """Quantile of Student's law at 95 %."""
        return student.quantile(self.freedom)

    @property
    def noise(self) -> float:
        """How far the variance may be off by chance, as a share of it."""
        return Z * math.sqrt(2 / self.freedom)

    @property
    def doubt(self) -> float:
        """How many times its estimate the variance may be (95 %, one side; by Wilson and Hilferty)."""
        small = 2 / (9 * self.freedom)
        root = 1 - small - DOUBT * math.sqrt(small)
        return min(MOST_DOUBT, root**-3) if root > 0 else MOST_DOUBT


@dataclass(frozen=True, slots=True)
class Inflation:
    """How many values that depend on each other say as much of a quantile as one that does not, at least 1."""

    factor: float = 1.0
    careful: float = 1.0
    """What it may be, by what luck does not touch: it decides whether there is an interval."""


NO_INFLATION = Inflation()


@dataclass(frozen=True, slots=True)
class Dependence:
    """What is known of an operation of a case about how its values depend on their neighbours."""

    mean: tuple[float, float] = (0.0, 0.0)
    """Limits of the interval of the mean, less the mean."""
    error: float = 0.0
    """Standard error of the mean. This and those below are widened by Student's law for how well they are known."""
    factors: Mapping[float, Inflation] = field(default_factory=dict)
    """Share -> variance of the share at or below that quantile over that of as many independent values; at least 1,
    rising with the share."""
    not_passed: Bursts = SINGLY
    """How what did not pass comes."""
    outcomes: Mapping[str, Bursts] = field(default_factory=dict)
    """Outcome -> how it comes; without "passed", and those that were not seen."""
    count: float | None = None
    """Half of the interval of how many passed in the measured time, where that is narrow; see `amount_interval`."""
    moved: float | None = None
    """Half of the interval of their bytes."""

    def factor(self, share: float) -> Inflation:
        """Return the inflation for any quantile: of the next known one above it."""
        above = [known for known in self.factors if known >= share]
        return self.factors.get(min(above, default=max(self.factors, default=0.0)), NO_INFLATION)

    def bursts(self, outcome: str) -> Bursts:
        """Return how an outcome comes."""
        return self.not_passed if outcome == "passed" else self.outcomes.get(outcome, SINGLY)


def spread(series: Floats) -> Spread:
    """Return how the sum of a series of mean zero varies when neighbours may depend on each other."""
    n = len(series)
    transformed = np.fft.rfft(series - series.mean(), 2 * n)
    covariances = np.fft.irfft(transformed * np.conj(transformed))[:n]
    if n < 2 or covariances[0] <= 0:
        return Spread(0.0, max(1, n - 1), 1)
    times = 0.5 + np.cumsum(covariances[1:] / covariances[0])
    lags = np.arange(1, n)
    # Neighbours that avoid each other would end the sum too early without a least window.
    enough = np.nonzero(lags >= WINDOW * np.maximum(times, LEAST_TIME))[0]
    window = int(lags[enough[0]]) if len(enough) else n - 1
    width = 2 * window + 1
    # The mean was taken from the series itself: that takes away about width / n of the variance.
    variance = 2 * float(times[window - 1]) * float(covariances[0]) * (1 + width / n)
    return Spread(max(0.0, variance), min(MOST_FREEDOM, max(1, n // width)), window)


def dependence(blocks: Blocks) -> Dependence | None:
    """Return how what is in these blocks depends on its neighbours; None for less than two values."""
    n, ended = float(blocks.passed.sum()), float(blocks.ended.sum())
    if n < 2:
        return None
    residuals = blocks.sums - blocks.sums.sum() / n * blocks.passed
    found = spread(residuals)
    error, shape = math.sqrt(found.variance) / n, skewness(residuals, found.window)
    counted = blocks.counted[: blocks.timed]
    return Dependence(
        mean=(-_skewed(found.factor, shape) * error, -_skewed(-found.factor, shape) * error),
        error=error * found.factor / Z,
        factors=_factors(blocks, ended),
        not_passed=_bursts(blocks.ended - blocks.passed, blocks.ended),
        outcomes={name: _bursts(hits, blocks.ended) for name, hits in blocks.outcomes.items()},
        count=_half(counted, 1.0, counted),
        moved=_half(blocks.moved[: blocks.timed], float(blocks.moved.sum() / max(1.0, blocks.counted.sum())), counted),
    )


def skewness(series: Floats, window: int) -> float:
    """Return the skewness of batches as long as the window over six times the root of their number: Willink's beta."""
    length = 2 * window + 1
    number = len(series) // length
    if number < FEWEST_BATCHES:
        return 0.0
    sums = series[: number * length].reshape(number, length).sum(axis=1)
    sums = sums - sums.mean()
    deviation = float(sums.std())
    if deviation == 0:
        return 0.0
    third = float(np.mean(sums**3)) / deviation**3 * number**2 / ((number - 1) * (number - 2))
    return third / (6 * math.sqrt(number))


def _skewed(quantile: float, shape: float) -> float:
    """Return a quantile of Student's law adjusted for skewness (Willink 2005, equation 5)."""
    if abs(shape) < 1e-3:
        return quantile
    return float(np.cbrt(1 + 6 * shape * (quantile - shape)) - 1) / (2 * shape)


def _factors(blocks: Blocks, n: float) -> dict[float, Inflation]:
    """Return the inflations of quantiles, `n` values in all."""
    found: dict[float, Inflation] = {}
    largest, middle = 1.0, 0.0
    for share, below in sorted(blocks.below.items()):
        known = _variance(below, blocks.ended)
        inflation, own = known if known else (0.0, Spread(0.0, MOST_FREEDOM, 1))
        widened, shown = inflation * (own.factor / Z) ** 2, inflation > 1 + own.noise
        middle = middle or max(1.0, inflation * own.doubt)
        factor = max(1.0, widened, largest)
        # Nothing is doubted of values that are not shown to depend on each other.
        careful = MARGIN * middle if found else middle
        found[share] = Inflation(factor, max(factor, careful) if shown or largest > 1 else factor)
        if shown:
            largest = factor
    return found


def _bursts(hits: Floats, of: Floats) -> Bursts:
    """Return how outcomes come of which each block has so many `hits`."""
    each = [found for found in (_variance(hits, of), _variance(_coarser(hits), _coarser(of))) if found]
    if not each:
        return SINGLY
    inflation, found = max(each, key=lambda known: known[0])
    if inflation <= 1 + found.noise:
        return Bursts(max(1.0, inflation * (found.factor / Z) ** 2))
    # No more is known of the lengths of bursts than there were bursts.
    count = float(hits.sum())
    most = max(1, round(2 * count * (1 - count / float(of.sum())) / inflation))
    return Bursts(inflation * (student.quantile(min(found.freedom, most)) / Z) ** 2, shown=True)


def _variance(hits: Floats, of: Floats) -> tuple[float, Spread] | None:
    """Return the variance of a share over that of as many independent values; None for nothing, and for all."""
    n = float(of.sum())
    share = float(hits.sum()) / n if n else 0.0
    if not 0 < share < 1:
        return None
    found = spread(hits - share * of)
    return found.variance / (n * share * (1 - share)), found


def _coarser(series: Floats, fewest: int = FEWEST_COARSE) -> Floats:
    """Return the sums of neighbours: where each alone is mostly noise, these show what they have in common."""
    if len(series) < COARSER * fewest:
        return series
    kept = series[: len(series) // COARSER * COARSER]
    return np.asarray(kept.reshape(-1, COARSER).sum(axis=1), dtype=np.float64)


def _half(amounts: Floats, step: float, events: Floats) -> float | None:
    """Return half of the interval of a sum of amounts that come in steps, in these numbers of events."""
    if len(amounts) < 2 or events.sum() < FEWEST_EVENTS:
        return None
    found = _over_longer(amounts, STEPS * step**2)
    return found.factor * math.sqrt(found.variance + STEPS * step**2)


def _over_longer(amounts: Floats, rounding: float) -> Spread:
    """Return how a sum of amounts varies, by longer blocks where it is shown to vary more by these.

    Clients that pause for a fixed time come in turn: blocks of such a time avoid each other, and what slows all of them
    for a while is not seen within a few of these. `rounding` is what edges alone add to the variance of a block.
    """
    found = spread(amounts)
    while len(amounts) >= COARSER * FEWEST_BLOCKS:
        amounts = _coarser(amounts, FEWEST_BLOCKS)
        longer = spread(amounts)
        if longer.variance > found.variance * (1 + longer.noise) + rounding * len(amounts):
            found = longer
    return found


def amount_interval(value: float, half: float) -> Interval:
    """Return the interval of an amount, or rate, that is never below zero; `half` of it where it is narrow.

    The interval of so many independent events as have the same relative variance (gamma law, half an event more); one
    has been seen at least, so it reaches no further than from 0.07 to 4.7 times the value.
    """
    if value <= 0 or half <= 0:
        return Interval(max(0.0, value - half), value + half, LEVEL)
    number = max(1.0, (Z * value / half) ** 2)
    small = 1 / (9 * (number + 0.5))
    low, high = ((number + 0.5) / number * (1 - small + sign * math.sqrt(small) * Z) ** 3 for sign in (-1, 1))
    return Interval(value * min(1.0, low), value * max(1.0, high), LEVEL)


def ranks(share: float, n: int, known: Inflation = NO_INFLATION) -> tuple[int, int] | None:
    """Return the ranks (1 is the smallest) of the two of `n` values that enclose a quantile.

    None where so many values may be too few. Close to that they are taken to depend more on each other than
    they seem to, up to twice as much: those that get an interval there are those with luck.
    """
    fewest = math.ceil(math.log(TAIL) / math.log(max(share, 1 - share)))
    edge = known.careful * fewest / n if n else 2.0
    if edge > 1:
        return None
    factor = known.factor * (1 + edge) if known.careful > known.factor else known.factor
    effective = max(fewest, int(n / factor))
    first, below = binomial(effective, share)
    low, high = (_rank(first, below, level) for level in (TAIL, 1 - TAIL))
    # Of so many values one stands for several: their middles are laid on each other.
    scale = n / effective
    return max(1, math.floor((low - 0.5) * scale + 0.5)), min(n, math.ceil((high - 0.5) * scale + 0.5))


def _rank(first: int, below: Floats, level: float) -> float:
    """Return the rank, not whole, that a binomial count falls short of with probability `level`."""
    place = int(np.searchsorted(below, level, side="right"))
    before = float(below[place - 1]) if place else 0.0
    step = float(below[place]) - before if place < len(below) else 1.0
    return first + place + (level - before) / step if step > 0 else float(first + place)


def mean_interval(mean: float, found: Dependence) -> Interval:
    """Return the interval of a mean that cannot be below zero."""
    return Interval(max(0.0, mean + found.mean[0]), mean + found.mean[1], LEVEL)


def pooled_factor(share: float, parts: Sequence[tuple[int, Dependence | None]]) -> Inflation:
    """Return the inflation for a quantile of several cases together: n of each, and what is known of it."""
    n = sum(n for n, _ in parts)
    known = [(n, found.factor(share) if found else NO_INFLATION) for n, found in parts]
    if n == 0:
        return NO_INFLATION
    return Inflation(n / sum(n / each.factor for n, each in known), n / sum(n / each.careful for n, each in known))


def pooled_error(parts: Sequence[tuple[int, Dependence | None]]) -> float | None:
    """Return the standard error of the mean of several cases together; None where it is not known of one of them."""
    n = sum(count for count, _ in parts)
    if n == 0 or any(found is None for count, found in parts if count):
        return None
    return math.hypot(*(count * found.error for count, found in parts if found)) / n
