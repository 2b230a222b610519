"""Tests that must give equal answers, on the screen."""

from __future__ import annotations

from collections.abc import Sequence

from pileup.cli.show.layout import Column, Grid
from pileup.model.figure_words import words
from pileup.model.results import Equivalence
from pileup.model.units import format_count


def table(found: Sequence[Equivalence]) -> Grid:
    """Return the table of the groups: verdict; time, calls and bytes of each test as multiples of the first's."""
    from pileup.cli.marks import marked, worded

    grid = Grid((Column(""), Column("Equal answers", "fold"), Column("Point", "fold"),
                 Column("Time / the first's", "right"), Column("Calls", "right"), Column("Bytes", "right"),
                 Column("Verdict")))  # fmt: skip
    for each in found:
        grid.add(marked(each.verdict), ", ".join(each.tests), "", "", "", "", worded(each.verdict))
        for one in each.ratios:
            amounts = ("-" if ratio is None else format_count(ratio) for ratio in (one.calls, one.bytes))
            grid.add("", f"  {one.test}", one.point, words(one.figure), *amounts)
    return grid


def round_trips(found: Sequence[Equivalence]) -> Grid | None:
    """Return the table of the round trips of an iteration of each test; None where the distance is always the same."""
    grid = Grid((Column("Test", "fold"), Column("Point", "fold"), Column("Round trips of an iteration", "right"),
                 Column("Requests", "right"), Column("Far / (near + requests)", "right"),
                 Column("Ratio to the first, likewise", "right")))  # fmt: skip
    known = [one for each in found for one in each.round_trips]
    for one in known:
        shares = (words(figure) if figure else "-" for figure in (one.explained, one.ratio))
        grid.add(
            one.test, one.point, words(one.figure), "-" if one.requests is None else format_count(one.requests), *shares
        )
    return grid if known else None
