"""What the page reports on faults: one row for each load that one happened to."""

from __future__ import annotations

from dataclasses import dataclass

from pileup.builtin.reports.html import text
from pileup.builtin.reports.html.text import ShownFigure
from pileup.plugin.results import NOT_PASSED, FaultResult, RunResults
from pileup.plugin.units import format_count

MOST = 500


@dataclass(frozen=True, slots=True)
class Row:
    """One fault and one load."""

    name: str
    says: str
    test: str
    times: str
    never: str
    """How often nothing passed any more; empty when that never happened."""
    recovery: ShownFigure
    jobs_again: ShownFigure
    counts: list[ShownFigure]
    jobs_lost: ShownFigure
    lost_share: ShownFigure
    tone: str


@dataclass(frozen=True, slots=True)
class FaultTable:
    """The table: outcomes that there are, and its rows."""

    words: list[str]
    rows: list[Row]


def fault_table(results: RunResults) -> FaultTable:
    """Return the table of faults."""
    found = results.faults[:MOST]
    there = [word for word in NOT_PASSED if any(getattr(each, word).value for each in found)]
    return FaultTable(there, [_row(each, there) for each in found])


def _row(each: FaultResult, there: list[str]) -> Row:
    bad = each.never or (each.jobs_lost.value or 0) > 0
    felt = any(getattr(each, word).value for word in NOT_PASSED)
    return Row(
        each.fault,
        each.says,
        f"{each.test} at {each.point}" if each.point else each.test,
        format_count(each.times),
        f"never, {each.never} of {each.times} times" if each.never else "",
        text.show(each.recovery),
        text.show(each.jobs_again),
        [text.show(getattr(each, word)) for word in there],
        text.show(each.jobs_lost),
        text.show(each.lost_share),
        "bad" if bad else "warn" if felt else "good",
    )
