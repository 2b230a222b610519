"""What happened to a run, and what faults did to its loads."""

from __future__ import annotations

from dataclasses import dataclass

FAULT = "fault"
"""Kind of the events of faults, and the name of their samples in checks."""
CLOCK = "clock"
"""Kind of the events that say how far the clock of a server was off."""
REPORT = "report"
"""Kind of the events of reports that were not written."""
RECOVERY = "recovery"
"""Time from a fault to the first success after it: `TEST.recovery` in checks is that of all faults together."""


@dataclass(frozen=True, slots=True)
class Outage:
    """What a fault has done to the load of a case, until the next fault. Counts of iterations; times in ns."""

    case: str
    failed: int = 0
    refused: int = 0
    ambiguous: int = 0
    unfinished: int = 0
    lost: int = 0
    first: int | None = None
    """From the fault to the end of the first iteration that did not pass; None where all passed."""
    lasted: int = 0
    """From the fault to the end of the last iteration that did not pass."""
    recovery: int | None = None
    """How long the load saw the system as unavailable (see `stats/faults/outages.py`); None if it did not recover."""
    jobs_again: int | None = None
    """From the fault to the first job that began to run once it was undone; None where there was none."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to the run. `begin` and `end` in ns since the epoch, the same for an instant."""

    kind: str
    """"fault", "setting", "cooldown", "place", "server", "generator", "steady", "pause": drawn on charts; others
    listed alone."""
    text: str
    begin: int
    end: int
    about: str = ""
    """The target, place, case or report that it is about; empty if none."""
    outages: tuple[Outage, ...] = ()
    """Of a fault: its effects on the loads in which something did not pass."""
    fault: str = ""
    """Of a fault: its name, or its place in the list of the suite, from 1."""
    says: str = ""
    """Of a fault: what was done, to whom and when, in words: `kill of ce at 10 s of submit`."""
    number: int = -1
    """Of a fault: its place in the list of the suite, from 0."""
    gone: int | None = None
    """Of a fault: when all processes of a server that pileup ended or stopped were gone, ns since the epoch; None where
    pileup cannot know."""
