"""Verdicts of criteria and of runs."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """What is known of a criterion. "Not shown": the figure decides, but its interval reaches across the threshold."""

    MET = "met"
    MET_NOT_SHOWN = "met, not shown"
    NOT_MET = "not met"
    NOT_MET_NOT_SHOWN = "not met, not shown"
    UNKNOWN = "unknown"
    NOT_COVERED = "not covered"

    @property
    def met(self) -> bool:
        """Whether the figure meets the criterion, shown or not."""
        return self in (Verdict.MET, Verdict.MET_NOT_SHOWN)

    @property
    def missed(self) -> bool:
        """Whether the figure does not meet the criterion, shown or not."""
        return self in (Verdict.NOT_MET, Verdict.NOT_MET_NOT_SHOWN)

    @property
    def shown(self) -> bool:
        """Whether the whole interval of the figure is on one side of the threshold."""
        return self not in (Verdict.MET_NOT_SHOWN, Verdict.NOT_MET_NOT_SHOWN)


WORST = (
    Verdict.NOT_MET,
    Verdict.NOT_MET_NOT_SHOWN,
    Verdict.UNKNOWN,
    Verdict.MET_NOT_SHOWN,
    Verdict.MET,
    Verdict.NOT_COVERED,
)
"""Verdicts by priority: the first one that a point has is the verdict for all."""
ESTIMATE, SHOWN = "estimate", "shown"
"""What a criterion asks for: that the figure meets it, or that its whole interval does."""


class RunVerdict(StrEnum):
    """What is known of a whole run, or of a group of tests that must give equal answers (which is never stopped)."""

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"
    STOPPED = "stopped"
