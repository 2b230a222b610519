"""run.json while the run goes on: what has become of each case, saved at once or at most every second."""

from __future__ import annotations

import threading
from typing import Any

from pileup._core._native import now
from pileup.model.errors import RecordError
from pileup.model.not_covered import Uncovered, read
from pileup.model.plan import Case
from pileup.model.record import CaseOutcome
from pileup.record import RunFolder

SAVE = 10**9
"""While cases end, run.json is written at most this often, ns."""
SHARE = 50
"""Writing it takes at most one part in so many of the time."""


class Book:
    """Keeps `info`, the content of run.json, from several threads; the events tell each change at once."""

    def __init__(self, folder: RunFolder, info: dict[str, Any]) -> None:
        self.info = info
        self._folder = folder
        self._lock = threading.RLock()
        self._due = 0
        self._audits = 1 + max((int(told["number"]) for told in info.get("audits") or []), default=-1)
        self.broken = ""
        """Why the record cannot be written any more, by the first attempt that failed; empty while it can."""

    def case(self, case: Case) -> dict[str, Any]:
        """Return the entry of a case."""
        told: dict[str, Any] = self.info["cases"][case.id - 1]
        return told

    def begin(self, case: Case) -> None:
        """Note that a case begins."""
        with self._lock:
            self.case(case).update(started=now(), ended=None, outcome=None, reason="", cut=False, notes=[])
            self._event("case", f"{case.name} begins", case=case.id, state="begins")
            self._save_soon()

    def end(self, case: Case, outcome: CaseOutcome, reason: str) -> None:
        """Note how a case ended, or that it was not run."""
        with self._lock:
            told = self.case(case)
            told.update(outcome=str(outcome), reason=reason, ended=now() if told["started"] else None)
            text = f"{case.name}: {outcome}" + (f", {reason}" if reason else "")
            end = {"outcome": str(outcome), "reason": reason, "cut": told["cut"]}
            self._event("case", text, case=case.id, state="ended", **end)
            self._save_soon()

    def cut(self, case: Case) -> None:
        """Note that a case was stopped before its load was over: another session may do it again."""
        with self._lock:
            self.case(case)["cut"] = True

    def note(self, case: Case, text: str) -> None:
        """Add a note to a case."""
        with self._lock:
            self.case(case)["notes"].append(text)

    def remark(self, case: Case, text: str) -> None:
        """Add a note to the first case of a test that it is true of: repeats and points need not say it again."""
        with self._lock:
            mine = [told for told in self.info["cases"] if told["test"] == case.test.name]
            if not any(text in told.get("notes", ()) for told in mine):
                self.note(case, text)

    def uncovered(self) -> list[Uncovered]:
        """Return what is not covered, as far as is known now."""
        with self._lock:
            return read(self.info.get("not_covered") or ())

    def lacks(self, found: Uncovered) -> None:
        """Note what turns out not to be covered; a part of the suite is noted once."""
        with self._lock:
            known = self.info.setdefault("not_covered", [])
            if not any((each["what"], each["name"]) == (found.what, found.name) for each in known):
                known.append(found.told())
                self._event("not covered", f"{found.what} {found.name}: {found.reason}")
                self._save_soon()

    def next_audit(self) -> int:
        """Return a number that no audit of this run has."""
        with self._lock:
            number, self._audits = self._audits, self._audits + 1
            return number

    def audits(self) -> list[dict[str, Any]]:
        """Return what is told of the audits so far."""
        with self._lock:
            return list(self.info.get("audits") or [])

    def audited(self, told: dict[str, Any]) -> None:
        """Note an audit."""
        with self._lock:
            self.info.setdefault("audits", []).append(told)
            self._save_soon()

    def stopped(self, reason: str) -> None:
        """Note why the run does not go to its end; the first reason stays."""
        with self._lock:
            self.info["stopped"] = self.info["stopped"] or reason

    def fault(self, text: str, trace: str = "") -> None:
        """Note a fault of pileup itself."""
        self.stopped(f"internal: {text}")
        self._event("fault of pileup", text, trace=trace)

    def save(self) -> None:
        """Write run.json now. Raises RecordError when the disk refuses."""
        with self._lock:
            began = now()
            self._folder.save(self.info)
            ended = now()
            self._due = ended + max(SAVE, SHARE * (ended - began))

    def _save_soon(self) -> None:
        if now() >= self._due:
            try:
                self.save()
            except RecordError as problem:
                self.break_off(problem)

    def break_off(self, problem: Exception) -> None:
        """Note that the record cannot be written; the run shall end in order, with what was recorded kept."""
        self.broken = self.broken or str(problem)

    def _event(self, kind: str, text: str, **fields: Any) -> None:
        try:
            self._folder.event(kind, text, **fields)
        except RecordError as problem:
            self.break_off(problem)
