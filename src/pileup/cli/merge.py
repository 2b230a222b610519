"""pileup merge: several runs of one suite as repeats in one record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pileup.cli.arguments import RUN
from pileup.cli.command import Command
from pileup.cli.config import environment
from pileup.cli.messages import echo
from pileup.cli.working import working
from pileup.model.errors import UsageError

if TYPE_CHECKING:
    from pileup.cli.data import MergedData


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
@click.option("--json", "as_json", is_flag=True, help="Print the name of the folder as one JSON object.")
def command(runs: tuple[Path, ...], out: Path | None, as_json: bool) -> None:
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
    told: MergedData = {"folder": str(made.path), "runs": [str(run) for run in runs]}
    echo(json.dumps(told, indent=2) if as_json else made.path)
