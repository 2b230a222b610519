"""What a run says at its end: its results, the verdict, what is not met, where the report is, what to type next."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pileup.cli.command import OneOf
from pileup.cli.messages import echo

if TYPE_CHECKING:
    from pileup.model.results import RunResults

FULL, COMPACT, NONE = SUMMARIES = ("full", "compact", "none")
summary_option = click.option(
    "--summary",
    type=OneOf(SUMMARIES),
    default=FULL,
    show_default=True,
    help="What is printed at the end: compact leaves out the tables, none all but the run folder.",
)
"""Option of every command that runs a suite."""


def print_end(results: RunResults, reports: Iterable[Path], summary: str) -> None:
    """Print what a run gave, as much of it as `summary`, one of SUMMARIES, says; the run folder last."""
    from pileup.cli.console import SafeConsole
    from pileup.cli.show.overview import print_results

    if summary == NONE:
        echo(results.folder)
        return
    if summary == FULL:
        print_results(results, SafeConsole(), sentence=False)  # the last lines have it
        echo()
    print_ending(results, reports)


def print_ending(results: RunResults, reports: Iterable[Path]) -> None:
    """Print the verdict, each criterion that is not met, the reports, the next command, and the run folder last."""
    from rich.text import Text

    from pileup.cli.console import SafeConsole
    from pileup.cli.marks import in_ascii, marked, shows_signs
    from pileup.cli.next_step import next_step
    from pileup.cli.show import criteria
    from pileup.model.headline import headline

    console = SafeConsole()
    lines = [marked(results.verdict) + Text(f" {headline(results)}", "bold")]
    for line in (*lines, *map(criteria.line, criteria.unmet(results.criteria))):
        console.print(line if shows_signs(console) else in_ascii(line), soft_wrap=True, highlight=False)
    for path in reports:
        echo(f"report: {path}")
    if told := next_step(results):
        echo(f"next: {told}")
    echo(results.folder)
