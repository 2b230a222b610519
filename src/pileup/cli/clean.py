"""pileup clean: clean up after a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pileup.cli.common import TRUST
from pileup.cli.messages import echo
from pileup.cli.working import working
from pileup.model.errors import UsageError
from pileup.model.exits import ExitCode

if TYPE_CHECKING:
    from pileup.record import RunFolder

NOTHING = "nothing to clean up"


@click.command("clean")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--force", is_flag=True, help="Also when it ran on another host, and may be running there.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Give a secret again that the run was begun with: the record does not keep it.",
)
@click.option("--trust", is_flag=True, help=TRUST)
@click.pass_context
def command(
    context: click.Context, run: Path, dry_run: bool, force: bool, settings: tuple[str, ...], trust: bool
) -> None:
    """Clean up after RUN, a run that crashed or could not.

    Its servers are ended, paused ones continued, settings set back, temporary folders and the files of its tests
    removed, its jobs on a batch system cancelled. The journal of the run says what that is: only what the run itself
    has made or changed, and nothing that the suite keeps (`cleanup: never`). What is executed of the suite is reported
    first. The record stays. A second time it does nothing.

    RUN must be one of your own runs, by your registry of runs ($XDG_STATE_HOME/pileup), and its suite as it was.

    Exit codes: 0 everything is cleaned up, 2 the run is still running or is not yours, 5 something could
    not be cleaned up.
    """
    from pileup.cli.common import parse_settings
    from pileup.cli.messages import print_note, print_problem
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
            for line in would_mend(folder, known, UndoReach.ALL, given, print_note) or [NOTHING]:
                echo(line)
            return
        mended = put_right(folder, known, UndoReach.ALL, given, tell=print_note)
    for each in mended:
        if each.problem:
            print_problem(f"{each.text}: could not be done: {each.problem}")
        else:
            echo(each.text)
    if not mended:
        echo(NOTHING)
    for line in sweep():
        echo(line, err=True)
    context.exit(ExitCode.TARGET_UNREACHABLE if any(each.problem for each in mended) else ExitCode.PASSED)


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
