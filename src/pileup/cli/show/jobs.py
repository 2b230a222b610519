"""Jobs on the screen: how they ended, and what became of the submissions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pileup.cli.show.layout import Column, Grid
from pileup.model.results import RunResults
from pileup.model.submissions import AuditResult, JobsResult
from pileup.model.units import format_count

MOST_REASONS = 5
"""Reasons of each test on the screen; more are in the report."""
MOST_AUDITS = 20
MOST_NAMES = 5


def tables(results: RunResults) -> Iterator[Grid]:
    """Yield the table of jobs and that of audits; nothing for a run without jobs."""
    if results.jobs:
        yield _jobs(results.jobs)
    if results.audits:
        yield _audits(results.audits[-MOST_AUDITS:])


def words(results: RunResults) -> Iterator[tuple[str, str]]:
    """Yield (test, text) of what is bad in the audit at the end, with a few names."""
    for audit in results.audits:
        named: dict[str, list[str]] = {}
        for bad in audit.bad:
            named.setdefault(bad.fate, []).append(bad.name)
        if audit.fault < 0:
            for fate, names in named.items():
                count = audit.ghosts if fate == "ghost" else audit.fates.get(fate, 0)
                more = ", …" if count > MOST_NAMES else ""
                word = f"{fate}s" if fate == "ghost" and count != 1 else fate
                yield audit.test, f"{format_count(count)} {word}: {', '.join(names[:MOST_NAMES])}{more}"


def _jobs(found: Iterable[JobsResult]) -> Grid:
    from pileup.model.submissions import states_of
    from pileup.stats import words as figure_words

    told = list(found)
    states = states_of(told)
    columns = [Column(state, "right") for state in states]
    grid = Grid((Column("Jobs or files of", "fold"), *columns, Column("Failure rate", "fold")))
    for each in told:
        counts = [format_count(each.states.get(state, 0)) for state in states]
        grid.add(each.test, *counts, figure_words(each.failed))
        grid.notes += [
            f"{each.test}: {format_count(reason.count)} x {reason.reason[:300]}: {reason.name}"
            f"{', …' if reason.count > MOST_NAMES else ''}"
            for reason in each.reasons[:MOST_REASONS]
        ]
        more = max(0, len(each.reasons) - MOST_REASONS) + each.more_reasons
        if more > 0:
            grid.notes.append(f"{each.test}: and {format_count(more)} more reasons: see the report")
    return grid


def _audits(found: Iterable[AuditResult]) -> Grid:
    from pileup.stats import words as figure_words

    titles = ("Submissions of", "After", "Looked up", "Became", "Lost")
    grid = Grid(tuple(Column(title, "right" if title == "Looked up" else "fold") for title in titles))
    for each in found:
        looked = format_count(each.looked)
        if each.looked < each.claims:
            looked = f"{looked} of {format_count(each.claims)}"
        fates = [f"{format_count(count)} {fate}" for fate, count in each.fates.items() if count]
        if each.ghosts:
            fates.append(f"{format_count(each.ghosts)} of them ghosts")
        became = "; ".join(part for part in (", ".join(fates), each.problem) if part)
        grid.add(each.test, each.after, looked, became, figure_words(each.lost_share))
    return grid
