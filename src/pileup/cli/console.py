"""A console for rich that shows control characters instead of obeying them (`messages.plain`)."""

from __future__ import annotations

import shutil
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from pileup.cli.messages import plain
from pileup.cli.working import hush

PIPED, NARROWEST = 120, 40
"""Columns of a page that goes into a pipe where $COLUMNS does not say how many; the fewest that are used."""


def columns() -> int:
    """Return the width of what is printed: $COLUMNS, else that of the terminal, else PIPED."""
    return max(NARROWEST, shutil.get_terminal_size((PIPED, 24)).columns)


class SafeConsole(Console):
    """A console on which text of others cannot move the cursor; its own colours and cursor stay."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield what is to be written, text made plain."""
        hush()
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(plain(segment.text), segment.style)
