"""Collects every problem of a suite with its position, so that all of them are reported at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import NamedTuple

from pileup.model.errors import Problem, SuiteError

MOST = 200
"""Most problems reported of one suite; a file with more of them is not a suite."""
COMPARED = 200
"""Names that a wrong one is compared with, at most."""


class Position(NamedTuple):
    """Where something is: `rank` 0 is the file, from 1 on the `--set` values, whose words are in `origin`."""

    rank: int
    line: int
    column: int
    origin: str = ""

    def show(self, source: str) -> str:
        """Return `file:line:column`, or `--set NAME`."""
        return self.origin or f"{source}:{self.line}:{self.column}"


START = Position(0, 1, 1)


class TooManyProblemsError(Exception):
    """Ends the search when MOST problems are found; never leaves this package."""


class Problems:
    """The problems found so far in one suite."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._found: dict[tuple[Position, str], Problem] = {}
        self._spoiled: set[Position] = set()

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, at: Position, what: str, expected: str = "", hint: str = "") -> None:
        """Keep one problem; the same one twice counts once. Raises TooManyProblemsError at the last that is kept."""
        if at in self._spoiled:
            return
        told = [_one_line(part) for part in (what, expected, hint)]
        self._found.setdefault((at, what), Problem(at.show(self._source), *told))
        if len(self._found) >= MOST:
            raise TooManyProblemsError

    def spoil(self, at: Position) -> None:
        """Take no more problems there: they would follow from those that are reported."""
        self._spoiled.add(at)

    def error(self) -> SuiteError:
        """Return them all in the order of the file, those of `--set` last."""
        problems = [self._found[key] for key in sorted(self._found)]
        if len(problems) >= MOST:
            problems.append(Problem(self._source, f"more than {MOST - 1} problems", "a suite", "the search ended here"))
        return SuiteError(tuple(problems))


def _one_line(text: str) -> str:
    """Return a text without line breaks: exceptions of plug-ins may have some."""
    return " ".join(line.strip() for line in text.splitlines()) if len(text.splitlines()) > 1 else text.rstrip("\n")


def near(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return what was expected in the place of `word`: the nearest names known, else all when few, else `otherwise`."""
    names = [name for name in known if name]
    close = difflib.get_close_matches(word[:100], _likely(word, names), 3, 0.6)
    if close:
        return " or ".join(repr(name) for name in close)
    if otherwise or not names:
        return otherwise
    return "one of " + ", ".join(sorted(names)) if len(names) > 1 else repr(names[0])


def _likely(word: str, names: list[str]) -> list[str]:
    """Return the names worth comparing: all when few, else some that begin or end alike; comparing takes time."""
    if len(names) <= COMPARED:
        return names
    alike = [
        name for name in names if abs(len(name) - len(word)) <= 3 and (name[:2] == word[:2] or name[-2:] == word[-2:])
    ]
    return alike[:COMPARED]


def shown(text: str) -> str:
    """Return a text as it is quoted in messages, cut when long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def parts(message: str) -> tuple[str, str]:
    """Split `what; expected this` as errors of the model are written."""
    what, _, expected = message.partition("; expected ")
    return what, expected
