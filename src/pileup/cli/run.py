"""pileup run: press a suite on its targets, and say how it went."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pileup.cli.arguments import RUNS, SUITE, set_option
from pileup.cli.command import Command
from pileup.cli.config import environment
from pileup.cli.ending import print_end, summary_option
from pileup.cli.messages import echo
from pileup.cli.working import working
from pileup.model.ending import StoppedBy

if TYPE_CHECKING:
    from rich.console import Console

    from pileup.run import Runner
    from pileup.run.stop import Stop


ASKS = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM", signal.SIGHUP: "the terminal has gone (SIGHUP)"}
"""Signals that ask a run to stop."""
MOST_TOLD = 5
"""Things that a run has left which are named one by one."""


@click.command(
    "run",
    cls=Command,
    examples=[
        ("a first run, without a server", "pileup run suite:first-run"),
        (
            "your suite, with other values",
            "pileup run copy.yaml --set clients=10 --set targets.se.url=root://se01.site.org//data/pileup",
        ),
    ],
    page="suite-file.md",
)
@click.argument("suite", type=SUITE)
@RUNS
@set_option()
@click.option(
    "--fleet",
    metavar="PLACES",
    help="Where the load comes from: local, processes:4, ssh:host,host, dask:ADDRESS, slurm:8, htcondor:8.",
)
@click.option("--quiet", is_flag=True, help="No progress; only the results and the run folder.")
@summary_option
@click.option("--json", "as_json", is_flag=True, help="Print the results as one JSON object.")
@click.pass_context
def command(
    context: click.Context,
    suite: str,
    out: Path | None,
    settings: tuple[str, ...],
    fleet: str | None,
    quiet: bool,
    summary: str,
    as_json: bool,
) -> None:
    """Run a suite and judge it.

    SUITE is a file, or suite:NAME for one that comes with pileup. The last line of stdout is the run folder. Ctrl-C
    once ends the run in order, twice at once; what was measured is kept. What could not be cleaned up or removed is
    reported last, on stderr, with the `pileup clean` that tries again; it changes no exit code.

    Exit codes: 0 passed, 1 a case failed, 2 wrong command line, 3 suite invalid, 4 a criterion not met,
    5 a target could not be reached or started, 6 stopped by the user, 7 stopped by a limit, 8 verdict unknown,
    70 an internal error of pileup itself, 74 stdout could not be written.
    """
    from pileup.cli.common import parse_settings

    run_suite(context, suite, parse_settings(settings), fleet, out, quiet, summary, as_json)


def run_suite(
    context: click.Context,
    suite: str,
    values: dict[str, str],
    fleet: str | None,
    out: Path | None,
    quiet: bool,
    summary: str,
    as_json: bool,
) -> None:
    """Run a suite from its file, or by its name, and exit with the code of the run."""
    from pileup.run import Runner
    from pileup.run.recovery.leftovers import sweep
    from pileup.run.start import planned, runs_folder
    from pileup.run.stop import Stop

    stop = Stop()
    with working("checking the suite"):
        plan = planned(suite, values, fleet, environment())
    base = runs_folder(out, environment())
    for line in sweep():
        echo(line, err=True)
    conduct(context, Runner(plan, base, stop), stop, quiet, summary, as_json)


def conduct(context: click.Context, runner: Runner, stop: Stop, quiet: bool, summary: str, as_json: bool) -> None:
    """Run to the end with the run on the screen, print how it went, and exit with its code."""
    from pileup.cli.console import SafeConsole
    from pileup.cli.live.view import watch
    from pileup.run.recovery.intents import left_over, staying
    from pileup.stats import to_json

    progress = SafeConsole(stderr=True)
    with signals(stop, progress), watch(runner.folder.path, progress, quiet):
        results = runner.run()
    left, stays = left_over(runner.folder), staying(runner.folder)
    if as_json:
        echo(json.dumps({"folder": str(runner.folder.path), **to_json(results), "left": left, "stays": stays}))
    else:
        print_end(results, runner.reports, summary)
    _tell_left(runner.folder.path, left, stays)
    context.exit(int(results.exit_code))


def _tell_left(run: Path, left: list[str], stays: list[str]) -> None:
    """Say last of all what is there still of what the run has made or changed: no verdict speaks of it."""
    for told in stays:
        echo(f"left for you to remove: {told}", err=True)
    for told in left[:MOST_TOLD]:
        echo(f"not cleaned up or removed: {told}", err=True)
    if left:
        more = f" and {len(left) - MOST_TOLD} more" if len(left) > MOST_TOLD else ""
        echo(f"{'these' if len(left) > 1 else 'this'}{more} can be tried again: pileup clean {run}", err=True)


@contextmanager
def signals(stop: Stop, console: Console) -> Iterator[None]:
    """While it lasts, Ctrl-C and SIGTERM ask the run to stop: in order at first, at once the second time.

    So does a terminal that goes (SIGHUP), unless the run was started to outlive it (nohup).
    """

    def ask(number: int, _frame: object) -> None:
        stop.ask(StoppedBy.USER, ASKS[signal.Signals(number)])
        again = "ending in order; again to end at once" if stop.haste == 1 else "ending at once"
        with suppress(OSError, ValueError):  # the terminal may have gone
            console.print(again, highlight=False)  # through the console, which knows what the live view has drawn

    outlives = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    heeded = [number for number in ASKS if not (outlives and number is signal.SIGHUP)]
    kept = {number: signal.signal(number, ask) for number in heeded}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
