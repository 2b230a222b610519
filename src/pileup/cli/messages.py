r"""The only way to stdout and stderr, and how problems are reported: three parts, colour only on a terminal.

Titles, messages and names come from suites, servers and run folders of anybody. Control characters among them could
rewrite what is on the screen, or hide what a command would do: they are shown as `\x1b`, and never obeyed.
"""

from __future__ import annotations

import os
import re
import sys

import click

from pileup.cli.width import NARROWEST, columns
from pileup.cli.working import hush
from pileup.model.errors import Problem, SuiteError, join_parts
from pileup.model.units import counted

GUTTER = 5
"""Columns of the number of a line."""
MARKED = re.compile(r"</?[\w:-]+|\d[\d.]*(?: ?[A-Za-zµ%]+(?:/\w+)?)?|[\w$.-]+")
"""What is marked of a line: a word, a number with its unit, a path."""
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but for tab and line feed; what turns the direction of text; halves of characters."""


def plain(text: str) -> str:
    r"""Return a text with its control characters written out: `\x1b` for an escape."""
    return CONTROL.sub(_written, text)


def _written(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def echo(message: object = "", err: bool = False, nl: bool = True, prefix: str = "") -> None:
    """Print a line, on stderr if `err`; `prefix`, which goes before it, may hold colours of our own."""
    hush()
    click.echo(prefix + plain(str(message)), err=err, nl=nl)


def coloured(text: str, **style: bool | str) -> str:
    """Return a text in colour when stderr is a terminal that wants it."""
    wanted = sys.stderr.isatty() and "NO_COLOR" not in os.environ
    return click.style(plain(text), **style) if wanted else plain(text)  # type: ignore[arg-type]


def print_problem(what: str, expected: str = "", hint: str = "") -> None:
    """Print what happened, what was expected, what to do next; each part on a line of its own."""
    echo(what, err=True, prefix=coloured("error: ", fg="red", bold=True))
    if expected:
        echo(f"  expected {expected}", err=True)
    if hint:
        echo(f"  {hint}", err=True)


def print_note(text: str) -> None:
    """Print something that is worth knowing and no problem."""
    echo(text, err=True, prefix=coloured("note: ", bold=True))


def print_suite_error(problem: SuiteError) -> None:
    """Print every problem of a suite, one a line."""
    for each in problem.problems:
        _print_one(each)
    print_problem(f"{problem.about} is not valid: {counted(len(problem.problems), 'problem')}", "", problem.remedy)


def _print_one(problem: Problem) -> None:
    """Print a problem: the line with what was expected and its code, the line of the file with a caret, the hint."""
    told = join_parts(problem.what, problem.expected)
    echo(f": {told}  [{problem.code}]", err=True, prefix=coloured(problem.where, bold=True))
    place = problem.place
    if place is not None and place.source.strip():
        line, caret = excerpt(place.source, place.column, max(NARROWEST, columns() - GUTTER - 3))
        echo(f"{place.line:>{GUTTER}} | {line}", err=True)
        echo(caret, err=True, prefix=f"{'':>{GUTTER}} | ")
    if problem.hint:
        echo(f"{'':>{GUTTER}} = hint: {problem.hint}", err=True)


def excerpt(line: str, column: int, width: int) -> tuple[str, str]:
    """Return a part of a line that is at most `width` wide and holds a column, from 1; and what marks its word."""
    line = line.replace("\t", " ")
    at = min(column - 1, len(line))
    begin = max(0, min(at - width // 3, len(line) - width)) if len(line) > width else 0
    part = ("…" if begin else "") + line[begin + (begin > 0) : begin + width]
    word = MARKED.match(line, at)
    marks = max(1, min(len(word[0]) if word else 1, width - (at - begin)))
    return part, " " * (at - begin) + "^" * marks
