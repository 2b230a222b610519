"""Tables of the screen that stay legible: as a table where it fits the width, else each row as a block of lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table
    from rich.text import Text

    Cell = str | Text

GAP = 2
"""Spaces between columns."""
LEAST = 16
"""Columns of text are not broken narrower than this."""
INDENT = 2


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its title, "left", "right", or "fold" (left, may be broken), and the unit of its numbers."""

    title: str
    kind: Literal["left", "right", "fold"] = "left"
    unit: str = ""


@dataclass(slots=True)
class Grid:
    """Rows under columns, with a caption before and notes behind; what users wrote is never taken as markup."""

    columns: tuple[Column, ...]
    caption: str = ""
    rows: list[tuple[Text, ...]] = field(default_factory=list)
    lines: list[Text | None] = field(default_factory=list)
    """What is shown of a row where the table does not fit; None: its cells behind their titles."""
    notes: list[str] = field(default_factory=list)
    sections: dict[int, str] = field(default_factory=dict)
    """Number of a row -> what stands on a line of its own before it."""

    def add(self, *cells: Cell, line: Text | None = None) -> None:
        """Add a row; cells that are left out at its end are empty. `line` is it where the table does not fit."""
        from rich.text import Text

        texts = [Text(cell) if isinstance(cell, str) else cell for cell in cells]
        self.lines.append(line)
        self.rows.append((*texts, *(Text("") for _ in range(len(self.columns) - len(texts)))))

    def section(self, name: str) -> None:
        """Put a line of its own before the next row."""
        self.sections[len(self.rows)] = name

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the caption, the rows in whichever form fits, the notes."""
        from rich.text import Text

        if self.caption:
            yield Paragraph(Text(self.caption, "bold"))
        widths = self._widths(options.max_width)
        if widths:
            yield self._table(widths, [], head=True)
        begins = sorted({0, *self.sections, len(self.rows)})
        for begin, end in pairwise(begins):
            if begin in self.sections:
                yield Paragraph(Text(self.sections[begin], "bold"))
            if widths:
                yield self._table(widths, self.rows[begin:end], head=False)
                continue
            for row, line in zip(self.rows[begin:end], self.lines[begin:end], strict=True):
                yield from (Paragraph(line),) if line else self._block(row, options.max_width)
        yield from (Paragraph(Text(note)) for note in self.notes)

    def _widths(self, most: int) -> list[int]:
        """Return the width of each column; nothing where the table cannot be read in so many columns."""
        heads = [max(len(column.title), len(column.unit)) for column in self.columns]
        cells = [max((row[place].cell_len for row in self.rows), default=0) for place in range(len(self.columns))]
        widths = [max(pair) for pair in zip(heads, cells, strict=True)]
        folds = [place for place, column in enumerate(self.columns) if column.kind == "fold"]
        least = {place: max(heads[place], min(cells[place], LEAST)) for place in folds}
        while (over := sum(widths) + GAP * (len(widths) - 1) - most) > 0:
            wide = [place for place in folds if widths[place] > least[place]]
            if not wide:
                return []
            widest = max(wide, key=lambda place: widths[place])
            second = max((widths[place] for place in wide if place != widest), default=0)
            widths[widest] = max(least[widest], min(widths[widest] - 1, max(widths[widest] - over, second)))
        return widths

    def _table(self, widths: list[int], rows: list[tuple[Text, ...]], head: bool) -> Table:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        table = Table(
            box=SIMPLE_HEAD if head else None, pad_edge=False, padding=(0, GAP - 1, 0, 0) if head else (0, GAP, 0, 0),
            header_style="bold", show_edge=False, show_header=head,
        )  # fmt: skip
        units = any(column.unit for column in self.columns)
        for column, width in zip(self.columns, widths, strict=True):
            title = Text(column.title).append(f"\n{column.unit}", "not bold dim") if units else Text(column.title)
            table.add_column(title, justify="right" if column.kind == "right" else "left", width=width, overflow="fold")
        for row in rows:
            table.add_row(*row)
        return table

    def _block(self, row: tuple[Text, ...], width: int) -> Iterator[Paragraph]:
        """Yield a row as its first cells on a line and the others below: `Rate 3,160 /s  p50 2.99 ms`."""
        from rich.text import Text

        first = 1 if self.columns[0].title else 2  # a mark stands before the name
        yield Paragraph(Text(" ").join(cell for cell in row[:first] if cell.plain))
        line = Text("")
        for column, cell in zip(self.columns[first:], row[first:], strict=True):
            if cell.plain in ("", "-"):
                continue
            pair = _pair(column, cell)
            if line.plain and INDENT + line.cell_len + GAP + pair.cell_len > width:
                yield Paragraph(line, INDENT)
                line = Text("")
            line = Text.assemble(line, " " * GAP, pair) if line.plain else pair
        if line.plain:
            yield Paragraph(line, INDENT)


def _pair(column: Column, cell: Text) -> Text:
    """Return a cell behind its title; what is a number has its unit with it."""
    from rich.text import Text

    number = cell.plain.lstrip("> +-~")[:1].isdigit()
    return Text.assemble((f"{column.title} ", "dim"), cell, f" {column.unit}" if column.unit and number else "")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Text whose first line begins at `first` and whose others are indented."""

    text: Text
    first: int = 0
    others: int = INDENT

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield its lines."""
        from rich.text import Text

        indent = max(self.first, self.others)
        if self.first + self.text.cell_len <= options.max_width and "\n" not in self.text.plain:
            yield Text.assemble(" " * self.first, self.text)
            return
        for number, line in enumerate(self.text.wrap(console, max(LEAST, options.max_width - indent))):
            line.rstrip()
            yield Text.assemble(" " * (indent if number else self.first), line)
