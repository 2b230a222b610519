"""Criteria on the screen: first what is not met, each with its reason; then the others, a row each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pileup.cli.show.layout import Column, Grid
from pileup.model.figure_words import words
from pileup.model.results import CriterionResult
from pileup.model.verdict import WORST, Verdict

if TYPE_CHECKING:
    from rich.text import Text

FULL = "full"


def unmet(criteria: Iterable[CriterionResult]) -> list[CriterionResult]:
    """Return what is not met or unknown, the worst first."""
    found = [each for each in criteria if not each.verdict.met and each.verdict is not Verdict.NOT_COVERED]
    return sorted(found, key=lambda each: WORST.index(each.verdict))


def line(each: CriterionResult, reasons: bool = False) -> Text:
    """Return a criterion in a line: `✗ C2: Few fail: 0.47 % (0.2-0.7 %), wanted < 0.1 %; not met`."""
    from rich.text import Text

    from pileup.cli.marks import style_of, styled
    from pileup.model.marks import mark

    wanted = f", wanted {each.threshold}" if each.threshold else ""
    shown = reasons or each.verdict is Verdict.UNKNOWN
    reason = f" ({each.reason})" if shown and each.reason else ""
    needed = f"; to show it: {each.needed}" if reasons and each.needed else ""
    head = styled(f"{mark(each.verdict).sign} {each.id}: ", style_of(each.verdict))
    return head + Text(f"{each.says}: {words(each.figure)}{wanted}; {each.verdict}{reason}{needed}")


def table(criteria: Sequence[CriterionResult]) -> Grid:
    """Return the table of criteria, those that are met without being shown first."""
    from pileup.cli.marks import marked, worded

    partly = any(each.coverage != FULL for each in criteria)
    covers = (Column("Covers"),) if partly else ()
    grid = Grid((Column(""), Column("Criterion"), Column("Says", "fold"), *covers, Column("Figure", "fold"),
                 Column("Wanted"), Column("Verdict")))  # fmt: skip
    for each in sorted(criteria, key=lambda found: WORST.index(found.verdict)):
        covered = (each.coverage,) if partly else ()
        grid.add(marked(each.verdict), each.id, _said(each), *covered, words(each.figure), each.threshold,
                 worded(each.verdict), line=line(each, reasons=True))  # fmt: skip
    return grid


def _said(each: CriterionResult) -> str:
    needed = f"to show it: {each.needed}" if each.needed else ""
    told = "; ".join(text for text in (each.remark, needed) if text)
    return f"{each.says} ({told})" if told else each.says
