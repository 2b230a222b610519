"""pileup resume: go on with a run that was stopped or has crashed."""

from __future__ import annotations

import os
from pathlib import Path

import click

from pileup.cli.common import TRUST
from pileup.cli.messages import echo


@click.command("resume")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Give a secret again that the run was begun with: the record does not keep it.",
)
@click.option("--trust", is_flag=True, help=TRUST)
@click.option("--quiet", is_flag=True, help="No progress; only the results and the run folder.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as one JSON object.")
@click.pass_context
def command(
    context: click.Context, run: Path, settings: tuple[str, ...], trust: bool, quiet: bool, as_json: bool
) -> None:
    """Go on with RUN, the folder of a run that was stopped, has crashed, or found a target unavailable.

    First what a crash left is cleaned up: servers ended, settings restored. Then the cases run that have no outcome
    yet, with what they need; their broken attempts stay in the record and count nowhere. The suite must be as it was,
    and RUN one of your own runs, by your registry of runs ($XDG_STATE_HOME/pileup): a suite is code.

    Exit codes as those of `pileup run`.
    """
    from pileup.cli.common import parse_settings
    from pileup.cli.messages import print_note
    from pileup.cli.run import conduct
    from pileup.record.reading import reading
    from pileup.run import Runner
    from pileup.run.recovery.resume import take_up
    from pileup.run.start import with_ssh
    from pileup.run.stop import Stop

    with reading(run):
        earlier = take_up(run, parse_settings(settings), trust, print_note)
    for line in earlier.told:
        echo(line, err=True)
    stop = Stop()
    conduct(context, Runner(with_ssh(earlier.plan, os.environ), run.parent, stop, earlier), stop, quiet, as_json)
