"""pileup merge: several runs of one suite as repeats in one record."""

from __future__ import annotations

import os
from pathlib import Path

import click

from pileup.cli.messages import echo
from pileup.cli.working import working
from pileup.model.errors import UsageError


@click.command("merge")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN RUN...")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the new run folder.  [default: $PILEUP_RUNS]")
def command(runs: tuple[Path, ...], out: Path | None) -> None:
    """Pool several runs of the same suite as repeats into one new run folder.

    Its figures are those of all rows; cases are numbered: copy#1, copy#2. Prints the name of the folder.
    """
    from pileup.record import RunFolder
    from pileup.record.merge import merge
    from pileup.record.reading import reading
    from pileup.run.finish import finish

    if len(runs) < 2:
        raise UsageError("there is one run alone", "two or more runs of one suite", "pileup merge RUN RUN --out DIR")
    base = out or Path(os.environ.get("PILEUP_RUNS") or "runs")
    folders = [RunFolder.open(run) for run in runs]
    with working("merging"), reading(base):
        made, run = merge(folders, base)
        finish(made, run)
    echo(made.path)
