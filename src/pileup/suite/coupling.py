"""Axes of a scan that are varied together: rows of `together` become axes of their own, and a group of names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pileup.model.suite import TOGETHER
from pileup.suite.formats.tree import Mapping, Node, Sequence, kind_of
from pileup.suite.problems import Position, Problems, near, shown

ROWS = "rows, e.g. [{n: 1, size: 1 GiB}, {n: 2, size: 2 GiB}]"
Groups = tuple[tuple[str, ...], ...]
"""Names of the axes that are varied together, group by group."""


@dataclass(frozen=True, slots=True)
class _Column:
    """The values of one parameter in the rows of a group."""

    name: str
    at: Position
    values: Sequence


def couple(tree: Mapping, problems: Problems) -> Groups:
    """Put an axis for each parameter in the place of `together`, with a value for each row; return the groups.

    What is wrong with a row is a problem; the rows that are right are kept.
    """
    scan = tree.entries.get("scan")
    if not isinstance(scan, Mapping) or TOGETHER not in scan.entries:
        return ()
    found = [list(_columns(rows, problems)) for rows in _lists(scan.entries[TOGETHER], problems)]
    entries, keys = scan.entries, scan.keys
    scan.entries, scan.keys = {}, {}
    for name, node in entries.items():
        if name == TOGETHER:
            for column in (column for group in found for column in group):
                _put(scan, column.name, column.at, column.values, problems)
        else:
            _put(scan, name, keys[name], node, problems)
    return tuple(tuple(column.name for column in group) for group in found if group)


def _put(scan: Mapping, name: str, at: Position, node: Node, problems: Problems) -> None:
    if name in scan.entries:
        problems.add(at, f"a second axis {shown(name)}", "each axis once")
    else:
        scan.put(name, at, node)


def _lists(node: Node, problems: Problems) -> Iterator[list[Mapping]]:
    """Yield the rows of each group."""
    if not isinstance(node, Sequence) or not node.items:
        told = "empty" if isinstance(node, Sequence) else kind_of(node)
        problems.add(node.at, f"`{TOGETHER}` is {told}", ROWS)
        return
    several = any(isinstance(item, Sequence) for item in node.items)
    groups = [item for item in node.items if isinstance(item, Sequence)] if several else [node]
    for item in node.items if several else ():
        if not isinstance(item, Sequence):
            problems.add(item.at, f"{kind_of(item)} beside lists of rows", "a list of rows for each group")
    for group in groups:
        if not group.items:
            problems.add(group.at, "a group without rows", ROWS)
        for row in group.items:
            if not isinstance(row, Mapping) or not row.entries:
                told = "nothing" if isinstance(row, Mapping) else kind_of(row)
                problems.add(row.at, f"a row of `{TOGETHER}` is {told}", "{NAME: VALUE, ...}")
        yield [row for row in group.items if isinstance(row, Mapping) and row.entries]


def _columns(rows: list[Mapping], problems: Problems) -> Iterator[_Column]:
    """Yield what the rows say, parameter by parameter; each row must have those of the first."""
    if not rows:
        return
    names = list(rows[0].entries)
    kept = [row for row in rows if _is_alike(row, names, problems)]
    for name in names:
        values = [row.entries[name] for row in kept]
        yield _Column(name, rows[0].keys[name], Sequence(values, values[0].at))


def _is_alike(row: Mapping, names: list[str], problems: Problems) -> bool:
    strange = [name for name in row.entries if name not in names]
    missing = [name for name in names if name not in row.entries]
    for name in strange:
        expected = near(name, missing, "the parameters of the first row: " + ", ".join(names))
        problems.add(row.keys[name], f"{shown(name)} is not in the first row of `{TOGETHER}`", expected)
    if missing and not strange:
        told = f"the row lacks {', '.join(map(shown, missing))}"
        problems.add(row.at, told, "the parameters of the first row: " + ", ".join(names))
    return not strange and not missing
