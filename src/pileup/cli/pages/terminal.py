"""Pages on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pileup.cli.pages.page import INLINE, Block, Code, Heading, Page, Table, Words

if TYPE_CHECKING:
    from rich.console import Console


def show(console: Console, page: Page) -> None:
    """Print a page."""
    console.print(f"[bold]{_escaped(page.title)}[/bold]", highlight=False)
    for block in page.blocks:
        console.print()
        _show(console, block)


def _show(console: Console, block: Block) -> None:
    match block:
        case Heading(text):
            console.print(f"[bold]{_escaped(bare(text))}[/bold]", highlight=False)
        case Words(text):
            console.print(_words(text), markup=False, highlight=False)
        case Code(text):
            console.print("\n".join(f"    {line}" for line in text.splitlines()), markup=False, highlight=False)
        case Table(head, rows):
            _show_table(console, head, rows)


def _show_table(console: Console, head: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> None:
    from rich.table import Table as Grid

    grid = Grid(*head)
    for row in rows:
        grid.add_row(*(_escaped(bare(cell)) for cell in row))
    console.print(grid)


def bare(text: str) -> str:
    """Return inline text without its marks: code and links as their words."""
    return INLINE.sub(lambda found: found["code"] or found["words"], text)


def _words(text: str) -> str:
    """Return a docstring with links as their words; code keeps its marks, which set it off."""
    return INLINE.sub(lambda found: found.group() if found["code"] else found["words"], text)


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)
