"""Runs compared with a baseline: the results of `pileup compare`.

Units as in `model/results.py`: durations in nanoseconds, rates per second, sizes in bytes, shares as fractions.
"""

from __future__ import annotations

from dataclasses import dataclass

from pileup.model.figures import Figure

BETTER, WORSE, ALIKE, TOO_FEW = "better", "worse", "no difference shown", "too few"
NO_ANSWER = "no answer"
FOUND = "found"
"""Verdicts of a contrast; the metric that is the highest level of a search."""


@dataclass(frozen=True, slots=True)
class Side:
    """One run, or several runs taken together, on one side of a comparison."""

    name: str
    """The folder's name; of several runs: that of the first, and how many more."""
    runs: tuple[str, ...]
    """Paths of the run folders."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """One metric of one operation, against the baseline."""

    test: str
    point: str
    """Where in the scan, in words; empty without one."""
    operation: str
    """Empty: the iterations."""
    metric: str
    """"rate", "throughput", "mean", "p50", "p90", "p99", "not passed"; "found": the highest level of a search."""
    dimension: str
    higher_is_better: bool
    baseline: Figure
    candidate: Figure
    difference: Figure
    """Candidate less baseline."""
    relative: Figure
    """Ratio of candidate to baseline less one, as a fraction; no value where the baseline may be zero."""
    p: float | None
    """Probability of such a difference by chance; None if an interval is missing."""
    adjusted: float | None
    """The same, adjusted for the number of contrasts in this comparison (Holm)."""
    verdict: str
    """"better", "worse", "no difference shown" (by `adjusted`, at 5 %), "too few", or "no answer".

    With "no answer" so many did not pass that a bound (`Figure.above`) is all that is known of a side.
    """
    matters: bool
    """Whether the difference is shown and at least as large as the smallest that matters."""
    alike: bool
    """Whether the whole interval of the ratio is within the smallest difference that matters."""
    over_runs: bool
    """Whether the interval shows how repeats vary; else how a single case varies within itself."""

    @property
    def name(self) -> str:
        """What is compared, in words: `copy[se.threads=4]`, with `, open` for an operation."""
        place = f"[{self.point}]" if self.point else ""
        return f"{self.test}{place}" + (f", {self.operation}" if self.operation else "")


Curve = tuple[tuple[float, float], ...]
"""Points (x, y), x growing."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """Two curves of one test, for drawing the new one over that of the baseline."""

    name: str
    """Test with its point."""
    what: str
    """"response times": share of what passed that took so long (ns) or less; "rate": passed per second over seconds."""
    baseline: Curve
    candidate: Curve


@dataclass(frozen=True, slots=True)
class RunDifference:
    """Something about the runs that is not the same on both sides."""

    what: str
    baseline: str
    candidate: str


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """One side compared with the baseline."""

    candidate: Side
    contrasts: tuple[Contrast, ...]
    differs: tuple[RunDifference, ...]
    warnings: tuple[str, ...]
    """Why these may not be comparable, or what their intervals do not include."""
    overlays: tuple[Overlay, ...] = ()
    """Curves of the first case of each test on either side."""

    @property
    def worse(self) -> tuple[Contrast, ...]:
        """Contrasts that are worse by a difference that matters."""
        return tuple(each for each in self.contrasts if each.verdict == WORSE and each.matters)

    @property
    def changed(self) -> tuple[Contrast, ...]:
        """What there is to look at: a change that is shown, no answer on a side, the limit of a search."""
        shown = (BETTER, WORSE, NO_ANSWER)
        return tuple(each for each in self.contrasts if each.verdict in shown or each.metric == FOUND)

    @property
    def better(self) -> tuple[Contrast, ...]:
        """Contrasts that are better by a difference that matters."""
        return tuple(each for each in self.contrasts if each.verdict == BETTER and each.matters)


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Several runs, each compared with the first."""

    baseline: Side
    smallest: float
    """The smallest relative difference that matters, as a fraction."""
    against: tuple[ComparedSide, ...]

    @property
    def verdict(self) -> str:
        """The overall result: "worse" if any side is worse, else "better" or "no difference shown"."""
        if any(each.worse for each in self.against):
            return WORSE
        return BETTER if any(each.better for each in self.against) else ALIKE
