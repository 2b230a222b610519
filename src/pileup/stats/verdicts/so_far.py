"""Verdicts of criteria during a case, from the figures that a screen has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pileup.model.check import AMOUNTS, COUNTING, Check, resolve
from pileup.model.figures import Figure
from pileup.model.manifest import CriterionEntry
from pileup.model.record import OF_DUE
from pileup.model.verdict import Verdict
from pileup.stats.frames.totals import Measured
from pileup.stats.frames.window import Window
from pileup.stats.verdicts import judge
from pileup.stats.verdicts.resolve import Part, of_test

RESPONSES = ("response", "passed_response")


@dataclass(frozen=True, slots=True)
class SoFar:
    """A criterion, its current figure, and the verdict."""

    id: str
    says: str
    wanted: str
    """The threshold: `< 0.1 %`."""
    figure: Figure
    verdict: Verdict


def so_far(
    criteria: Sequence[CriterionEntry],
    test: str,
    measured: Measured,
    window: Window | None = None,
    timeout: float | None = None,
) -> tuple[SoFar, ...]:
    """Return the criteria on the iterations of a test whose figures are known while it goes on.

    `measured` may be one for a screen, which keeps iterations and response times alone: criteria on single operations,
    service times, labels and monitors are left out, and judged at the end. Intervals are those of independent values.
    `window` is the measured time up to now, where it is known better than by the frames; `timeout` is what an iteration
    may take, ns.
    """
    part = Part(measured, window, timeout=timeout)
    found = []
    for each in criteria:
        check = each.check
        if not isinstance(check, Check) or check.path[0] != test or each.coverage == "none":
            continue
        try:
            selected = resolve(check, {test}, set(), set())
        except ValueError:
            continue  # it is reported at the end
        if (
            selected.kind != "test"
            or selected.operation is not None
            or selected.labels
            or not _kept(check, selected.field)
        ):
            continue
        figure = of_test(check, selected, [part])
        found.append(SoFar(each.id, each.says, check.threshold, figure, judge.against(check, figure)))
    return tuple(found)


def _kept(check: Check, field: str) -> bool:
    """Return whether the figure is available without rows and service times."""
    if check.function in COUNTING:
        return field in (*RESPONSES, *AMOUNTS, *OF_DUE)
    return field in RESPONSES and check.function not in ("first", "last")
