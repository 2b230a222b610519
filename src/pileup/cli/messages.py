r"""The only way to stdout and stderr, and how problems are reported: three parts, colour only on a terminal.

Titles, messages and names come from suites, servers and run folders of anybody. Control characters among them could
rewrite what is on the screen, or hide what a command would do: they are shown as `\x1b`, and never obeyed.
"""

from __future__ import annotations

import os
import re
import sys

import click

from pileup.cli.working import hush
from pileup.model.errors import SuiteError
from pileup.model.units import counted

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
        echo(f": {each.text}", err=True, prefix=coloured(each.where, bold=True))
    print_problem(
        f"the suite is not valid: {counted(len(problem.problems), 'problem')}",
        "",
        "fix the file; `pileup describe suite` lists the allowed keys",
    )
