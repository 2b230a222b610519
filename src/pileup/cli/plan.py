"""pileup plan: what a run of the suite would do, in order, and how much of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from pileup.cli.arguments import SUITE, set_option
from pileup.cli.command import Command
from pileup.cli.messages import echo
from pileup.cli.validate import checked, not_covered
from pileup.cli.working import working
from pileup.model.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import JustifyMethod
    from rich.table import Table

    from pileup.cli.data import Planned, PlannedCase
    from pileup.model.plan import Case, Plan, Totals

UNKNOWN = "not bounded"
SECOND, MINUTE = 10**9, 60 * 10**9
UNBOUNDED = 10_000
LOAD_WIDTH, AFTER_WIDTH = 44, 24
"""Columns of the table that wrap."""
LOAD_LEAST = 20
"""With less room for a load, or for what it is where that is shorter, the cases are printed one below another."""


@click.command(
    "plan",
    cls=Command,
    examples=[
        ("the cases, in the order of the run", "pileup plan copy.yaml"),
        ("the same with other values", "pileup plan copy.yaml --set clients=10"),
    ],
    page="suite-file.md",
)
@click.argument("suite", type=SUITE)
@set_option()
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON: times in ns, sizes in bytes, null where there is no bound."
)
@click.option("--static", is_flag=True, help="Import no Python file that the suite names; its options are not checked.")
@click.option("--simulate", is_flag=True, help="As a suite for `pileup simulate`, which says what is real in it.")
def command(suite: str, settings: tuple[str, ...], as_json: bool, static: bool, simulate: bool) -> None:
    """Show what a run would do, and for how long.

    SUITE is a file, or suite:NAME for one that comes with pileup. The cases are in the order of the run, each with the
    time to expect, the longest possible time (every timeout counted), and the largest number of operations and bytes. A
    suite whose own `limits` forbid its plan is refused.
    """
    from pileup.cli.common import parse_settings
    from pileup.suite.shipped import suite_path

    with working("checking the suite"):
        plan = checked(suite_path(suite), parse_settings(settings), static=static, simulate=simulate)
    if as_json:
        echo(json.dumps(as_data(plan), indent=2))
    else:
        print_plan(plan)


def as_data(plan: Plan) -> Planned:
    """Return a plan as plain data."""
    totals = plan.totals()
    return {
        "title": plan.suite.title,
        "source": plan.source,
        "digest": plan.digest,
        "cases": [_case(plan, case) for case in plan.cases],
        "totals": {
            "expected": totals.expected,
            "longest": totals.longest,
            "operations": totals.operations,
            "bytes": totals.bytes,
        },
        "not_covered": not_covered(plan),
    }


def _case(plan: Plan, case: Case) -> PlannedCase:
    from pileup.model.words import load_words

    return {
        "id": case.id,
        "name": case.name,
        "use": case.test.use,
        "target": case.test.target,
        "targets": dict(case.test.targets),
        "load": load_words(case.load, case.test.places),
        "after": [plan.case(number).name for number in case.after],
        "beside": list(case.beside),
        "point": dict(case.point),
        "repeat": case.repeat,
        "loop": case.loop,
        "expected": case.expected,
        "longest": case.longest,
        "operations": case.operations,
        "bytes": case.bytes,
    }


def print_plan(plan: Plan) -> None:
    """Print how long the run takes, then the cases: as a table where it fits the width, else one below another."""
    from pileup.cli.console import SafeConsole
    from pileup.cli.width import columns

    console = SafeConsole(width=columns())
    echo(plan.suite.title)
    echo(f"{counted(len(plan.cases), 'case')}: {run_time(plan)}")
    table = _table(plan)
    unbounded = console.options.update(max_width=UNBOUNDED)  # else what is measured is cut to the width
    if console.measure(table, options=unbounded).minimum <= console.width:
        console.print(table)
    else:
        for case in plan.cases:
            _print_block(plan, case, console.width)
    for line in _remarks(plan):
        console.print(line, markup=False)


def run_time(plan: Plan) -> str:
    """Return how long a run of a plan takes: `about 31 s, at most 2 min (limits.duration)`."""
    totals, limit = plan.totals(), plan.suite.limits.duration
    by = " (limits.duration)" if totals.longest == limit else ""
    return f"{time_words(totals)}{by}"


def time_words(of: Case | Totals) -> str:
    """Return the time to expect and the longest possible one: `about 31 s, at most 2 h 17 min`."""
    from pileup.model.units import format_time

    return f"about {_about(of.expected)}, at most {format_time(of.longest)}"


def _about(nanoseconds: int) -> str:
    """Return an estimate: below a minute in whole seconds, rounded up."""
    from pileup.model.units import format_time

    return format_time(nanoseconds if nanoseconds >= MINUTE else max(1, -(-nanoseconds // SECOND)) * SECOND)


def _table(plan: Plan) -> Table:
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_footer=True, padding=(0, 1, 0, 0), pad_edge=False)
    totals = plan.totals()
    afters, loads = ([each(plan, case) for case in plan.cases] for each in (_after, _load))

    def whole(name: str, footer: str, cells: Iterable[str], justify: JustifyMethod = "left") -> None:
        """Add a column that does not wrap: without a least width rich would shrink it to its longest word."""
        least = max(map(len, (name, footer, *cells)))
        table.add_column(name, footer, no_wrap=True, min_width=least, justify=justify)

    whole("", "", (str(case.id) for case in plan.cases), "right")
    whole("case", counted(len(plan.cases), "case"), (case.name for case in plan.cases))
    whole("test", "", (case.test.use for case in plan.cases))
    whole("target", "", (case.test.aim for case in plan.cases))
    least = min(LOAD_LEAST, max(map(len, loads), default=0))
    table.add_column("load", min_width=least, max_width=LOAD_WIDTH, overflow="fold")
    # of a fixed width: of two that give way, rich shrinks the larger one below its least, and cuts off the last column
    table.add_column("after", width=min(AFTER_WIDTH, max(map(len, ("after", *afters)))), overflow="fold")
    figures = [(_about(case.expected), *_amounts(case)) for case in plan.cases]
    footers = (_about(totals.expected), *_amounts(totals))
    names = ("expected", "at most", "operations", "bytes")
    for name, footer, *cells in zip(names, footers, *figures, strict=True):
        whole(name, footer, cells, "right")
    visit = plan.cases[0].visit if plan.cases else 0
    for case, load, after, told in zip(plan.cases, loads, afters, figures, strict=True):
        if case.visit != visit:
            table.add_section()
        visit = case.visit
        words = (case.name, case.test.use, case.test.aim, load, after)
        table.add_row(str(case.id), *map(escape, words), *told)
    return table


def _print_block(plan: Plan, case: Case, width: int) -> None:
    """Print a case on lines of its own: what does not fit the width goes on below."""
    import textwrap

    number = f"{case.id:>{len(str(len(plan.cases)))}} "
    needs = f", after {after}" if (after := _after(plan, case)) else ""
    aim = f" on {case.test.aim}" if case.test.aim else ""
    _, operations, size = _amounts(case)
    lines = [f"{case.test.use}{aim}{needs}", _load(plan, case), time_words(case)]
    if (operations, size) != (UNKNOWN, UNKNOWN):
        lines.append(f"operations: {operations}, bytes: {size}")
    echo()
    for begin, line in ((number, case.name), *((" " * len(number), each) for each in lines)):
        indent = " " * len(number)
        echo(textwrap.fill(line, width, initial_indent=begin, subsequent_indent=indent, break_on_hyphens=False))


def _after(plan: Plan, case: Case) -> str:
    return ", ".join(dict.fromkeys(plan.case(number).test.name for number in case.after))


def _load(plan: Plan, case: Case) -> str:
    from pileup.model.words import load_words

    beside = ", ".join(dict.fromkeys(plan.case(number).test.name for number in case.beside))
    return load_words(case.load, case.test.places) + (f", beside {beside}" if beside else "")


def _amounts(of: Case | Totals) -> tuple[str, str, str]:
    from pileup.model.units import format_count, format_size, format_time

    return (
        format_time(of.longest),
        UNKNOWN if of.operations is None else format_count(of.operations),
        UNKNOWN if of.bytes is None else format_size(of.bytes),
    )


def _remarks(plan: Plan) -> list[str]:
    """Say what falls away on systems of others, and what may end this plan early: precise figures."""
    from pileup.model.not_covered import words
    from pileup.model.units import format_fraction

    until, told = plan.suite.until, words(plan.uncovered)
    if until is not None:
        wanted = f"{until.figure} is known within {format_fraction(until.within)}"
        told.append(f"The repeats end when {wanted}: {until.at_least} to {plan.suite.repeat} of them.")
    return told
