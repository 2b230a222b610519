"""Whether a comparison of runs passes its gates: a change counts once it is shown, and is as large as a gate says."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from pileup.model.contrast import BETTER, NO_ANSWER, WORSE, Contrast, RunComparison
from pileup.model.contrast_words import brief_words
from pileup.model.gate import WORSE as ANY_WORSE
from pileup.model.gate import Gate, GateResult

COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


def judge(found: RunComparison, gates: Sequence[Gate]) -> tuple[GateResult, ...]:
    """Return what a comparison says of each gate. Raises ValueError for one that is about no metric of it."""
    return tuple(_judged(gate, found) for gate in gates)


def _judged(gate: Gate, found: RunComparison) -> GateResult:
    about = [each for against in found.against for each in against.contrasts if _is_about(gate, each)]
    if not about:
        raise ValueError(f"{gate.text!r} is about no metric that both sides have")
    told = [(each, _holds(gate, each, found.smallest)) for each in about]
    by = tuple(brief_words(each) for each, holds in told if holds)
    known = any(holds is not None for _, holds in told)
    return GateResult(gate.text, bool(by) if known else None, by)


def _is_about(gate: Gate, found: Contrast) -> bool:
    if gate.metric not in (ANY_WORSE, found.metric.replace(" ", "_")):
        return False
    return not gate.test or (gate.test, gate.operation) == (found.test, found.operation)


def _holds(gate: Gate, found: Contrast, smallest: float) -> bool | None:
    """Return whether a gate holds for a metric; None where that cannot be said."""
    share = smallest if gate.share is None else gate.share
    change = _change(found)
    if change is None:
        return None
    if gate.metric == ANY_WORSE and found.higher_is_better:
        change = -change
    if found.verdict == NO_ANSWER:  # a bound from below: the change is at least this
        return True if gate.comparison in (">", ">=") and change > share else None
    if found.verdict not in (BETTER, WORSE):
        return False
    return COMPARISONS[gate.comparison](round(change, 12), round(share, 12))


def _change(found: Contrast) -> float | None:
    """Return the change as a fraction of the baseline; of a share the plain difference."""
    if found.verdict == NO_ANSWER:
        before, bound = found.baseline.value, found.candidate.above
        return bound / before - 1 if before and bound is not None else None
    if found.p is None:
        return None
    if found.dimension == "fraction" or found.relative.value is None:
        return found.difference.value if found.dimension == "fraction" else None
    return found.relative.value
