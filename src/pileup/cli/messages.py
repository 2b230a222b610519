"""How problems are told on stderr: three parts, colour only on a terminal."""

from __future__ import annotations

import os
import sys

import click

from pileup.model.errors import SuiteError


def coloured(text: str, **style: bool | str) -> str:
    """Return a text in colour when stderr is a terminal that wants it."""
    wanted = sys.stderr.isatty() and "NO_COLOR" not in os.environ
    return click.style(text, **style) if wanted else text  # type: ignore[arg-type]


def print_problem(what: str, expected: str = "", hint: str = "") -> None:
    """Print what happened, what was expected, what to do next; each part on a line of its own."""
    click.echo(coloured("error: ", fg="red", bold=True) + what, err=True)
    if expected:
        click.echo(f"  expected {expected}", err=True)
    if hint:
        click.echo(f"  {hint}", err=True)


def print_note(text: str) -> None:
    """Print something that is worth knowing and no problem."""
    click.echo(coloured("note: ", bold=True) + text, err=True)


def print_suite_error(problem: SuiteError) -> None:
    """Print every fault of a suite, one a line."""
    for fault in problem.faults:
        rest = str(fault).removeprefix(f"{fault.where}: ")
        click.echo(f"{coloured(fault.where, bold=True)}: {rest}", err=True)
    number = len(problem.faults)
    print_problem(
        f"the suite is not valid: {number} fault{'' if number == 1 else 's'}",
        "",
        "mend the file; `pileup schema` and `pileup describe` tell what may stand where",
    )
