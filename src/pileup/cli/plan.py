"""pileup plan: what a run of the suite would do, in order, and how much of it."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from pileup.cli.messages import echo
from pileup.model.units import counted

if TYPE_CHECKING:
    from pileup.model.plan import Case, Plan, Totals

UNKNOWN = "not bounded"


@click.command("plan")
@click.argument("suite")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Set a variable, or a word of the suite by its path."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON: times in ns, sizes in bytes, null where there is no bound."
)
@click.option("--static", is_flag=True, help="Import no Python file that the suite names; its options are not checked.")
def command(suite: str, settings: tuple[str, ...], as_json: bool, static: bool) -> None:
    """Show the cases of SUITE in order, with the longest possible time, operations and bytes of each.

    The longest time counts every time-out that may pass. A suite whose own `limits` forbid its plan is refused.
    """
    from pileup.cli.common import parse_settings
    from pileup.suite import load
    from pileup.suite.shipped import suite_path

    plan = load(suite_path(suite), parse_settings(settings), imports=not static)
    if as_json:
        echo(json.dumps(as_data(plan), indent=2))
    else:
        print_table(plan)


def as_data(plan: Plan) -> dict[str, object]:
    """Return a plan as plain data."""
    cases = [{**_case(case), "after": [plan.case(number).name for number in case.after]} for case in plan.cases]
    return {
        "title": plan.suite.title,
        "source": plan.source,
        "digest": plan.digest,
        "cases": cases,
        "totals": asdict(plan.totals()),
        "not_covered": [asdict(each) for each in plan.uncovered],
    }


def _case(case: Case) -> dict[str, object]:
    from pileup.model.words import load_words

    return {
        "id": case.id,
        "name": case.name,
        "use": case.test.use,
        "target": case.test.target,
        "targets": case.test.targets,
        "load": load_words(case.load, case.test.places),
        "after": [],
        "beside": list(case.beside),
        "point": case.point,
        "repeat": case.repeat,
        "loop": case.loop,
        "longest": case.longest,
        "operations": case.operations,
        "bytes": case.bytes,
    }


def print_table(plan: Plan) -> None:
    """Print the cases as a table, and their totals."""
    import shutil

    from rich.markup import escape
    from rich.table import Table

    from pileup.cli.console import SafeConsole
    from pileup.model.words import load_words

    table = Table(title=escape(plan.suite.title), show_footer=True, title_justify="left")
    totals = plan.totals()
    table.add_column("", justify="right")
    table.add_column("case", counted(len(plan.cases), "case"))
    for name in ("test", "target", "load", "after"):
        table.add_column(name)
    for name, footer in zip(("longest", "operations", "bytes"), _amounts(totals), strict=True):
        table.add_column(name, footer, justify="right")
    for before, case in zip((None, *plan.cases), plan.cases, strict=False):
        if before is not None and before.visit != case.visit:
            table.add_section()
        after = ", ".join(plan.case(number).test.name for number in case.after)
        beside = ", ".join(dict.fromkeys(plan.case(number).test.name for number in case.beside))
        load = load_words(case.load, case.test.places) + (f", beside {beside}" if beside else "")
        use, aim = escape(case.test.use), escape(case.test.aim)
        table.add_row(str(case.id), escape(case.name), use, aim, load, after, *_amounts(case))
    terminal = sys.stdout.isatty()
    console = SafeConsole(width=shutil.get_terminal_size().columns if terminal else 200)
    console.print(table)
    for line in _remarks(plan):
        console.print(line, markup=False)


def _amounts(of: Case | Totals) -> tuple[str, str, str]:
    from pileup.model.units import format_count, format_size, format_time

    return (
        format_time(of.longest),
        UNKNOWN if of.operations is None else format_count(of.operations),
        UNKNOWN if of.bytes is None else format_size(of.bytes),
    )


def _remarks(plan: Plan) -> list[str]:
    """Say what falls away on systems of others, and what may end this plan early: guard rails, precise figures."""
    from pileup.model.not_covered import words
    from pileup.model.units import format_fraction, format_time

    limit, until, told = plan.suite.limits.duration, plan.suite.until, words(plan.uncovered)
    if until is not None:
        wanted = f"{until.figure} is known within {format_fraction(until.within)}"
        told.append(f"The repeats end when {wanted}: {until.at_least} to {plan.suite.repeat} of them.")
    if limit is not None and plan.totals().longest > limit:
        told.append(f"The limit of {format_time(limit)} may end the run early if time-outs pass.")
    return told
