"""Tests that must give equal answers, on the screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pileup.model.results import Equivalence

if TYPE_CHECKING:
    from rich.table import Table

Row = tuple[str, str, str]


def table(found: Sequence[Equivalence], colours: dict[str, str]) -> Table:
    """Return a table of the groups: verdict, and how long each test takes as a multiple of the first of its group."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    made = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold", show_edge=False)
    for title in ("Equal answers", "Point", "Time / the first's", "Verdict"):
        made.add_column(title, justify="right" if title.startswith("Time") else "left", overflow="fold")
    for each in found:
        for place, row in enumerate(_rows(each)):
            verdict = Text("" if place else each.verdict, colours.get(each.verdict, ""))
            made.add_row(*map(Text, row), verdict)
    return made


def _rows(each: Equivalence) -> Iterator[Row]:
    from pileup.stats import words

    yield ", ".join(each.tests), "", ""
    for one in each.ratios:
        yield f"  {one.test}", one.point, words(one.figure)
