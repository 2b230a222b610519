"""Intervals over the repeats of a simulation.

Each repeat begins its machines afresh, with other random times. So figures of repeats are independent values of one
law, however much depends on what came before inside of a repeat (independent replications of a terminating simulation:
A. M. Law, Simulation Modeling and Analysis, 5th ed., section 9.4). A real system has a memory that no repeat ends:
there the interval is of what happened inside the repeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pileup.model.check import Check
from pileup.model.figures import Figure, Interval
from pileup.stats.intervals.confidence import LEVEL
from pileup.stats.intervals.effects import over_runs

FEWEST = 3
"""Repeats: the factor of two is 12.7."""
ESTIMATES = ("mean", "quantile", "rate", "fraction")
DIGITS = 1e-3
"""Step of a histogram, as a share of the value."""


def over_repeats(check: Check, whole: Figure, each: Sequence[Figure]) -> Figure:
    """Return the figure of all repeats together, with the interval over `each` of them where there are enough.

    A share that is the same in all of them, such as no failure at all, keeps its own: how it varies is not known.
    """
    values = [figure.value for figure in each if figure.value is not None]
    enough = FEWEST <= len(values) == len(each) and check.function in ESTIMATES
    if whole.value is None or not enough or (check.function == "fraction" and len(set(values)) == 1):
        return whole
    step = DIGITS * whole.value if check.function == "quantile" else 0.0
    found = over_runs([values], step, proportional=False)
    if found is None:
        return whole
    low, high = max(0.0, min(found[0].low, whole.value)), max(found[0].high, whole.value)
    return replace(whole, interval=Interval(low, min(1.0, high) if check.function == "fraction" else high, LEVEL))
