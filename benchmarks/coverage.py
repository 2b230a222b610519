"""How often intervals at 95 % hold the truth: simulated runs whose truth is known by arithmetic.

    python benchmarks/coverage.py [--runs 2000] [--values 20000] [--seed 1]

Two kinds of runs: independent exponential response times, and the response times of a queue with one server, Poisson
arrivals and exponential service (M/M/1) at 60 % load, which are exponential too, with neighbours that depend on each
other. Effects are between each run and the next one, whose times are 1.3 times as long. Every figure goes through the
functions that `show`, reports, criteria and `compare` use.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pileup.model.figures import Interval
from pileup.stats.intervals import correlated, effects
from pileup.stats.intervals.correlated import Blocks, Dependence

Floats = NDArray[np.float64]
LOAD = 0.6
SHARES = (0.5, 0.9, 0.99)
FACTOR = 1.3
"""How much longer the times of a candidate are than those of its baseline."""
MOST_BLOCKS = 4096
AT_ONCE = 50
MEAN = 1 / (1 - LOAD)
"""Mean response time of the queue, in service times (A. K. Erlang; L. Kleinrock, Queueing Systems I, 1975, 3.2)."""


def queue(rng: np.random.Generator, runs: int, values: int) -> tuple[Floats, Floats]:
    """Return ends and response times, (runs, values) each, of an M/M/1 queue that begins as it always is.

    Waiting times are those of D. V. Lindley (Proc. Camb. Phil. Soc. 48 (1952) 277).
    """
    gaps, services = rng.exponential(1 / LOAD, (runs, values)), rng.exponential(1.0, (runs, values))
    steps = np.empty((runs, values))
    steps[:, 0] = np.where(rng.random(runs) < LOAD, rng.exponential(MEAN, runs), 0.0)
    steps[:, 1:] = services[:, :-1] - gaps[:, 1:]
    walk = np.cumsum(steps, axis=1)
    waits = walk - np.minimum(np.minimum.accumulate(walk, axis=1), 0)
    return np.cumsum(gaps, axis=1) + waits + services, waits + services


def independent(rng: np.random.Generator, runs: int, values: int) -> tuple[Floats, Floats]:
    """Return the same for draws that do not depend on each other, at the same rate and of the same law."""
    return np.cumsum(rng.exponential(1 / LOAD, (runs, values)), axis=1), rng.exponential(MEAN, (runs, values))


KINDS: dict[str, Callable[[np.random.Generator, int, int], tuple[Floats, Floats]]] = {
    "independent": independent,
    "queue at 60 %": queue,
}


def truths() -> dict[str, float]:
    """Return the true figure of each metric, for both kinds."""
    return {"mean": MEAN, **{f"p{share * 100:g}": -MEAN * math.log1p(-share) for share in SHARES}, "rate": LOAD}


def blocks_of(ends: Floats, values: Floats) -> Blocks:
    """Return a run in blocks, as the record of a run gives them."""
    number = min(MOST_BLOCKS, len(values))
    places = np.clip((ends / ends.max() * number).astype(int), 0, number - 1)
    ordered = np.sort(values)
    limits = {share: ordered[max(1, math.ceil(share * len(values))) - 1] for share in SHARES}

    def total(weights: Floats) -> Floats:
        return np.bincount(places, weights, number).astype(float)

    ones = np.ones(len(values))
    below = {share: total((values <= limit).astype(float)) for share, limit in limits.items()}
    counts = total(ones)
    return Blocks(counts, counts, total(values), counts, counts, below, number)


def figures(ends: Floats, values: Floats) -> dict[str, tuple[float, Interval | None]]:
    """Return metric -> value and interval of one run."""
    found = correlated.dependence(blocks_of(ends, values)) or Dependence()
    ordered, n = np.sort(values), len(values)
    known: dict[str, tuple[float, Interval | None]] = {}
    mean = float(values.mean())
    known["mean"] = mean, correlated.mean_interval(mean, found)
    for share in SHARES:
        ranks = correlated.ranks(share, n, found.factor(share))
        interval = Interval(float(ordered[ranks[0] - 1]), float(ordered[ranks[1] - 1])) if ranks else None
        known[f"p{share * 100:g}"] = float(ordered[max(1, math.ceil(share * n)) - 1]), interval
    rate, half = n / float(ends.max()), (found.count or 0.0) / float(ends.max())
    known["rate"] = rate, Interval(rate - half, rate + half)
    return known


@dataclass(slots=True)
class Tally:
    """How often something was reported, and how often it held the truth."""

    told: int = 0
    held: int = 0
    asked: int = 0

    def add(self, interval: Interval | None, truth: float) -> None:
        """Count one interval; None: too few values."""
        self.asked += 1
        if interval is not None:
            self.told += 1
            self.held += interval.low <= truth <= interval.high

    @property
    def share(self) -> float:
        """Of those that were given."""
        return self.held / self.told if self.told else math.nan


@dataclass(slots=True)
class Coverage:
    """Tallies of each metric: of the figure itself, of differences, of ratios."""

    figure: dict[str, Tally] = field(default_factory=dict)
    difference: dict[str, Tally] = field(default_factory=dict)
    ratio: dict[str, Tally] = field(default_factory=dict)


def simulate(kind: str, runs: int, values: int, seed: int) -> Iterator[dict[str, tuple[float, Interval | None]]]:
    """Yield the figures of one run after another."""
    rng = np.random.default_rng(seed)
    for begin in range(0, runs, AT_ONCE):
        ends, times = KINDS[kind](rng, min(AT_ONCE, runs - begin), values)
        yield from (figures(each, its) for each, its in zip(ends, times, strict=True))


def coverage(kind: str, runs: int, values: int, seed: int = 1) -> Coverage:
    """Return how often intervals hold the truth in so many runs of so many values."""
    found, before = Coverage(), None
    for known in simulate(kind, runs, values, seed):
        for metric, truth in truths().items():
            found.figure.setdefault(metric, Tally()).add(known[metric][1], truth)
            if before is not None:
                _effects(found, metric, truth, known[metric], before[metric])
        before = known
    return found


def _effects(
    found: Coverage, metric: str, truth: float, one: tuple[float, Interval | None], other: tuple[float, Interval | None]
) -> None:
    gap = ratio = None
    if one[1] is not None and other[1] is not None:
        longer = effects.Estimate(one[0] * FACTOR, one[1].low * FACTOR, one[1].high * FACTOR)
        plain = effects.Estimate(other[0], other[1].low, other[1].high)
        gap, ratio = effects.difference(longer, plain), effects.ratio(longer, plain)
    found.difference.setdefault(metric, Tally()).add(gap, truth * (FACTOR - 1))
    found.ratio.setdefault(metric, Tally()).add(ratio, FACTOR)


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--values", type=int, nargs="+", default=[2000, 20_000, 100_000])
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print("| runs | values | figure | given | its interval | difference | ratio |\n|---|---|---|---|---|---|---|")
    for kind in KINDS:
        for values in asked.values:
            began = time.monotonic()
            found = coverage(kind, asked.runs, values, asked.seed)
            for metric, tally in found.figure.items():
                parts = [tally, found.difference[metric], found.ratio[metric]]
                told = " | ".join("-" if not each.told else f"{each.share:.1%}" for each in parts)
                print(f"| {kind} | {values:,} | {metric} | {tally.told / tally.asked:.0%} | {told} |", flush=True)
            print(f"<!-- {time.monotonic() - began:.0f} s -->", flush=True)


if __name__ == "__main__":
    main()
