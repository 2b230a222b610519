"""pileup merge: several runs of one suite as repeats in one record."""

from __future__ import annotations

from pathlib import Path

import click

from pileup.cli.arguments import RUN
from pileup.cli.command import Command
from pileup.cli.config import environment
from pileup.cli.messages import echo
from pileup.cli.working import working
from pileup.model.errors import UsageError


@click.command(
    "merge",
    cls=Command,
    examples=[
        ("three nights as one run", "pileup merge runs/monday runs/tuesday runs/wednesday"),
        ("into another folder", "pileup merge runs/monday runs/tuesday --out pooled"),
    ],
    page="merge.md",
)
@click.argument("runs", nargs=-1, required=True, type=RUN, metavar="RUN RUN...")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the new run folder.  [default: $PILEUP_RUNS]")
def command(runs: tuple[Path, ...], out: Path | None) -> None:
    """Pool runs of one suite as repeats.

    They become one new run folder. Its figures are those of all rows; cases are numbered: copy#1, copy#2. Prints the
    name of the folder.
    """
    from pileup.record import RunFolder
    from pileup.record.merge import merge
    from pileup.record.reading import reading
    from pileup.run.finish import finish
    from pileup.run.start import runs_path

    if len(runs) < 2:
        raise UsageError("there is one run alone", "two or more runs of one suite", "pileup merge RUN RUN --out DIR")
    base = runs_path(out, environment())
    folders = [RunFolder.open(run) for run in runs]
    with working("merging"), reading(base):
        made, run = merge(folders, base)
        finish(made, run)
    echo(made.path)
