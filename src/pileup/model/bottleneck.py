"""The bottleneck of each load of a run, for screens and reports: a row for each case."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LimitedBy(StrEnum):
    """What limited a load."""

    PILEUP = "pileup"
    """pileup was the bottleneck: the numbers do not describe the system."""
    SYSTEM = "system"
    """It did less than requested, or gave wrong answers."""
    LOAD = "offered load"
    """Everything that was requested was done: the system may be able to do more."""
    CLIENTS = "clients"
    """All clients waited for the system all the time: more clients may increase the throughput."""
    HELD = "held quantity"
    """The load followed a quantity that it holds."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class BottleneckRow:
    """What limited one load."""

    case: str
    by: LimitedBy
    evidence: str
    """The evidence, one or several sentences without the last full stop."""
    advice: str
    """What to do to learn more, or to get a result at all; empty if there is nothing to do."""
