"""The tables of a run: what columns they have, in which units, and how many rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from pileup.api import html

LONGEST = 10_000
"""Characters of all columns of a table."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What a table holds."""

    columns: dict[str, str]
    """Name -> type in DuckDB's words."""
    units: dict[str, str]
    """Name -> unit, of those that have one."""
    rows: int


class Tables(Mapping[str, Contents]):
    """The names of the tables, each with what it holds, which is looked at when somebody asks for it.

    A notebook, and `print`, show all of them.
    """

    def __init__(self, look: Mapping[str, Callable[[], Contents]]) -> None:
        self._look = look

    def __getitem__(self, name: str) -> Contents:
        return self._look[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._look)

    def __len__(self) -> int:
        return len(self._look)

    def __contains__(self, name: object) -> bool:
        return name in self._look  # that of Mapping would count the rows

    def __repr__(self) -> str:
        width = max(map(len, self))
        return "\n".join(f"{name:<{width}} {rows:>9}  {columns}" for name, rows, columns in self._lines)

    def _repr_html_(self) -> str:
        return html.framed([html.table(("Table", "Rows", "Columns (unit)"), self._lines, longest=LONGEST)])

    @cached_property
    def _lines(self) -> list[tuple[str, str, str]]:
        return [(name, f"{each.rows:,}", _columns(each)) for name, each in self.items()]


def _columns(found: Contents) -> str:
    units = found.units
    return ", ".join(f"{name} ({units[name]})" if name in units else name for name in found.columns)
