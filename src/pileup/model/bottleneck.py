"""What limited each load of a run, as screens and reports take it: a row for each case."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LimitedBy(StrEnum):
    """What limited a load."""

    PILEUP = "pileup"
    """pileup was the bottleneck: the numbers do not describe the system."""
    SYSTEM = "system"
    """It did less than was asked of it, or answered wrong."""
    LOAD = "offered load"
    """All that was asked for was done: the system may do more."""
    CLIENTS = "clients"
    """All clients waited for the system all the time: more of them may get more out of it."""
    HELD = "held quantity"
    """The load followed a quantity that it holds."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class BottleneckRow:
    """What limited one load."""

    case: str
    by: LimitedBy
    evidence: str
    """What shows it, a sentence or several without the last full stop."""
    advice: str
    """What to do to learn more, or to get a result at all; empty where there is nothing to do."""
