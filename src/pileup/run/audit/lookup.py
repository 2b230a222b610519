"""Looks claims up on a target, page by page: the fate of each goes into the record, only counts are kept in memory."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from pileup._core._native import now
from pileup.model.record import ClaimRow, FindingRow
from pileup.model.units import counted
from pileup.plugin.batch import BatchTarget, Claim, Fate, Finding, JobState
from pileup.plugin.verdict import verdict_on
from pileup.record import RunFolder

PAUSE = 1.0
"""Seconds between two attempts at a page that was not answered."""
DOUBTED = frozenset({Fate.LOST, Fate.REUSED, Fate.NEVER})
"""Fates that are looked up a second time: an accounting may be late, and so may a submission without an answer."""
MOST_DOUBTED = 50_000
"""Findings that wait in memory for the second look; more are taken as they are."""
Tally = dict[tuple[str, int], Counter[str]]
"""(test, case) -> how many have each fate; `GHOSTS` those without an id that were found; `ENDED` how they ended."""
STOPPED = "it was stopped"
GHOSTS = "ghosts"
ENDED = {JobState.COMPLETED: "completed", JobState.FAILED: "failed"}
"""Final states that are counted in addition to fates: a cancelled job says nothing about the system."""


@dataclass(frozen=True, slots=True)
class AuditLimits:
    """How long an audit may take, in seconds."""

    whole: float
    """All of it."""
    patience: float
    """How long a page is requested again while no answer comes."""
    settle: float
    """Pause before claims that were not found are looked up a second time."""


class Unaudited(Exception):
    """An audit could not be made, or not to its end; the message says why."""


@dataclass
class Lookup:
    """One audit of one target. `over` says that it should end now."""

    target: BatchTarget
    folder: RunFolder
    number: int
    """Number of the audit in run.json."""
    bounds: AuditLimits
    over: Callable[[], bool]
    tally: Tally = field(default_factory=dict)
    looked: int = 0
    """Claims whose fate is known."""
    _doubted: list[ClaimRow] = field(default_factory=list)
    _end: float = 0.0

    def look_up(self, claims: Iterable[ClaimRow]) -> str:
        """Look claims up until none is left; return why that was not possible, empty when it was.

        What was found until then is in the record in any case. Raises RecordError when the disk refuses.
        """
        self._end = time.monotonic() + self.bounds.whole
        problem = ""
        try:
            for page in _pages(claims, self.target.at_once):
                self._keep(page, self._ask(page), doubting=True)
            if self._doubted:
                self._wait(self.bounds.settle)
        except Unaudited as reason:
            problem = str(reason)
        return self._settle(problem)

    def _settle(self, problem: str) -> str:
        """Look up again what was not found; if that is not possible it stays open, and is not counted."""
        doubted, self._doubted = self._doubted, []
        try:
            for page in _pages(doubted, self.target.at_once):
                if not problem:
                    self._keep(page, self._ask(page), doubting=False)
        except Unaudited as reason:
            problem = str(reason)
        return problem

    def _ask(self, page: list[ClaimRow]) -> list[Finding]:
        """Ask the target; ask again while no answer comes. Raises Unaudited."""
        claims = [Claim(row.name, row.id) for row in page]
        patience = min(self._end, time.monotonic() + self.bounds.patience)
        while True:
            self._check()
            try:
                found = self.target.audit(claims)
            except Exception as problem:  # a target plug-in may raise anything
                told = verdict_on(problem)[1]
            else:
                self._check()  # it may have ended too late
                if len(found) == len(page):
                    return found
                told = f"the audit of {counted(len(page), 'submission')} gave {counted(len(found), 'finding')}"
            if time.monotonic() >= patience:
                raise Unaudited(told)
            self._wait(PAUSE)

    def _check(self) -> None:
        if self.over():
            raise Unaudited(STOPPED)
        if time.monotonic() >= self._end:
            raise Unaudited(f"it took longer than {self.bounds.whole:g} s")

    def _wait(self, seconds: float) -> None:
        """Let time go by. Raises Unaudited when the audit should end."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._check()
            threading.Event().wait(min(left, 0.1))

    def _keep(self, page: list[ClaimRow], found: list[Finding], doubting: bool) -> None:
        rows = []
        for claim, finding in zip(page, found, strict=True):
            if doubting and finding.fate in DOUBTED and len(self._doubted) < MOST_DOUBTED:
                self._doubted.append(claim)
                continue
            rows.append(row_of(self.number, claim, finding))
            counts = self.tally.setdefault((claim.test, claim.case), Counter())
            counts[str(finding.fate)] += 1
            counts[GHOSTS] += is_ghost(claim.id, str(finding.fate))
            if finding.jobs and finding.jobs[-1].state in ENDED:
                counts[ENDED[finding.jobs[-1].state]] += 1
        self.folder.append_findings(rows)
        self.looked += len(rows)


def is_ghost(id_: str, fate: str) -> bool:
    """Whether a claim without an answer was found."""
    return not id_ and fate not in (Fate.NEVER, Fate.UNKNOWN)


def row_of(number: int, claim: ClaimRow, finding: Finding) -> FindingRow:
    """Return a finding as the record keeps it."""
    jobs = finding.jobs
    if not jobs:
        return FindingRow(number, now(), claim, str(finding.fate))
    last = jobs[-1]
    said = (str(last.state), last.id, last.reason, last.submitted, last.started, last.ended)
    return FindingRow(number, now(), claim, str(finding.fate), len(jobs), *said)


def _pages(claims: Iterable[ClaimRow], size: int) -> Iterator[list[ClaimRow]]:
    source = iter(claims)
    while page := list(islice(source, size)):
        yield page
