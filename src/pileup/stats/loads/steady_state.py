"""Where steady state began: MSER-5 (White 1997) over the seconds of a load, and a test whether it began late at all.

The marginal standard error rule leaves out so much of the beginning that the mean of the rest, taken as independent
batches of five, has the smallest standard error: d that minimizes S(d) / (k - d)^2, with S(d) the sum of squares of the
batches after d around their mean. It always leaves something out, of a series that is steady from its begin too: what
it leaves out must also differ from the rest by more than chance does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BATCH = 5
"""Values of a batch."""
LEAST = 50
"""Values that a series must have: fewer say too little."""
SURE = 4.0
"""Standard errors by which the beginning must differ from the rest. More than usual: where it ends is chosen so that
it differs, and batches depend on each other more than a short series shows."""
TREND = 2.5
"""Standard errors by which a slope must differ from zero, in the whole and in its second half."""
MATTERS = 0.05
"""So much, as a share of the mean of the rest, must the beginning differ to matter."""
USUAL = 2.0
"""Standard deviations within which a batch, or the mean of several, is like the rest."""
MOST_RHO = 0.9

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Steady:
    """What a series says. `first` is the place of the first value of steady state; None where it never began.

    0: it was steady from the begin, as far as can be reported.
    """

    first: int | None
    before: float
    """Mean of what came before; of all of it where steady state never began."""
    after: float
    """Mean of what came then; of the second half where steady state never began."""


def steady(values: Sequence[float]) -> Steady | None:
    """Return where a series becomes steady; None for one that is too short."""
    if len(values) < LEAST:
        return None
    number = len(values) // BATCH
    batches = np.asarray(values[: number * BATCH], dtype=float).reshape(number, BATCH).mean(axis=1)
    cut = _cut(batches)
    if cut >= number // 2 and _matters(*_means(batches, number // 2)) and _goes_on(batches):
        return Steady(None, float(batches.mean()), float(batches[number // 2 :].mean()))
    cut = _earlier(batches, min(cut, number // 2))
    before, after = _means(batches, cut)
    if cut == 0 or not _matters(before, after) or not _differs(batches, cut):
        whole = float(batches.mean())
        return Steady(0, whole, whole)
    return Steady(cut * BATCH, before, after)


def _cut(batches: Numbers) -> int:
    """Return how many batches MSER leaves out: of the first half, as White and all after him have it."""
    number = len(batches)
    cuts = np.arange(number // 2 + 1)
    left = number - cuts
    # sums of squares around the mean of every tail, without a loop: from the end on
    total, squares = np.cumsum(batches[::-1])[::-1], np.cumsum((batches**2)[::-1])[::-1]
    spread = squares[cuts] - total[cuts] ** 2 / left
    return int(np.argmin(np.maximum(spread, 0.0) / left**2))


def _earlier(batches: Numbers, cut: int) -> int:
    """Return the cut without what is like the rest before it: of many cuts that are alike chance takes a late one."""
    rest = batches[cut:]
    middle, usual = float(rest.mean()), USUAL * float(rest.std())
    for place in range(cut):
        part = batches[place:cut]
        near = abs(float(part[0]) - middle) <= usual
        if near and abs(float(part.mean()) - middle) <= usual / math.sqrt(len(part)):
            return place
    return cut


def _means(batches: Numbers, cut: int) -> tuple[float, float]:
    return float(batches[:cut].mean()) if cut else 0.0, float(batches[cut:].mean())


def _matters(before: float, after: float) -> bool:
    return abs(before - after) > MATTERS * abs(after)


def _differs(batches: Numbers, cut: int) -> bool:
    """Whether the beginning differs from the rest by more than chance."""
    begin, rest = batches[:cut], batches[cut:]
    variance = _inflated(rest - rest.mean())
    change = abs(float(begin.mean() - rest.mean()))
    return change > SURE * math.sqrt(variance * (1 / len(begin) + 1 / len(rest)))


def _goes_on(batches: Numbers) -> bool:
    """Whether there is a slope over all of it, by more than chance, which has not ended in the second half."""
    return all(_slopes(part) for part in (batches, batches[len(batches) // 2 :]))


def _slopes(batches: Numbers) -> bool:
    places = np.arange(len(batches)) - (len(batches) - 1) / 2
    middle, width = float(batches.mean()), float(places @ places)
    slope = float(places @ batches) / width
    around = batches - middle - slope * places
    return abs(slope) > TREND * math.sqrt(_inflated(around) / width)


def _inflated(around: Numbers) -> float:
    """Return the variance of values around their mean, as much larger as they depend on their neighbours."""
    number = len(around)
    variance = float(around @ around) / (number - 1)
    rho = float(around[1:] @ around[:-1]) / (variance * (number - 1)) if variance else 0.0
    # a correlation of so few batches comes out too small by about (1 + 4 rho) / n (Kendall 1954)
    rho = min(max(rho + (1 + 4 * max(rho, 0.0)) / number, 0.0), MOST_RHO)
    return variance * (1 + rho) / (1 - rho)
