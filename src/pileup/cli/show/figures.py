"""Cases and their figures on the screen; the numbers of a column have one unit, which its head names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from math import isfinite

from pileup.cli.show.layout import Column, Grid
from pileup.model.figures import Counts, Figure
from pileup.model.record import MISSED, NOT_PASSED
from pileup.model.results import CaseResult, OperationResult
from pileup.model.units import common_unit, counted, format_count, format_fraction, format_under

LARGE = 0.01
"""Share that did not pass from which on the figures of what passed are shown apart."""
SHARES = (0.5, 0.9, 0.99)
TITLES = ("Rate", "Mean", "p50", "p90", "p99", "Throughput")
DIMENSIONS = ("rate", "time", "time", "time", "time", "bandwidth")
POPULATION = "Response times from the intended start, of all that was due"
NOTHING = "-"
Row = tuple[str, list[Figure | None]]


def cases(found: Iterable[CaseResult], more: int, together: Iterable[CaseResult]) -> Grid:
    """Return the table of cases; those of `together` are added up test by test, `more` are only counted."""
    from pileup.cli.marks import marked, worded

    grid = Grid((Column(""), Column("Case", "fold"), Column("Load", "fold"), Column("Outcome"),
                 Column("Passed", "right"), Column("Not passed", "fold")))  # fmt: skip
    for case in found:
        counts = case.iterations.counts if case.iterations else Counts()
        outcome = str(case.outcome)
        grid.add(marked(outcome), case.name, case.load, worded(outcome), format_count(counts.passed), _wrong(counts))
    for name, counts in _summary(together):
        told = (format_count(counts.passed), _wrong(counts))
        grid.add(marked("passed"), name, "each point and repeat", worded("passed"), *told)
    if more:
        grid.notes.append(f"and {format_count(more)} more: see the report")
    return grid


def _wrong(counts: Counts) -> str:
    names = [name for name in (*NOT_PASSED, MISSED) if getattr(counts, name)]
    return ", ".join(f"{format_count(getattr(counts, name))} {name}" for name in names) or "-"


def _summary(found: Iterable[CaseResult]) -> Iterable[tuple[str, Counts]]:
    """Yield a line for each test: its name with the number of its cases, and what they add up to."""
    tests: dict[str, list[Counts]] = {}
    for case in found:
        tests.setdefault(case.test, []).append(case.iterations.counts if case.iterations else Counts())
    names = [field.name for field in fields(Counts)]
    for test, counts in tests.items():
        added = {name: sum(getattr(each, name) for each in counts) for name in names}
        yield f"{test}, {counted(len(counts), 'case')}", Counts(**added)


def times(found: Iterable[CaseResult]) -> Grid:
    """Return the table of rates, response times and throughput: a row for each operation."""
    rows = [row for case in found for operation in case.operations for row in _rows(case, operation)]
    rows = [row for row in rows if any(cell(figure) != NOTHING for figure in row[1])]
    units = _units(rows)
    columns = [Column(title, "right", unit) for title, unit in zip(TITLES, units, strict=True)]
    grid = Grid((Column("Case", "fold"), *columns), POPULATION)
    for name, figures in rows:
        grid.add(name, *(cell(figure, unit) for figure, unit in zip(figures, units, strict=True)))
    return grid


def _units(rows: Sequence[Row]) -> list[str]:
    """Return the unit of each column; all times have the same where they can."""
    columns = [[row[1][place] for row in rows] for place in range(len(TITLES))]
    alike = common_unit((value for each in columns[1:5] for value in values(each)), "time")
    units = [common_unit(values(each), name) for each, name in zip(columns, DIMENSIONS, strict=True)]
    return [alike if alike and name == "time" else unit for unit, name in zip(units, DIMENSIONS, strict=True)]


def values(figures: Iterable[Figure | None]) -> list[float]:
    """Return the numbers that figures show."""
    ends = (end for each in figures if each for end in (each.value, each.above))
    return [end for end in ends if end is not None and isfinite(end)]


def _rows(case: CaseResult, found: OperationResult) -> Iterable[Row]:
    few = (found.not_passed.value or 0.0) <= LARGE
    mean = Figure(found.response.mean if found.response and few else None, "time")
    # one iteration alone has no rate worth a word; of those that were due before some may have ended now
    rate = found.rate if found.counts.ended > 1 or found.rate.n > 1 else None
    name = case.name if found.iteration else f"{'↳' if found.detached else ' '} {found.operation}"
    quantiles = [found.quantiles.get(share) for share in SHARES]
    yield name, [rate, mean, *quantiles, found.throughput if found.bytes else None]
    if found.counts.passed and not few:
        passed, share = found.response, format_fraction(1 - (found.not_passed.value or 0.0))
        alone = [passed.quantiles.get(each) if passed else None for each in SHARES]
        yield f"  of the {share} that passed", [None, Figure(passed.mean if passed else None, "time"), *alone, None]


def cell(figure: Figure | None, unit: str = "") -> str:
    """Return a figure in a column of a unit; why it has no value; a dash for none."""
    from pileup.model.figure_words import unanswered

    if figure is None:
        return NOTHING
    if figure.above is not None:
        known = isfinite(figure.above)
        return (
            f"> {format_under(figure.above, figure.dimension, unit)}" if known else unanswered(replace(figure, note=""))
        )
    if figure.value is None:
        return figure.note or NOTHING
    return format_under(figure.value, figure.dimension, unit) if isfinite(figure.value) else "no answer"
