"""pileup resume: go on with a run that was stopped or has crashed."""

from __future__ import annotations

from pathlib import Path

import click

from pileup.cli.arguments import RUN, SECRET
from pileup.cli.command import Command
from pileup.cli.common import TRUST
from pileup.cli.config import environment
from pileup.cli.ending import summary_option
from pileup.cli.messages import echo
from pileup.cli.working import working


@click.command(
    "resume",
    cls=Command,
    examples=[
        ("go on where the run was stopped", "pileup resume RUN"),
        (
            "give a secret again, which the record does not keep",
            "pileup resume RUN --set password=SECRET",
        ),
    ],
    page="servers.md",
)
@click.argument("run", type=RUN)
@SECRET
@click.option("--trust", is_flag=True, help=TRUST)
@click.option("--quiet", is_flag=True, help="No progress; only the results and the run folder.")
@summary_option
@click.option("--json", "as_json", is_flag=True, help="Print the results as one JSON object.")
@click.pass_context
def command(
    context: click.Context,
    run: Path,
    settings: tuple[str, ...],
    trust: bool,
    quiet: bool,
    summary: str,
    as_json: bool,
) -> None:
    """Go on with a run that was stopped or crashed.

    RUN is its folder; a run that found a target unavailable is resumed, too. First what a crash left is cleaned up:
    servers ended, settings restored. Then the cases run that have no outcome yet, with what they need; their broken
    attempts stay in the record and count nowhere. The suite must be as it was, and RUN one of your own runs, by your
    registry of runs ($XDG_STATE_HOME/pileup): a suite is code.

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

    with working("reading the run"), reading(run):
        earlier = take_up(run, parse_settings(settings), trust, print_note)
    for line in earlier.told:
        echo(line, err=True)
    stop = Stop()
    runner = Runner(with_ssh(earlier.plan, environment()), run.parent, stop, earlier)
    conduct(context, runner, stop, quiet, summary, as_json)
