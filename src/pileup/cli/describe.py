"""pileup describe: the page of a plug-in, made from its docstring and its options."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pileup.model.errors import UsageError

if TYPE_CHECKING:
    from rich.table import Table

KINDS = {"test": "tests", "target": "targets", "monitor": "monitors", "report": "reports"}


@click.command("describe")
@click.argument("name")
@click.option("--kind", type=click.Choice(list(KINDS)), help="Which, where plug-ins of several kinds bear the name.")
def command(name: str, kind: str | None) -> None:
    """Show what a plug-in does and which options it takes: NAME as in `pileup list`, or ./file.py:Class."""
    from rich.console import Console

    terminal = sys.stdout.isatty()
    console = Console(width=None if terminal else 120)
    for number, (each, cls) in enumerate(find(name, kind)):
        if number:
            console.print()
        print_page(console, name, each, cls)


def find(name: str, kind: str | None) -> list[tuple[str, type]]:
    """Return (kind, class) for every plug-in of that name. Raises UsageError, or PluginError with the reason."""
    from pileup.plugin import registry

    kinds = [kind] if kind else list(KINDS)
    if ".py:" in name:
        return [_from_file(name, kinds)]
    having = [each for each in kinds if name in registry.names(KINDS[each])]
    if not having:
        raise UsageError(f"there is no {kind or 'plug-in'} {name!r}", _near(name, kinds), "`pileup list` shows all")
    return [(each, registry.load(KINDS[each], name)) for each in having]


def _from_file(name: str, kinds: list[str]) -> tuple[str, type]:
    """Return the class in a user's file; the first kind that it is."""
    from pileup.model.errors import PluginError
    from pileup.plugin import registry

    problem: PluginError | None = None
    for each in kinds:
        try:
            return each, registry.load(KINDS[each], name, Path())
        except PluginError as raised:
            problem = problem or raised
    raise problem or UsageError(f"{name!r} is no plug-in")


def _near(name: str, kinds: list[str]) -> str:
    import difflib

    from pileup.plugin import registry

    known = sorted({each for kind in kinds for each in registry.names(KINDS[kind])})
    return " or ".join(difflib.get_close_matches(name, known, 3)) or "a name from `pileup list`"


def print_page(console: Any, name: str, kind: str, cls: type) -> None:
    """Print heading, docstring, facts, options and settings of one plug-in."""
    from pileup.cli.options import field_rows, option_rows

    console.print(f"{kind} [bold]{name}[/bold]\n", highlight=False)
    console.print(inspect.getdoc(cls) if cls.__doc__ else "(no description)", markup=False, highlight=False)
    for fact in facts(kind, cls):
        console.print(f"\n{fact}", markup=False, highlight=False)
    if kind == "report":
        return
    rows = option_rows(cls)
    console.print()
    console.print(rows_table("Options", rows) if rows else "No options.")
    launch = getattr(cls, "launch_settings", None)
    if launch is not None:
        console.print()
        console.print(rows_table("Settings of `launch`", field_rows(launch)))


def facts(kind: str, cls: Any) -> list[str]:
    """Return what a suite's author must know beside the options."""
    if kind == "test":
        needs = f"a target that provides {cls.needs!r}" if cls.needs else "no target"
        return [f"Needs {needs}. Runs {'in the native engine' if cls.native() else 'as Python'}."]
    if kind == "target":
        given = ", ".join(sorted(cls.provides))
        return [f"Provides {given}." + (" Without a url it gets a scratch folder." if cls.scratch else "")]
    if kind == "report":
        return [f"Written to {cls.file_name} in the run folder."]
    return []


def rows_table(title: str, rows: list[tuple[str, str, str, str, str]]) -> Table:
    """Return options or settings as a table: name, type, default, bounds, help."""
    from rich.markup import escape
    from rich.table import Table

    table = Table("name", "type", "default", "bounds", "what", title=title, title_justify="left")
    for row in rows:
        table.add_row(*map(escape, row))
    return table
