"""How often intervals of shares and rates hold the truth where things come in bursts: simulated, truth by arithmetic.

    python benchmarks/bursts.py [--runs 5000]

Shares: single failures; bursts of geometric length with gaps of geometric length; the same with three of ten failing in
a burst; a timeout at a queue (M/M/1). Rates: independent ends, ends at a steady pace, those of a queue, and of a server
that is there and gone in turns. Every figure goes through the functions that reports use.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pileup.model.figures import Interval
from pileup.stats.intervals import correlated, shares
from pileup.stats.intervals.correlated import Blocks

Floats = NDArray[np.float64]
Random = np.random.Generator
MOST_BLOCKS = 4096


def single(n: int, share: float) -> Callable[[Random], Floats]:
    """Return a maker of outcomes (1: failed) that do not depend on each other."""
    return lambda rng: (rng.random(n) < share).astype(float)


def bursts(n: int, on: float, off: float, within: float = 1.0) -> Callable[[Random], Floats]:
    """Return a maker of outcomes of which a share `within` bursts fails; mean lengths in iterations."""

    def made(rng: Random) -> Floats:
        number = int(2 * n / (on + off)) + 60
        lengths = np.stack([rng.geometric(1 / off, number), rng.geometric(1 / on, number)], axis=1).ravel()
        first = int(rng.random() < on / (on + off))
        state = np.repeat((np.arange(2 * number) % 2).astype(float)[first:], lengths[first:])[:n]
        return state if within == 1 else state * (rng.random(n) < within)

    return made


def waits(rng: Random, n: int, load: float) -> tuple[Floats, Floats]:
    """Return gaps between arrivals and response times of an M/M/1 queue that begins as it always is."""
    gaps, services = rng.exponential(1 / load, n), rng.exponential(1.0, n)
    begin = rng.exponential(1 / (1 - load)) if rng.random() < load else 0.0
    walk = np.cumsum(np.concatenate([[begin], services[:-1] - gaps[1:]]))
    return gaps, walk - np.minimum(np.minimum.accumulate(walk), 0) + services


def timed_out(n: int, load: float, share: float) -> Callable[[Random], Floats]:
    """Return a maker of outcomes at a queue whose clients wait so long that this share of them gives up."""
    longest = -math.log(share) / (1 - load)
    return lambda rng: (waits(rng, n, load)[1] > longest).astype(float)


OUTCOMES: dict[str, tuple[Callable[[Random], Floats], float]] = {
    "single, 1 % of 1,000": (single(1000, 0.01), 0.01),
    "single, 0.5 % of 4,000": (single(4000, 0.005), 0.005),
    "single, 10 % of 4,000": (single(4000, 0.1), 0.1),
    "bursts of 2 in 200": (bursts(4000, 2, 198), 0.01),
    "bursts of 20 in 400": (bursts(4000, 20, 380), 0.05),
    "bursts of 40 in 400": (bursts(4000, 40, 360), 0.1),
    "bursts of 100 in 400": (bursts(4000, 100, 300), 0.25),
    "bursts of 100 in 1,000": (bursts(4000, 100, 900), 0.1),
    "30 % in bursts of 100 in 400": (bursts(4000, 100, 300, 0.3), 0.075),
    "timeouts of 5 % at a queue at 60 %": (timed_out(4000, 0.6, 0.05), 0.05),
    "timeouts of 1 % at a queue at 60 %": (timed_out(8000, 0.6, 0.01), 0.01),
    "timeouts of 10 % at a queue at 80 %": (timed_out(8000, 0.8, 0.1), 0.1),
}
"""Name -> how the outcomes of 4,000 iterations, or as many as it says, are made; and the true share."""


def poisson(length: float) -> Callable[[Random], Floats]:
    """Return a maker of independent ends, one a second."""
    return lambda rng: np.sort(rng.random(rng.poisson(length)) * length)


def queue(length: float, load: float) -> Callable[[Random], Floats]:
    """Return a maker of the ends of a queue with a service time of a second."""

    def made(rng: Random) -> Floats:
        gaps, times = waits(rng, int(2 * load * length) + 60, load)
        ends = np.cumsum(gaps) + times
        return ends[ends < length]

    return made


def in_turns(length: float, on: float, off: float) -> Callable[[Random], Floats]:
    """Return a maker of ends, one a second while a server is there; exponential times of being there and away."""

    def made(rng: Random) -> Floats:
        number = int(4 * length / (on + off)) + 60
        times = np.stack([rng.exponential(off, number), rng.exponential(on, number)], axis=1).ravel()
        first = int(rng.random() < on / (on + off))
        edges = np.concatenate([[0.0], np.cumsum(times[first:])])
        ends = np.sort(rng.random(rng.poisson(length)) * length)
        return ends[(np.searchsorted(edges, ends, side="right") + first) % 2 == 0]

    return made


EVENTS: dict[str, tuple[Callable[[Random], Floats], float, float]] = {
    "independent, 100": (poisson(100), 1.0, 100),
    "independent, 1,000": (poisson(1000), 1.0, 1000),
    "a steady pace": (lambda rng: np.arange(rng.random(), 300, 1.0), 1.0, 300),
    "queue at 60 %": (queue(1000, 0.6), 0.6, 1000),
    "queue at 90 %": (queue(2000, 0.9), 0.9, 2000),
    "there for 20 s of 100 s": (in_turns(1000, 20, 80), 0.2, 1000),
    "there for 50 s of 100 s": (in_turns(1000, 50, 50), 0.5, 1000),
    "there for 100 s of 200 s": (in_turns(2000, 100, 100), 0.5, 2000),
}
"""Name -> how ends are made, the true rate, and the time."""


def share_of(outcomes: Floats) -> tuple[float, Interval]:
    """Return the share that failed, with its interval."""
    number = min(MOST_BLOCKS, len(outcomes))
    places = np.arange(len(outcomes)) * number // len(outcomes)
    failed, ended = np.bincount(places, outcomes), np.bincount(places).astype(float)
    passed = ended - failed
    found = correlated.dependence(Blocks(ended, passed, passed, passed, passed, {}, number))
    count, n = float(outcomes.sum()), len(outcomes)
    interval = shares.interval(count, n, found.not_passed if found else shares.SINGLY)
    assert interval is not None
    return count / n, interval


def rate_of(ends: Floats, length: float) -> tuple[float, Interval | None]:
    """Return the rate, with its interval; None where there are too few."""
    number = max(1, min(MOST_BLOCKS, len(ends)))
    counts = np.bincount(np.minimum((ends / length * number).astype(int), number - 1), minlength=number).astype(float)
    found = correlated.dependence(Blocks(counts, counts, counts, counts, counts, {}, number))
    half = found.count if found else None
    value = len(ends) / length
    return value, None if half is None else correlated.amount_interval(value, half / length)


def main() -> None:
    """Print two Markdown tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5000)
    runs = parser.parse_args().runs
    print("| failures | truth | held | median interval |\n|---|---|---|---|")
    for name, (outcome, truth) in OUTCOMES.items():
        _row(name, truth, [share_of(outcome(np.random.default_rng((16, seed))))[1] for seed in range(runs)], runs)
    print("\n| ends | truth | held | median interval |\n|---|---|---|---|")
    for name, (end, truth, length) in EVENTS.items():
        every = [rate_of(end(np.random.default_rng((17, seed))), length)[1] for seed in range(runs)]
        _row(name, truth, [each for each in every if each is not None], runs)


def _row(name: str, truth: float, found: list[Interval], runs: int) -> None:
    held = np.mean([each.low <= truth <= each.high for each in found])
    low, high = np.median([each.low for each in found]), np.median([each.high for each in found])
    told = "" if len(found) == runs else f" (given in {len(found) / runs:.0%})"
    print(f"| {name} | {truth:g} | {held:.1%}{told} | {low:.3g} to {high:.3g} |", flush=True)


if __name__ == "__main__":
    main()
