"""The verdict of a check for a figure: a pure function of both, as in the table of docs/verdicts.md.

A figure that is an estimate (a rate, a fraction, a mean, a quantile) decides by its value, and shows it where its whole
interval is on the same side of the threshold. What was counted, and the smallest and largest of what was seen, are
facts of the run: they show what they decide. So does a share at the end of its range ("0 %", "100 %"): no interval
could.
"""

from __future__ import annotations

import math

from pileup.model.check import Check
from pileup.model.figures import Figure
from pileup.model.units import format_count
from pileup.model.verdict import Verdict
from pileup.stats.intervals.confidence import Z

ESTIMATES = frozenset({"rate", "fraction", "mean", "quantile", "slope"})
"""Functions whose figures are known by an interval."""
BELOW, ABOVE = ("<", "<="), (">", ">=")
MOST_MORE = 1000
"""Factors above this are not suggested to the user."""


def against(check: Check, figure: Figure) -> Verdict:
    """Return the verdict of a check for a figure; UNKNOWN if it has neither a value nor a bound that decides."""
    if figure.value is None:
        return _censored(check, figure)
    holds = check.holds(figure.value)
    shown = _is_fact(check) or _on_one_side(check, figure, holds)
    if holds:
        return Verdict.MET if shown else Verdict.MET_NOT_SHOWN
    return Verdict.NOT_MET if shown else Verdict.NOT_MET_NOT_SHOWN


def _censored(check: Check, figure: Figure) -> Verdict:
    """Return what is known of a quantile that is only known to be larger than its bound."""
    if figure.above is None:
        return Verdict.UNKNOWN
    # infinite is no answer at all: larger than any time
    beyond = figure.above >= check.value
    if not beyond:
        return Verdict.UNKNOWN
    shown = _is_fact(check) or (figure.interval is not None and figure.interval.low >= check.value)
    if check.comparison in ABOVE or check.comparison == "!=":
        return Verdict.MET if shown else Verdict.MET_NOT_SHOWN
    return Verdict.NOT_MET if shown else Verdict.NOT_MET_NOT_SHOWN


def _is_fact(check: Check) -> bool:
    """Return whether a figure is not an estimate, or the threshold is the end of the range of a share."""
    if check.function not in ESTIMATES or check.comparison in ("==", "!="):
        return True
    if check.function == "fraction":
        ends = {"<=": 0.0, ">": 0.0, ">=": 1.0, "<": 1.0}
        return check.value == ends[check.comparison]
    return False


def _on_one_side(check: Check, figure: Figure, holds: bool) -> bool:
    found = figure.interval
    return found is not None and check.holds(found.low) == holds and check.holds(found.high) == holds


def needed(check: Check, figure: Figure, verdict: Verdict) -> str:
    """Say what would show a verdict that is not shown; empty where nothing can be said, or it is shown."""
    if verdict.shown or figure.value is None:
        return ""
    if check.function == "fraction" and verdict.met and figure.value in (0.0, 1.0):
        return _none_seen(check, figure)
    if figure.interval is None:
        return "more values would: these are too few that are independent for an interval"
    return _narrower(check, figure)


def _none_seen(check: Check, figure: Figure) -> str:
    """Say how many without any (or all) would show a share: Wilson's interval of 0 of n ends at z^2 / (n + z^2)."""
    threshold = check.value if figure.value == 0.0 else 1.0 - check.value
    if threshold <= 0:
        return ""
    found = figure.interval
    end = (found.high if figure.value == 0.0 else 1.0 - found.low) if found is not None else 0.0
    # what comes in bursts counts for fewer: the same relation to what was seen
    alone = Z * Z / (figure.n + Z * Z) if figure.n else 1.0
    bursts = max(1.0, (1 / alone - 1) / (1 / end - 1)) if 0 < end < 1 and alone < 1 else 1.0
    number = math.floor(Z * Z * (1 - threshold) / threshold * bursts) + 1
    what = "0 failures" if figure.value == 0.0 else "all"
    return f"{what} of {format_count(number)} would (there are {format_count(figure.n)})"


def _narrower(check: Check, figure: Figure) -> str:
    found, value = figure.interval, figure.value
    if found is None or value is None:
        return ""
    gap = abs(check.value - value)
    half = found.high - value if check.value >= value else value - found.low
    if gap == 0 or not math.isfinite(half):
        return "the figure is too near to the threshold, or too much of it has no answer, for any number of values"
    times = (half / gap) ** 2
    if times > MOST_MORE:
        return f"more than {MOST_MORE} times as many values would: the figure is very near to the threshold"
    return f"about {max(2, math.ceil(times))} times as many values would (there are {format_count(figure.n)})"
