"""pileup compare: runs against a baseline."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pileup.cli.arguments import RUN
from pileup.cli.command import Command, OneOf
from pileup.cli.messages import echo, plain
from pileup.cli.working import working
from pileup.model.contrast import WORSE
from pileup.model.errors import UsageError
from pileup.model.exits import ExitCode

if TYPE_CHECKING:
    from pileup.model.contrast import RunComparison
    from pileup.model.results import RunResults

FORMATS = ("text", "json", "html")


@click.command(
    "compare",
    cls=Command,
    examples=[
        ("a new run against an old one", "pileup compare runs/old runs/new"),
        (
            "in CI: exit with 4 when something is worse by 10 %",
            "pileup compare runs/old runs/new --matters '10 %' --fail-on worse",
        ),
    ],
    page="compare.md",
)
@click.argument("runs", nargs=-1, required=True, metavar="BASELINE RUN...", shell_complete=RUN.shell_complete)
@click.option("--format", "form", type=OneOf(FORMATS), default="text", show_default=True, help="Form of output.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="File to write to.  [default: stdout]")
@click.option(
    "--matters",
    default="5 %",
    show_default=True,
    metavar="SHARE",
    help="Smallest difference that matters, as a share of the baseline.",
)
@click.option(
    "--fail-on",
    type=OneOf(["worse"]),
    help="Exit with 4 when something is shown to be worse by as much as matters.",
)
def command(runs: tuple[str, ...], form: str, out: Path | None, matters: str, fail_on: str | None) -> int:
    """Compare runs with a baseline.

    The baseline is the first folder; RUN,RUN takes several runs as one side. For each test and operation: rate,
    throughput, response times, share not passed; the change with its interval at 95 %, and a verdict: better, worse, no
    difference shown.
    """
    found = compared(runs, matters)
    data = _rendered(found, form)
    if out is not None:
        from pileup.cli.report import write

        echo(write(out, data.encode()))
    else:
        echo(prefix=data if form == "text" else plain(data), nl=not data.endswith("\n"))  # colours of our own
    return ExitCode.CRITERION_NOT_MET if fail_on and found.verdict == WORSE else ExitCode.PASSED


def compared(runs: Iterable[str], matters: str) -> RunComparison:
    """Return the runs compared. Raises UsageError and RecordError."""
    from pileup.stats import compare_runs

    smallest = _share(matters)
    sides = [_side(word) for word in runs]
    if len(sides) < 2:
        raise UsageError("there is one run alone", "a baseline and at least one more", "RUN,RUN takes several as one")
    found = compare_runs(sides[0], sides[1:], smallest)
    for against in found.against:
        if not against.contrasts:
            raise UsageError(
                f"{found.baseline.name} and {against.candidate.name} have no test in common that measured anything",
                "runs of the same suite, or of suites with tests of the same names",
                "pileup show RUN",
            )
    return found


def _side(word: str) -> list[RunResults]:
    """Return the results of one run, or of several with commas between them."""
    names = [word] if Path(word).exists() else [name for name in word.split(",") if name]
    if not names:
        raise UsageError(f"{word!r} names no run", "a run folder, or several", "RUN,RUN takes several as one")
    return [_read(Path(name)) for name in names]


def _read(run: Path) -> RunResults:
    from pileup.record import RunFolder
    from pileup.record.reading import reading
    from pileup.stats import results

    with working("reading the runs"), reading(run):
        return results(RunFolder.open(run))


def _share(text: str) -> float:
    from pileup.model.units import parse

    try:
        found = float(parse(text, "fraction"))
    except ValueError as problem:
        raise UsageError(f"--matters {text!r}: {problem}", "a share of the baseline", "--matters '5 %'") from problem
    if not 0 <= found < 1:
        raise UsageError(f"--matters {text!r} is no share", "0 % or more, and less than 100 %", "--matters '5 %'")
    return found


def _rendered(found: RunComparison, form: str) -> str:
    if form == "json":
        from pileup.stats import plain as data_of

        return json.dumps({"verdict": found.verdict, **data_of(found)}, indent=1)
    if form == "html":
        from pileup.plugin import Report, registry

        report: Report = registry.load("reports", "html")()
        return report.compared(found).decode()
    return _text(found)


def _text(found: RunComparison) -> str:
    """Return the tables; coloured and as wide as the terminal where there is one."""
    from pileup.cli.compare.text import print_comparison
    from pileup.cli.console import SafeConsole

    console = SafeConsole()
    with console.capture() as capture:
        print_comparison(found, console)
    return capture.get()
