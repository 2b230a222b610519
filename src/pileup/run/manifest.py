"""run.json during the run: the outcomes of cases, saved at once or at most every second."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pileup._core._native import now
from pileup.model.ending import StoppedBy
from pileup.model.errors import RecordError
from pileup.model.manifest import AuditEntry, CaseEntry, Manifest
from pileup.model.not_covered import Uncovered
from pileup.model.plan import Case
from pileup.model.record import CaseOutcome
from pileup.record import RunFolder

SAVE = 10**9
"""While cases end, run.json is written at most this often, ns."""
SHARE = 50
"""Writing it takes at most this fraction (1/n) of the time."""


class ManifestWriter:
    """Keeps run.json up to date, from several threads; the events have each change at once.

    `clock` says when cases begin and end (ns since the epoch); how often it is written goes by real time.
    """

    def __init__(self, folder: RunFolder, run: Manifest, clock: Callable[[], int] = now) -> None:
        self._clock = clock
        self._run = run
        self._folder = folder
        self._lock = threading.RLock()
        self._due = 0
        self._audits = 1 + max((audit.number for audit in run.audits), default=-1)
        self.broken_by: Exception | None = None
        """Why the record cannot be written any more, by the first attempt that failed; None while it can."""

    @property
    def broken(self) -> str:
        """The same as a sentence; empty while it can."""
        return "" if self.broken_by is None else str(self.broken_by)

    @property
    def run(self) -> Manifest:
        """Run.json as it is now."""
        return self._run

    def update(self, edit: Callable[[Manifest], Manifest]) -> None:
        """Change it; `edit` returns it again."""
        with self._lock:
            self._run = edit(self._run)

    def case(self, case: Case) -> CaseEntry:
        """Return the entry of a case as it is now."""
        return self._run.cases[case.id - 1]

    def change(self, case: Case, edit: Callable[[CaseEntry], CaseEntry]) -> None:
        """Change the entry of a case; `edit` returns it again."""
        with self._lock:
            cases, at = self._run.cases, case.id - 1
            self._run = replace(self._run, cases=(*cases[:at], edit(cases[at]), *cases[at + 1 :]))

    def begin(self, case: Case) -> None:
        """Note that a case begins."""
        with self._lock:
            self.change(case, lambda entry: replace(as_new(entry), started=self._clock()))
            self._event("case", f"{case.name} begins", case=case.id, state="begins")
            self._save_soon()

    def end(self, case: Case, outcome: CaseOutcome, reason: str) -> None:
        """Note how a case ended, or that it was not run."""
        with self._lock:
            before = self.case(case)
            ended = self._clock() if before.started else None
            self.change(case, lambda entry: replace(entry, outcome=outcome, reason=reason, ended=ended))
            text = f"{case.name}: {outcome}" + (f", {reason}" if reason else "")
            end = {"outcome": str(outcome), "reason": reason, "cut": before.cut}
            self._event("case", text, case=case.id, state="ended", **end)
            self._save_soon()

    def cut(self, case: Case) -> None:
        """Note that a case was stopped before its load was over: another session may do it again."""
        self.change(case, lambda entry: replace(entry, cut=True))

    def note(self, case: Case, text: str) -> None:
        """Add a note to a case."""
        self.change(case, lambda entry: replace(entry, notes=(*entry.notes, text)))

    def remark(self, case: Case, text: str) -> None:
        """Add a note to the first case of a test that it is true of: repeats and points need not say it again."""
        with self._lock:
            if not any(text in entry.notes for entry in self._run.cases if entry.test == case.test.name):
                self.note(case, text)

    def uncovered(self) -> tuple[Uncovered, ...]:
        """Return what is not covered, as far as is known now."""
        return self._run.not_covered

    def lacks(self, found: Uncovered) -> None:
        """Note what turns out not to be covered; a part of the suite is noted once."""
        with self._lock:
            known = self._run.not_covered
            if not any((each.what, each.name) == (found.what, found.name) for each in known):
                self._run = replace(self._run, not_covered=(*known, found))
                self._event("not covered", f"{found.what} {found.name}: {found.reason}")
                self._save_soon()

    def next_audit(self) -> int:
        """Return a number that no audit of this run has."""
        with self._lock:
            number, self._audits = self._audits, self._audits + 1
            return number

    def audits(self) -> tuple[AuditEntry, ...]:
        """Return the audits so far."""
        return self._run.audits

    def audited(self, audit: AuditEntry) -> None:
        """Note an audit."""
        with self._lock:
            self._run = replace(self._run, audits=(*self._run.audits, audit))
            self._save_soon()

    def stopped(self, by: StoppedBy | None, reason: str) -> None:
        """Note who stopped the run before its end, None: nobody, and why; the first reason stays."""
        with self._lock:
            if by is not None and not self._run.stopped:
                self._run = replace(self._run, stopped=reason, stopped_by=by)

    def failed(self, text: str, trace: str = "") -> None:
        """Note a failure of pileup itself."""
        self.stopped(StoppedBy.INTERNAL, f"{StoppedBy.INTERNAL}: {text}")
        self._event("internal error of pileup", text, trace=trace)

    def save(self) -> None:
        """Write run.json now. Raises RecordError when the disk refuses."""
        with self._lock:
            began = now()
            self._folder.save(self._run)
            ended = now()
            self._due = ended + max(SAVE, SHARE * (ended - began))

    def _save_soon(self) -> None:
        if now() >= self._due:
            try:
                self.save()
            except RecordError as problem:
                self.break_off(problem)

    def break_off(self, problem: Exception) -> None:
        """Note that the record cannot be written; the run should end in order, with what was recorded kept."""
        self.broken_by = self.broken_by or problem

    def _event(self, kind: str, text: str, **fields: Any) -> None:
        try:
            self._folder.event(kind, text, **fields)
        except RecordError as problem:
            self.break_off(problem)


def as_new(entry: CaseEntry) -> CaseEntry:
    """Return the entry of a case as if it had never begun."""
    return replace(entry, outcome=None, reason="", started=None, ended=None, cut=False, notes=())


def over(run: Manifest, ended: int) -> Manifest:
    """Return run.json of a run whose session has ended now."""
    last = replace(run.sessions[-1], ended=ended)
    return replace(run, ended=ended, sessions=(*run.sessions[:-1], last))
