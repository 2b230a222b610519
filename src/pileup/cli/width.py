"""How many columns there are for what is printed."""

from __future__ import annotations

import shutil

PIPED, NARROWEST = 120, 40
"""Columns of what goes into a pipe where $COLUMNS does not say how many; the fewest that are used."""


def columns() -> int:
    """Return the width of what is printed: $COLUMNS, else that of the terminal, else PIPED."""
    return max(NARROWEST, shutil.get_terminal_size((PIPED, 24)).columns)
