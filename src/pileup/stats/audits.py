"""The fates of submissions: counts of the findings of audits, per submitting test, with the share that is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pileup.model.figures import Figure
from pileup.model.manifest import AuditEntry, Manifest
from pileup.model.record import FindingRow
from pileup.model.submissions import AuditResult, BadSubmission
from pileup.model.units import format_count
from pileup.record import RunFolder
from pileup.stats.intervals.confidence import wilson

ONCE, TWICE, CANCELLED, GOING = "ran once", "ran twice", "cancelled", "still there"
LOST, NEVER, REUSED, PURGED = "lost", "never", "id used again", "purged by others"
UNKNOWN = "unknown"
FATES = (ONCE, CANCELLED, GOING, TWICE, PURGED, UNKNOWN, LOST, REUSED, NEVER)
"""Words of plugin.batch.Fate, which this layer does not know."""
BAD = (TWICE, LOST, REUSED)
MOST_NAMED = 20
"""Examples of each bad fate, and of ghosts."""
GHOST = "ghost"
END = -1


@dataclass(slots=True)
class _Counts:
    """Findings of one audit about one test."""

    fates: Counter[str] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)
    named: Counter[str] = field(default_factory=Counter)
    ghosts: int = 0
    acknowledged: int = 0
    bad: list[BadSubmission] = field(default_factory=list)

    def take(self, found: FindingRow) -> None:
        claim = found.claim
        self.fates[found.fate] += 1
        if found.state:
            self.states[found.state] += 1
        ghost = not claim.id and found.fate not in (NEVER, UNKNOWN)
        self.ghosts += ghost
        self.acknowledged += bool(claim.id)
        for word in (found.fate, *([GHOST] if ghost else [])):
            if word in (*BAD, GHOST) and self.named[word] < MOST_NAMED:
                self.named[word] += 1
                self.bad.append(BadSubmission(claim.name, claim.id, word, found.found, found.reason))


def audits(folder: RunFolder, run: Manifest) -> tuple[AuditResult, ...]:
    """Return what each audit of a run found, in their order, and for each test."""
    if not run.audits:
        return ()
    counts = _counted(folder.findings())
    return tuple(
        _result(each, test, claims, counts.get((each.number, each.target, test), _Counts()))
        for each in run.audits
        for test, claims in each.claims.items()
    )


def _counted(findings: Iterable[FindingRow]) -> dict[tuple[int, str, str], _Counts]:
    found: dict[tuple[int, str, str], _Counts] = {}
    for each in findings:
        key = each.audit, each.claim.target, each.claim.test
        if key not in found:
            found[key] = _Counts()
        found[key].take(each)
    return found


def _result(audit: AuditEntry, test: str, claims: int, counts: _Counts) -> AuditResult:
    looked = sum(counts.fates.values())
    return AuditResult(
        number=audit.number,
        target=audit.target,
        test=test,
        fault=audit.fault,
        after=audit.after or "the run",
        load=audit.load,
        time=audit.end,
        claims=claims,
        looked=looked,
        acknowledged=counts.acknowledged,
        fates={word: counts.fates[word] for word in FATES},
        ghosts=counts.ghosts,
        lost_share=_lost(counts),
        states=dict(sorted(counts.states.items())),
        bad=tuple(sorted(counts.bad, key=lambda each: (*BAD, GHOST).index(each.fate))),
        problem=audit.problem,
    )


def _lost(counts: _Counts) -> Figure:
    """Return which share of the acknowledged ones is lost; no value where the fate of some is not known."""
    if unknown := counts.fates[UNKNOWN]:
        return Figure(None, "fraction", None, counts.acknowledged, f"the fate of {format_count(unknown)} is not known")
    return share(counts.fates[LOST] + counts.fates[REUSED], counts.acknowledged)


def share(count: int, n: int) -> Figure:
    """Return a share with its interval (Wilson)."""
    if n == 0:
        return Figure(None, "fraction", None, 0, "nothing measured")
    return Figure(count / n, "fraction", wilson(count, n), n)


def problems(run: Manifest) -> list[str]:
    """Return in words which targets the last audit could not be made of, or not wholly.

    One that a later session has made good counts no more; a merged run has the audits of several runs.
    """
    last = {(audit.target, audit.run): audit for audit in run.audits if audit.fault == END}
    return [
        f"What became of the submissions to {audit.target} is not known: {audit.problem}"
        for audit in last.values()
        if audit.problem
    ]


def remarks(run: Manifest) -> list[str]:
    """Return in words which audits after faults are not complete, and what could not be asked for."""
    return [*_gone(run.audits)] + [
        f"The audit of {audit.target} after {audit.after} is not complete: {audit.problem}"
        for audit in run.audits
        if audit.problem and audit.fault != END
    ]


def unknown(found: Iterable[AuditResult]) -> list[str]:
    """Return in words of how many submissions the audits at the end could not say what became of them."""
    last = {(each.target, each.test): each for each in found if each.fault == END}
    return [
        f"What became of {format_count(count)} of {format_count(each.looked)} submissions of {each.test} is not known: "
        f"{each.target} forgets jobs that have ended, and has no accounting"
        for each in last.values()
        if (count := each.fates[UNKNOWN])
    ]


def _gone(found: Sequence[AuditEntry]) -> Iterator[str]:
    """Yield submissions that no session can look up: their private server ended with the session that crashed."""
    ends: dict[tuple[str, str], list[AuditEntry]] = {}
    for audit in found:
        if audit.fault == END:
            ends.setdefault((audit.target, audit.run), []).append(audit)
    for (target, _), all_ends in ends.items():
        missing = all_ends[-1].gone - sum(audit.looked for audit in all_ends[:-1])
        if missing > 0:
            what = f"{format_count(missing)} submissions to {target} were not looked up"
            yield f"{what}: its private server went with the session that made them"
