"""pileup simulate: run a suite in virtual time, on machines of known truth."""

from __future__ import annotations

import json
from pathlib import Path

import click

from pileup.cli.arguments import RUNS, SUITE, set_option
from pileup.cli.command import Command
from pileup.cli.config import environment
from pileup.cli.ending import print_end, summary_option
from pileup.cli.messages import echo
from pileup.cli.working import working


@click.command(
    "simulate",
    cls=Command,
    examples=[
        ("ten hours of a tape library at six settings, in a minute", "pileup simulate suite:samgrid-tuning"),
        ("your suite, with other values", "pileup simulate tape.yaml --set clients=10"),
    ],
    page="simulate.md",
)
@click.argument("suite", type=SUITE)
@RUNS
@set_option("Set a variable, or a word of the suite by its path: targets.tape.launch.drives=8")
@summary_option
@click.option("--json", "as_json", is_flag=True, help="Print the results as one JSON object.")
@click.pass_context
def command(
    context: click.Context, suite: str, out: Path | None, settings: tuple[str, ...], summary: str, as_json: bool
) -> None:
    """Run a suite in virtual time.

    SUITE is a file, or suite:NAME for one that comes with pileup. Its targets must be launched practice targets that
    have a machine in virtual time (kinds practice-tape and practice-cluster), its tests Python with `async def run`.
    Nothing is started or reached, and no time is waited for: hours go by in seconds. The record is that of any run, and
    every report says that it is simulated. Equal seeds give equal results.

    What is real in the suite is refused, by name: urls, native tests, monitors, faults, fleets. The last line of stdout
    is the run folder. Ctrl-C ends the simulation in order, twice at once.

    Exit codes: 0 passed, 1 a case failed, 2 wrong command line, 3 suite invalid, or something real in it, 4 a criterion
    not met, 5 a target could not be made, 6 stopped by the user, 8 verdict unknown, 70 an internal error of pileup,
    74 stdout could not be written.
    """
    from pileup.cli.common import parse_settings
    from pileup.cli.console import SafeConsole
    from pileup.cli.run import signals
    from pileup.run.simulation.suite import SuiteSimulation
    from pileup.run.start import planned, runs_folder
    from pileup.run.stop import Stop
    from pileup.stats import to_json

    stop = Stop()
    with working("checking the suite"):
        plan = planned(suite, parse_settings(settings), None, environment(), simulated=True)
    with working("simulating"), signals(stop, SafeConsole(stderr=True)):
        simulation = SuiteSimulation(plan, runs_folder(out, environment()), stop)
        results = simulation.run()
    if as_json:
        echo(json.dumps({"folder": str(simulation.folder.path), **to_json(results)}))
    else:
        print_end(results, simulation.reports, summary)
    context.exit(int(results.exit_code))
