"""pileup show: what a run gave, on the screen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pileup.cli.arguments import RUN
from pileup.cli.command import Command
from pileup.cli.messages import echo
from pileup.cli.working import working
from pileup.model.collecting import uncollected

if TYPE_CHECKING:
    from pileup.record import RunFolder


@click.command(
    "show",
    cls=Command,
    examples=[
        ("the verdict, criteria and figures", "pileup show RUN"),
        ("one figure, for a script", "pileup show RUN --json | jq .verdict"),
    ],
    page="reports.md",
)
@click.argument("run", type=RUN)
@click.option("--json", "as_json", is_flag=True, help="Print the results as one JSON object.")
def command(run: Path, as_json: bool) -> None:
    """Show the results of a run.

    RUN is a run folder: of a run that has ended, goes on, or was broken off.
    """
    with uncollected():
        from pileup.cli.reading import load_numpy, read_results

        load_numpy()
        from pileup.cli.console import SafeConsole
        from pileup.cli.next_step import next_step
        from pileup.cli.show.overview import print_results
        from pileup.record import RunFolder
        from pileup.record.reading import reading
        from pileup.stats import to_json

    with working("reading the run"), reading(run):
        folder = RunFolder.open(run)
        found = read_results(folder)
    if as_json:
        echo(json.dumps({"folder": found.folder, **to_json(found)}))
    else:
        print_results(found, SafeConsole())
        if found.run.has_ended and (told := next_step(found)):
            echo(f"next: {told}")
    if told := broken_off(folder):
        echo(told, err=True)


def broken_off(folder: RunFolder) -> str:
    """Return what to say of a run whose pileup is gone before its end, empty for any other."""
    if folder.manifest().has_ended:
        return ""
    from pileup.run.recovery.leftovers import alive

    if alive(folder):
        return ""
    if folder.manifest().simulated:
        return "the simulation has not ended: it goes on, or was broken off and is to be simulated again"
    path = folder.path
    return (
        f"the run was broken off: its pileup was killed or has crashed; `pileup resume {path}` goes on with it, "
        f"`pileup clean {path}` removes what it has left"
    )
