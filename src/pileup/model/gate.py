"""Gates: what of a comparison makes `pileup compare --fail-if` fail, such as `p99 > 5 %` or `worse(read) > 10 %`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pileup.model.units import parse as quantity

WORSE = "worse"
"""Any metric, in its bad direction."""
METRICS = ("rate", "throughput", "mean", "p50", "p90", "p99", "not_passed", "found")
"""Words of a gate; `not_passed` is the metric "not passed"."""
EXAMPLE = "worse, p99 > 5 %, rate(read) < -5 %"
_GATE = re.compile(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*(?:(>=|<=|>|<)\s*(\S.*?))?\s*\Z")


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition on the change of metrics."""

    text: str
    """As written."""
    metric: str
    """One of METRICS, or WORSE."""
    test: str
    """Empty: any."""
    operation: str
    """Empty: where a test is named its iterations, else any."""
    comparison: str
    share: float | None
    """What the change is compared with, as a fraction; None: the smallest change that matters."""


def parse(text: str) -> Gate:
    """Read a gate. Raises ValueError that says what is wrong with it."""
    found = _GATE.match(text)
    if found is None:
        raise ValueError(f"{text!r} is not a condition on a change")
    metric, selector, comparison, value = found.groups()
    if metric not in (*METRICS, WORSE):
        raise ValueError(f"{text!r}: there is no metric {metric!r}; known are {', '.join(METRICS)}, and {WORSE}")
    if comparison is None and metric != WORSE:
        raise ValueError(f"{text!r} does not say which change is too large")
    test, _, operation = (selector or "").strip().partition(".")
    share = None if value is None else float(quantity(value, "fraction"))
    return Gate(text.strip(), metric, test, operation, comparison or ">=", share)


@dataclass(frozen=True, slots=True)
class GateResult:
    """What a comparison says of a gate."""

    gate: str
    """As written."""
    holds: bool | None
    """None: it cannot be said of any metric that it is about."""
    by: tuple[str, ...]
    """Where it holds: `read p99 +23.2 %`."""
