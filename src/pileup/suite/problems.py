"""Collects every problem of a suite with its position, so that all of them are reported at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

from pileup.model.errors import Place, Problem, SuiteError
from pileup.model.nearest import nearest
from pileup.model.problem_codes import ProblemCode

MOST = 200
"""Most problems reported of one suite; a file with more of them is not a suite."""


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
    """The problems found so far in one suite; `code` is that of those that say no other."""

    def __init__(self, source: str, code: ProblemCode = ProblemCode.WRONG_VALUE) -> None:
        self._source = source
        self._code = code
        self._found: dict[tuple[Position, str], Problem] = {}
        self._spoiled: set[Position] = set()
        self._incomplete: set[Position] = set()
        self.lines: Callable[[], Callable[[int], str]] = lambda: lambda line: ""
        """Gives what gives a line by its number, as it may be shown."""

    def of(self, code: ProblemCode) -> Problems:
        """Return the same collection for problems of another kind."""
        other = Problems(self._source, code)
        other._found, other._spoiled, other._incomplete = self._found, self._spoiled, self._incomplete
        return other

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(
        self, at: Position, what: str, expected: str = "", hint: str = "", *, code: ProblemCode | None = None
    ) -> None:
        """Keep one problem; the same one twice counts once. Raises TooManyProblemsError at the last that is kept."""
        if at in self._spoiled:
            return
        what, expected, hint = (_one_line(part) for part in (what, expected, hint))
        place = None if at.origin else Place(self._source, at.line, at.column)
        problem = Problem(at.show(self._source), what, expected, hint, code or self._code, place)
        self._found.setdefault((at, what), problem)
        if len(self._found) >= MOST:
            raise TooManyProblemsError

    def unknown(self, at: Position, what: str, name: str, known: Iterable[str], otherwise: str = "") -> None:
        """Keep a problem: there is no `what` of that name; the nearest ones are expected."""
        expected = near(name, known, otherwise)
        self.add(at, f"there is no {what} {shown(name)}", expected, code=ProblemCode.UNKNOWN_NAME)

    def spoil(self, at: Position) -> None:
        """Take no more problems there: they would follow from those that are reported."""
        self._spoiled.add(at)

    def incomplete(self, at: Position) -> None:
        """Note that the mapping there lacks a word that could not be read."""
        self._incomplete.add(at)

    def is_incomplete(self, at: Position) -> bool:
        """Whether the mapping there lacks one: what a rule over its words says may follow from that."""
        return at in self._incomplete

    def error(self) -> SuiteError:
        """Return them all in the order of the file, those of `--set` last."""
        line_of = self.lines() if self._found else str
        problems = [_with_source(self._found[key], line_of) for key in sorted(self._found)]
        if len(problems) >= MOST:
            told = f"more than {MOST - 1} problems"
            problems.append(Problem(self._source, told, "a suite", "the search ended here", ProblemCode.TOO_LARGE))
        return SuiteError(tuple(problems))


def _with_source(problem: Problem, line_of: Callable[[int], str]) -> Problem:
    place = problem.place
    return problem if place is None else replace(problem, place=replace(place, source=line_of(place.line)))


def _one_line(text: str) -> str:
    """Return a text without line breaks: exceptions of plug-ins may have some."""
    return " ".join(line.strip() for line in text.splitlines()) if len(text.splitlines()) > 1 else text.rstrip("\n")


def near(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return what was expected in the place of `word`: the nearest names known, else all when few, else `otherwise`."""
    names = list(dict.fromkeys(name for name in known if name))
    close = nearest(word, names)
    if close:
        return " or ".join(repr(name) for name in close)
    if otherwise or not names:
        return otherwise
    return "one of " + ", ".join(sorted(names)) if len(names) > 1 else repr(names[0])


def shown(text: str) -> str:
    """Return a text as it is quoted in messages, cut when long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def parts(message: str) -> tuple[str, str]:
    """Split `what; expected this` as errors of the model are written."""
    what, _, expected = message.partition("; expected ")
    return what, expected
