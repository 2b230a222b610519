"""Faults on the screen: what each has done to the loads, over its repeats."""

from __future__ import annotations

from collections.abc import Sequence

from pileup.cli.show.layout import Column, Grid
from pileup.model.figures import Figure
from pileup.model.record import NOT_PASSED
from pileup.model.results import FaultResult
from pileup.model.units import format_count

MOST = 40


def table(found: Sequence[FaultResult]) -> Grid:
    """Return the table of faults: one row for each load that one happened to."""
    from pileup.stats import words

    folded = ("Back after", "Jobs run again", "Did not pass", "Jobs lost")
    columns = (Column("Fault", "fold"), Column("Load of", "fold"), Column("Times", "right"))
    grid = Grid((*columns, *(Column(title, "fold") for title in folded)))
    for each in found[:MOST]:
        name = each.says if each.fault.isdigit() else f"{each.fault}: {each.says}"
        where = f"{each.test} at {each.point}" if each.point else each.test
        again = words(each.jobs_again) if each.jobs_again.n else "-"
        grid.add(name, where, format_count(each.times), _recovery(each), again, _not_passed(each), _lost(each))
    if len(found) > MOST:
        grid.notes.append("and more: see the report")
    return grid


def _recovery(each: FaultResult) -> str:
    from pileup.stats import words

    never = f"never, {each.never} of {each.times} times" if each.times > 1 else "never"
    parts = [words(each.recovery) if each.recovery.n else "", never if each.never else ""]
    return "; ".join(filter(None, parts))


def _not_passed(each: FaultResult) -> str:
    from pileup.stats import amount

    found: list[tuple[str, Figure]] = [(word, getattr(each, word)) for word in NOT_PASSED]
    told = (f"{amount(figure.value, figure.dimension)} {word}" for word, figure in found if figure.value)
    return ", ".join(told) or "-"


def _lost(each: FaultResult) -> str:
    from pileup.stats import words

    if each.jobs_lost.value is None:
        return "-"
    return f"{words(each.jobs_lost)}, {words(each.lost_share)} of {format_count(each.lost_share.n)}"
