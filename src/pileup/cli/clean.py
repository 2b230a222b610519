"""pileup clean: clean up after a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pileup.cli.arguments import RUN, SECRET
from pileup.cli.command import Command
from pileup.cli.common import TRUST
from pileup.cli.messages import echo
from pileup.cli.working import working
from pileup.model.errors import UsageError
from pileup.model.exits import ExitCode

if TYPE_CHECKING:
    from pileup.cli.data import Cleaned
    from pileup.record import RunFolder

NOTHING = "nothing to clean up"


@click.command(
    "clean",
    cls=Command,
    examples=[
        ("what would be done", "pileup clean RUN --dry-run"),
        ("end servers, remove files, cancel jobs of a run", "pileup clean RUN"),
    ],
    page="servers.md",
)
@click.argument("run", type=RUN)
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--force", is_flag=True, help="Also when it ran on another host, and may be running there.")
@SECRET
@click.option("--trust", is_flag=True, help=TRUST)
@click.option("--json", "as_json", is_flag=True, help="Print what was done, or would be, as one JSON object.")
@click.pass_context
def command(
    context: click.Context, run: Path, dry_run: bool, force: bool, settings: tuple[str, ...], trust: bool, as_json: bool
) -> None:
    """Clean up after a run.

    RUN is the folder of a run that crashed, or could not clean up itself. Its servers are ended, paused ones continued,
    settings set back, temporary folders and the files of its tests removed, its jobs on a batch system cancelled, its
    stage requests at a tape system deleted. The journal of the run says what that is: only what the run itself has made
    or changed, and nothing that the suite keeps (`cleanup: never`). What is executed of the suite is reported first.
    The record stays. A second time it does nothing.

    RUN must be one of your own runs, by your registry of runs ($XDG_STATE_HOME/pileup), and its suite as it was.

    Exit codes: 0 everything is cleaned up, 2 the run is still running or is not yours, 5 something could
    not be cleaned up.
    """
    from pileup.cli.common import parse_settings
    from pileup.cli.messages import print_note
    from pileup.record import RunFolder
    from pileup.record.reading import reading
    from pileup.run.recovery.leftovers import put_right, sweep
    from pileup.run.recovery.ownership import Trust
    from pileup.run.recovery.undo import would_mend
    from pileup.run.recovery.undo_kinds import UndoReach

    folder = RunFolder.open(run)
    given = parse_settings(settings)
    with working("cleaning up"), reading(run):
        _refuse_alive(folder, force)
        known = Trust.of(folder, trust)
        if dry_run:
            items = [(line, "") for line in would_mend(folder, known, UndoReach.ALL, given, print_note)]
        else:
            items = [
                (each.text, each.problem) for each in put_right(folder, known, UndoReach.ALL, given, tell=print_note)
            ]
    if as_json:
        echo(json.dumps(as_data(folder.path, dry_run, items), indent=2))
    else:
        _tell(items)
    for line in sweep() if not dry_run else ():
        echo(line, err=True)
    left = not dry_run and any(problem for _, problem in items)
    context.exit(ExitCode.TARGET_UNREACHABLE if left else ExitCode.PASSED)


def _tell(items: list[tuple[str, str]]) -> None:
    """Print what was done, or would be, and what could not."""
    from pileup.cli.messages import print_problem

    for what, problem in items:
        if problem:
            print_problem(f"{what}: could not be done: {problem}")
        else:
            echo(what)
    if not items:
        echo(NOTHING)


def as_data(folder: Path, dry_run: bool, items: list[tuple[str, str]]) -> Cleaned:
    """Return what was done, or would be, as data."""
    return {
        "folder": str(folder),
        "dry_run": dry_run,
        "clean": not items if dry_run else not any(problem for _, problem in items),
        "items": [{"what": what, "problem": problem or None} for what, problem in items],
    }


def _refuse_alive(folder: RunFolder, force: bool) -> None:
    """Raise UsageError when the run goes on."""
    from pileup.run.recovery.leftovers import alive, newest_owner, seen_from_here

    owner = newest_owner(folder)
    if owner is None or not alive(folder):
        return
    if seen_from_here(owner):
        told = f"{folder.path} is still running: its process is active (pid {owner.pid})"
        raise UsageError(told, "a run that has ended or crashed", "Ctrl-C ends it in order")
    if not force:
        told = f"{folder.path} may go on: its pileup ran on host {owner.host}"
        raise UsageError(told, "`pileup clean` on that host", "--force, if that pileup is surely gone")
