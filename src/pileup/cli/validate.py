"""pileup validate: is the suite right, and if not, every mistake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pileup.cli.arguments import SUITE, set_option
from pileup.cli.command import Command, OneOf
from pileup.cli.messages import echo
from pileup.cli.working import working
from pileup.model.units import counted

if TYPE_CHECKING:
    from pileup.cli.data import NotCoveredData, ProblemData, Validated
    from pileup.model.errors import Problem, SuiteError
    from pileup.model.plan import Plan

FORMATS = ("text", "json", "github")


@click.command(
    "validate",
    cls=Command,
    examples=[
        ("every mistake, with its line", "pileup validate copy.yaml"),
        ("as annotations of a pull request", "pileup validate copy.yaml --format github"),
    ],
    page="suite-file.md",
)
@click.argument("suite", type=SUITE)
@set_option()
@click.option("--static", is_flag=True, help="Import no Python file that the suite names; its options are not checked.")
@click.option("--simulate", is_flag=True, help="As a suite for `pileup simulate`, which says what is real in it.")
@click.option(
    "--format",
    "form",
    type=OneOf(FORMATS),
    default="text",
    show_default=True,
    help="github: annotations of a pull request.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.pass_context
def command(
    context: click.Context,
    suite: str,
    settings: tuple[str, ...],
    static: bool,
    simulate: bool,
    form: str,
    as_json: bool,
) -> None:
    """Report every mistake in a suite.

    SUITE is a file, or suite:NAME for one that comes with pileup. Nothing is run. Each mistake has its line, its code
    in brackets, which `pileup describe CODE` explains, and what was expected.

    Plug-ins that the suite names are loaded, also those from files beside it: a suite is code. With --static none of
    those files is imported.
    """
    from pileup.cli.common import parse_settings
    from pileup.model.errors import SuiteError
    from pileup.suite.shipped import suite_path

    path, form = suite_path(suite), "json" if as_json else form
    try:
        with working("checking the suite"):
            plan = checked(path, parse_settings(settings), static=static, simulate=simulate)
    except SuiteError as problem:
        if form == "text":
            raise
        echo(json.dumps(invalid(path, problem), indent=2) if form == "json" else for_github(problem))
        context.exit(int(problem.exit_code))
    echo(json.dumps(valid(path, plan), indent=2) if form == "json" else "\n".join(summary(plan)))


def checked(path: Path, values: dict[str, str], *, static: bool, simulate: bool) -> Plan:
    """Return the plan of a suite, for a run or for a simulation. Raises SuiteError with every mistake."""
    from pileup.suite import load

    plan = load(path, values, imports=not static, servers=not simulate)
    if simulate:
        from pileup.run.simulation.refusals import refuse

        refuse(plan)
    return plan


def summary(plan: Plan) -> list[str]:
    """Return what a valid suite has, and what of it cannot be covered, as lines."""
    from pileup.model.not_covered import words

    parts = [
        counted(len(plan.suite.tests), "test"),
        counted(len(plan.suite.targets), "target"),
        counted(len(plan.suite.monitors), "monitor"),
        "1 criterion" if len(plan.suite.criteria) == 1 else f"{len(plan.suite.criteria)} criteria",
    ]
    return [f"valid: {', '.join(parts)}", *words(plan.uncovered)]


def valid(path: Path, plan: Plan) -> Validated:
    """Return what is said of a valid suite, as data."""
    suite = plan.suite
    return {
        "valid": True,
        "suite": str(path),
        "title": suite.title,
        "tests": len(suite.tests),
        "targets": len(suite.targets),
        "monitors": len(suite.monitors),
        "criteria": len(suite.criteria),
        "problems": [],
        "not_covered": not_covered(plan),
    }


def invalid(path: Path, found: SuiteError) -> Validated:
    """Return what is said of a suite with mistakes, as data."""
    return {
        "valid": False,
        "suite": str(path),
        "title": None,
        "tests": 0,
        "targets": 0,
        "monitors": 0,
        "criteria": 0,
        "problems": [_data(each) for each in found.problems],
        "not_covered": [],
    }


def not_covered(plan: Plan) -> list[NotCoveredData]:
    """Return what cannot be covered, as data."""
    return [
        {"what": each.what, "name": each.name, "reason": each.reason, "whole": each.whole} for each in plan.uncovered
    ]


def _data(problem: Problem) -> ProblemData:
    place = problem.place
    return {
        "code": str(problem.code),
        "what": problem.what,
        "expected": problem.expected,
        "hint": problem.hint,
        "file": place.file if place else None,
        "line": place.line if place else None,
        "column": place.column if place else None,
        "where": problem.where,
    }


def for_github(found: SuiteError) -> str:
    """Return the mistakes as workflow commands of GitHub, which shows them at their lines."""
    return "\n".join(_annotation(each) for each in found.problems)


def _annotation(problem: Problem) -> str:
    place = problem.place
    at = {"file": place.file, "line": str(place.line), "col": str(place.column)} if place else {}
    words = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in {**at, "title": str(problem.code)}.items())
    return f"::error {words}::{_escaped(problem.text if place else str(problem))}"


def _escaped(text: str, more: str = "") -> str:
    """Return a text as GitHub takes it: percent signs and line ends are written as codes, and what is in `more`."""
    return "".join(f"%{ord(sign):02X}" if sign in f"%\r\n{more}" else sign for sign in text)
