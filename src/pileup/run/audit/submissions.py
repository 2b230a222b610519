"""The audit of submissions: asks targets for the fate of each, after every fault and at the end of the run."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from pileup._core._native import now
from pileup.model.journal import JournalEntry
from pileup.model.manifest import AuditEntry
from pileup.model.plan import Plan
from pileup.model.record import ClaimRow, Sample
from pileup.model.submissions import FAILED_SHARE, GHOST_JOBS, JOBS, LOST_SHARE
from pileup.model.units import counted
from pileup.plugin.batch import BatchTarget, Fate
from pileup.record import RunFolder
from pileup.run.audit.lookup import GHOSTS, STOPPED, AuditLimits, Lookup, Tally
from pileup.run.faults.schedule import words_of
from pileup.run.manifest import ManifestWriter
from pileup.run.monitoring.clock import MonitorClock
from pileup.run.recovery.intents import open_intents
from pileup.run.stop import Stop
from pileup.run.targets.opening import Targets

AT_END = AuditLimits(whole=1800, patience=30, settle=2)
AFTER_FAULT = AuditLimits(whole=120, patience=60, settle=2)
SERVED = 1.0
"""Seconds between two beats of the run while it waits for an audit."""
STOPPED_WITHIN = 10.0
"""Seconds that the audit at the end has after the user asked the run to stop."""
END = -1
"""Number of the fault of an audit at the end of the run."""
JOB, DELEGATION, REVOKED = "job", "delegation", "revoked"
ANY = ("jobs_lost", "jobs_twice", "jobs_reused")
"""Samples that are not known where the fate of some is not: it may be this one."""


class Audits:
    """The audits of a run, one at a time. `after_fault` may be called from any thread and returns at once."""

    def __init__(
        self,
        plan: Plan,
        folder: RunFolder,
        targets: Targets,
        monitors: MonitorClock,
        *,
        book: ManifestWriter,
        stop: Stop,
        bounds: tuple[AuditLimits, AuditLimits] = (AFTER_FAULT, AT_END),
    ) -> None:
        self._plan = plan
        self._folder = folder
        self._targets = targets
        self._monitors = monitors
        self._book = book
        self._stop = stop
        self._after_fault, self._at_end = bounds
        self._lock = threading.Lock()
        self._waiting: list[tuple[int, str]] = []
        self._worker: threading.Thread | None = None
        self._problem: Exception | None = None
        self._asked: AuditEntry | None = None
        """The audit under way."""
        self._left_behind = False

    def after_fault(self, number: int, test: str) -> None:
        """Audit in the background once a fault is over: `number` is its place in the suite, `test` had the load."""
        with self._lock:
            self._waiting.append((number, test))
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, name="audit", daemon=True)
                self._worker.start()

    def at_end(self, serve: Callable[[], None]) -> None:
        """Audit everything once the cases are over, and close in the journal what is not left on the targets.

        Audits after faults that still go on come first. `serve` is called meanwhile, about each second. Raises what an
        audit raised: RecordError when the disk refuses.
        """
        self.after_fault(END, "")
        while (worker := self._worker) is not None and not self._left_behind:
            worker.join(SERVED)
            serve()
            if worker.is_alive() and self._hurried():
                self._leave_behind(worker)
        if self._problem is not None:
            raise self._problem
        self._close()

    def _leave_behind(self, worker: threading.Thread) -> None:
        """Wait no longer for a target that does not answer: later answers are ignored."""
        worker.join(SERVED)  # one that is between two pages ends by itself, and says how far it came
        with self._lock:
            self._left_behind = worker.is_alive()
            asked, self._asked = self._asked, None
        if self._left_behind and asked is not None:
            self._note(replace(asked, end=now(), problem=STOPPED))

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting or self._problem:
                    self._worker = None
                    return
                number, test = self._waiting.pop(0)
            try:
                self._audit(number, test)
            except Exception as problem:  # reported by the code that waits for the end
                self._problem = problem

    def _audit(self, fault: int, load: str) -> None:
        """Audit every target that something was submitted to."""
        begin = now()
        everything, mine = self._claimed(begin), self._claimed(begin, mine=True)
        for target, tests in everything.items():
            reachable = mine.get(target, {}) if self._private(target) else tests
            asked = AuditEntry(
                number=self._book.next_audit(),
                target=target,
                fault=fault,
                after="" if fault == END else f"{words_of(self._plan.suite.faults[fault])} in {load}",
                load=load,
                begin=begin,
                claims=reachable,
                gone=sum(tests.values()) - sum(reachable.values()),
            )
            self._sample(fault, self._look(asked))

    def _claimed(self, before: int, mine: bool = False) -> dict[str, dict[str, int]]:
        """Return target -> test -> how many jobs were claimed before a time, by this session only or by all."""
        found: dict[str, dict[str, int]] = {}
        for claim in self._folder.claims(mine=mine):
            if claim.what == JOB and claim.time <= before:
                tests = found.setdefault(claim.target, {})
                tests[claim.test] = tests.get(claim.test, 0) + 1
        return found

    def _private(self, target: str) -> bool:
        """Whether a target ends with the session: nothing of an earlier session exists any more."""
        return self._plan.suite.targets[target].url is None

    def _of(self, target: str, before: int, newest_first: bool) -> Iterator[ClaimRow]:
        for claim in self._folder.claims(newest_first, mine=self._private(target)):
            if claim.target == target and claim.what == JOB and claim.time <= before:
                yield claim

    def _look(self, asked: AuditEntry) -> Tally:
        """Look up all claims of a target, and record that it was done, or why not; return the result.

        An incomplete audit at the end has no result: criteria must not be judged by a part.
        """
        name, last = asked.target, asked.fault == END
        target = self._targets.get(name)
        looked, tally = 0, Tally()
        if isinstance(target, BatchTarget):
            bounds, over = (self._at_end, self._hurried) if last else (self._after_fault, self._stopped)
            self._asked = asked
            lookup = Lookup(target, self._folder, asked.number, bounds, over)
            problem = lookup.look_up(self._of(name, asked.begin, newest_first=not last))
            looked, tally = lookup.looked, lookup.tally
        else:
            problem = self._targets.problem(name) or "this kind of target cannot report it"
        with self._lock:
            self._asked = None
            if self._left_behind:
                return Tally()
        self._note(replace(asked, end=now(), looked=looked, problem=problem))
        return Tally() if problem and last else tally

    def _note(self, audit: AuditEntry) -> None:
        """Write an audit into the record, with the reason if it is not complete."""
        self._book.audited(audit)
        if audit.problem:
            name, when = audit.target, f"after {audit.after}" if audit.after else "at the end"
            self._folder.event("audit", f"audit of {name} {when} is not complete: {audit.problem}", target=name)

    def _hurried(self) -> bool:
        return self._left_behind or self._stop.late(STOPPED_WITHIN)

    def _stopped(self) -> bool:
        return bool(self._stop.haste)

    def _sample(self, fault: int, tally: Tally) -> None:
        """Keep the counts as samples: of the end under the test's name, of a fault under `fault` with labels."""
        moment = now()
        for (test, case), counts in tally.items():
            visit = f"visit={max(0, self._plan.case(case).visit)}"
            labels, name = visit, test
            if fault != END:
                labels, name = f"fault={self._fault_name(fault)},test={test},{visit}", "fault"
            numbers = {metric: counts[fate] for fate, metric in JOBS.items()} | {GHOST_JOBS: counts[GHOSTS]}
            for metric, count in numbers.items():
                if metric in ANY and counts[str(Fate.UNKNOWN)]:
                    continue
                self._monitors.add(name, moment, Sample(metric, count, "jobs", labels))
            for metric, share in ((LOST_SHARE, lost_share(counts)), (FAILED_SHARE, failed_share(counts))):
                if share is not None:
                    self._monitors.add(name, moment, Sample(metric, 100 * share, "%", labels))

    def _fault_name(self, number: int) -> str:
        return self._plan.suite.faults[number].name or str(number + 1)

    def _close(self) -> None:
        """Close the intents of what is not left on the targets; the rest stays open for `pileup clean`."""
        intents = [intent for intent in open_intents(self._folder) if intent.what in ("jobs", "delegations")]
        going = self._going() if intents else {}
        for intent in intents:
            state, told = self._state(intent.what, intent.entry, going)
            self._folder.journal(intent.what, state, of=intent.number, **told)

    def _going(self) -> Counter[tuple[str, str]]:
        """Return (target, name of the case) -> how many of its jobs are still there, by the last audit."""
        last = {audit.target: audit.number for audit in self._book.audits()}
        names = {each.id: each.name for each in self._plan.cases}
        return Counter(
            (found.claim.target, names.get(found.claim.case, ""))
            for found in self._folder.findings()
            if found.fate == Fate.GOING and last.get(found.claim.target) == found.audit
        )

    def _state(
        self, what: str, entry: JournalEntry, going: Mapping[tuple[str, str], int]
    ) -> tuple[str, dict[str, str]]:
        """Return how an intent ends: gone, kept, ended, or left with the reason."""
        target = entry.target
        if self._private(target):
            return "gone", {}
        if entry.cleanup == "never" or (what == "delegations" and not self._revokes(target)):
            return "kept", {}
        jobs = going.get((target, entry.case), 0)
        left = self._left_jobs(target, jobs) if what == "jobs" else self._left_delegations(target)
        return ("left", {"problem": left}) if left else ("ended", {})

    def _left_jobs(self, target: str, going: int) -> str:
        """Return what is left of a case's jobs, empty when nothing is."""
        problem = next((audit.problem for audit in reversed(self._book.audits()) if audit.target == target), "")
        if problem:
            return f"the audit is not complete: {problem}"
        return f"still there: {counted(going, 'job')}" if going else ""

    def _revokes(self, target: str) -> bool:
        """Whether a system takes delegations back; elsewhere they stay until they expire."""
        found = self._targets.get(target)
        return found is None or getattr(type(found), "revoke", None) is not BatchTarget.revoke

    def _left_delegations(self, target: str) -> str:
        alive: set[str] = set()
        for claim in self._folder.claims():
            if claim.target == target and claim.what in (DELEGATION, REVOKED):
                (alive.add if claim.what == DELEGATION else alive.discard)(claim.id)
        return f"still there: {counted(len(alive), 'delegation')}" if alive else ""


def lost_share(counts: Counter[str]) -> float | None:
    """Return which share of the acknowledged submissions is lost; None where none was, or not all are known.

    Acknowledged are all but those without an answer: those that never happened, and ghosts.
    """
    if counts[str(Fate.UNKNOWN)]:
        return None
    acknowledged = sum(counts[fate] for fate in JOBS) - counts[str(Fate.NEVER)] - counts[GHOSTS]
    return (counts[str(Fate.LOST)] + counts[str(Fate.REUSED)]) / acknowledged if acknowledged > 0 else None


def failed_share(counts: Counter[str]) -> float | None:
    """Return which share of the jobs that ended by themselves failed; None when none did."""
    ended = counts["completed"] + counts["failed"]
    return counts["failed"] / ended if ended else None
