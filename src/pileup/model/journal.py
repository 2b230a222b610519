"""What is in the journal and in the events of a run folder: one object a line, each with number and time.

Both may come from anybody. Fields of a wrong type count as missing; the journal, which is acted upon, lists them. Times
in ns since the epoch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pileup.model.program import Program, Step
from pileup.model.record import CaseOutcome


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """An intent, or the entry that closes it (`of`). Its fields depend on `what`."""

    number: int
    time: int
    what: str = ""
    state: str = ""
    of: int | None = None
    """Number of the entry that it closes or continues."""
    target: str = ""
    case: str = ""
    test: str = ""
    problem: str = ""
    by: str = ""
    cleanup: str = ""
    remove: Program | None = None
    """What removes the objects."""
    made: tuple[Step, ...] = ()
    """The steps that make them; nothing in entries of older runs."""
    own: bool | None = None
    """Whether they are in the run's own folder; None in entries of older runs."""
    stamp: str = ""
    """The stamp in the names of a load's jobs."""
    folder: str = ""
    marker: str = ""
    levels: tuple[str, ...] = ()
    path: str = ""
    setting: str = ""
    value: str | None = None
    before: str | None = None
    fault: int | None = None
    """Place of a fault in the suite's list."""
    do: str = ""
    """Kind of a fault."""
    process: str = ""
    run: str = ""
    """Of an owner: which run the journal is of, as its tables say it; empty in entries of older runs."""
    host: str = ""
    user: int | None = None
    mark: str = ""
    pid: int = 0
    ticks: int = 0
    boot: str = ""
    namespace: int = 0
    given: frozenset[str] = frozenset()
    """Words that it has, of their types."""
    wrong: frozenset[str] = frozenset()
    """Words that it has, of other types."""


@dataclass(frozen=True, slots=True)
class EventEntry:
    """Something that happened to a run."""

    number: int
    time: int
    kind: str = ""
    text: str = ""
    case: int | str | None = None
    """Of a case that begins or ends its number, else its name."""
    state: str = ""
    outcome: str = ""
    reason: str = ""
    cut: bool = False
    begin: int | None = None
    end: int | None = None
    target: str = ""
    place: int | str | None = None
    monitor: str = ""
    visit: int | None = None
    report: str = ""
    """Of a report that was not written its name, as `pileup report` takes it."""
    file: str = ""
    """Of a report that was not written its file."""
    name: str = ""
    fault: int | None = None
    says: str = ""
    """Of a fault: what was done, to whom and when, in words."""
    lasted: int | None = None
    """Of a fault that was done and is over, ns."""
    gone: int | None = None
    """When all of a server was gone."""
    ahead: int | None = None
    """How far the clock of a server was ahead of ours, ns; the times that the monitor recorded are corrected by it."""
    error: int | None = None
    """By how much that may be wrong, ns."""
    words: Mapping[str, object] = field(default_factory=dict)
    """The whole line, to be copied or exported."""

    @property
    def ended(self) -> CaseOutcome | None:
        """How a case ended; None of an event that is not its end."""
        known = self.kind == "case" and self.state == "ended" and self.outcome in list(CaseOutcome)
        return CaseOutcome(self.outcome) if known else None
