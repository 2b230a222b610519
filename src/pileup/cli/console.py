"""A console for rich that shows control characters instead of obeying them (`messages.plain`)."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from pileup.cli.marks import PLAIN, shows_signs
from pileup.cli.messages import plain
from pileup.cli.working import hush


class SafeConsole(Console):
    """A console on which text of others cannot move the cursor; its own colours and cursor stay.

    Where it shows ASCII alone, the signs of pileup are replaced by some of that.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield what is to be written, text made plain."""
        hush()
        signs = shows_signs(self)
        for segment in super().render(renderable, options):
            text = plain(segment.text)
            yield segment if segment.control else Segment(text if signs else text.translate(PLAIN), segment.style)
