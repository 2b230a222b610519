"""What the page reports on jobs: how they ended, and what became of the submissions."""

from __future__ import annotations

from dataclasses import dataclass

from pileup.builtin.reports.html import text
from pileup.builtin.reports.html.text import ShownFigure
from pileup.plugin.results import AuditResult, BadSubmission, RunResults
from pileup.plugin.units import format_count

BAD = ("ran twice", "lost", "id used again")
"""Fates that make a row red."""


@dataclass(frozen=True, slots=True)
class Audited:
    """One line of the table of audits, with the submissions that are named below it."""

    audit: AuditResult
    when: str
    """How long after the begin of the run it was over."""
    looked: str
    share: ShownFigure
    tone: str
    groups: list[tuple[str, int, list[BadSubmission]]]
    """Fate, how many have it, and the first of them."""


def audited(results: RunResults, begin: int) -> list[Audited]:
    """Return the audits in their order; `begin` of the run in ns since the epoch."""
    return [_line(each, begin) for each in results.audits]


def _line(audit: AuditResult, begin: int) -> Audited:
    looked = format_count(audit.looked)
    if audit.looked < audit.claims:
        looked += f" of {format_count(audit.claims)}"
    bad = sum(audit.fates.get(fate, 0) for fate in BAD)
    tone = "bad" if bad else "warn" if audit.problem or audit.ghosts else "good"
    counts = {**audit.fates, "ghost": audit.ghosts}
    fates = dict.fromkeys(each.fate for each in audit.bad)
    groups = [(fate, counts.get(fate, 0), [each for each in audit.bad if each.fate == fate]) for fate in fates]
    return Audited(audit, text.offset(audit.time, begin), looked, text.show(audit.lost_share), tone, groups)
