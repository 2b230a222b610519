"""The lines of a suite as messages show them: none that holds a secret, and none where that is not known."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from pileup.suite.formats.tree import Mapping
from pileup.suite.secrets import Secrets, by_name, known_secret_options

LONGEST = 500
"""Characters of a line that is shown."""
WORD = re.compile(r"[A-Za-z_][\w-]*")
PASSWORD = re.compile(r"://[^/\s]*:[^/\s]*@")
"""A url with a password."""
SECRETIVE = frozenset({"credentials", "headers", "environment"})
"""Words below which secrets are, whatever they are called."""


def shown_lines(data: bytes, tree: Mapping | None, folder: Path) -> Callable[[int], str]:
    """Return what gives a line of a suite by its number, from 1; empty for one that is not shown.

    `tree` is that of the file with its variables filled in; None when it could not be read: then a file that speaks
    of secrets shows no line at all.
    """
    text = data.decode("utf-8-sig", "replace")
    lines = text.splitlines()
    if tree is None:
        closed = any(word in SECRETIVE or by_name(word) for word in set(WORD.findall(text)))
        hidden = frozenset(range(1, len(lines) + 1)) if closed else frozenset()
    else:
        hidden = Secrets(tree, known_secret_options(tree, folder)).lines_of(text)

    def line_of(number: int) -> str:
        known = 1 <= number <= len(lines) and number not in hidden
        line = lines[number - 1].rstrip() if known else ""
        return line if len(line) <= LONGEST and not PASSWORD.search(line) else ""

    return line_of
