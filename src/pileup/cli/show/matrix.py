"""Places against targets on the screen: each cell with what it took, and each target with k x RTT + c."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pileup.cli.show.layout import Column, Grid
from pileup.model.figure_words import words
from pileup.model.matrix import Matrix, MatrixCell
from pileup.model.units import format_count, format_time

MOST = 60
"""Rows of one table."""


def tables(found: Sequence[Matrix]) -> Iterator[Grid]:
    """Yield a table of the cells of each matrix, and one of its targets."""
    for each in found:
        yield _cells(each)
        if each.servers:
            yield _servers(each)


def _cells(matrix: Matrix) -> Grid:
    from pileup.cli.marks import styled

    titles = ("Mean", "Deviation", "Middle half", "Largest", "Outliers", "Expected")
    first = (Column("Place", "fold"), Column("Target", "fold"), Column("Median", "fold"))
    grid = Grid((*first, *(Column(title, "fold") for title in titles), Column("Flags", "fold")),
                f"{matrix.test}: places against targets, repeats together")  # fmt: skip
    shown = sorted(matrix.cells, key=lambda each: not each.flags) if len(matrix.cells) > MOST else matrix.cells
    for each in shown[:MOST]:
        told = (_time(each.mean), _time(each.deviation), _middle_half(each), _time(each.largest))
        flags = styled(", ".join(each.flags), "yellow")
        grid.add(each.place, each.target, words(each.median), *told, format_count(each.outliers),
                 _time(each.expected), flags)  # fmt: skip
    if len(shown) > MOST:
        grid.notes.append(f"and {len(shown) - MOST} more cells: see the report")
    if matrix.remark:
        grid.notes.append(matrix.remark)
    if matrix.model is None:
        grid.notes.append("too few cells to say which is slow by itself")
    return grid


def _servers(matrix: Matrix) -> Grid:
    from pileup.cli.marks import styled

    columns = (Column("Target", "fold"), Column("k, round trips", "fold"), Column("c", "fold"), Column("Flags", "fold"))
    grid = Grid(columns, f"{matrix.test}: k x RTT + c of each target, without cells that are slow by themselves")
    for each in matrix.servers:
        grid.add(
            each.target, words(each.k), words(each.c), styled("slower than its peers" if each.slow else "", "yellow")
        )
    return grid


def _middle_half(each: MatrixCell) -> str:
    return " to ".join(format_time(value) for value in each.quartiles) if each.quartiles else "-"


def _time(value: float | None) -> str:
    return "-" if value is None else format_time(value)
