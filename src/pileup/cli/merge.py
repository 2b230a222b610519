"""pileup merge: several runs of one suite in one record, as repeats or as places."""

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
    from pileup.record import RunFolder


@click.command(
    "merge",
    cls=Command,
    examples=[
        ("three nights as one run", "pileup merge runs/monday runs/tuesday runs/wednesday"),
        ("runs from two hosts as places", "pileup merge runs/a runs/b --places geneva,taipei"),
        ("into another folder", "pileup merge runs/monday runs/tuesday --out pooled"),
    ],
    page="merge.md",
)
@click.argument("runs", nargs=-1, required=True, type=RUN, metavar="RUN RUN...")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the new run folder.  [default: $PILEUP_RUNS]")
@click.option(
    "--places",
    metavar="NAME,NAME...",
    help="The runs are of different places, with these names, in their order; hosts: each after its host.",
)
@click.option(
    "--differs",
    multiple=True,
    metavar="SETTING",
    help="A setting (--set) in which places may differ, besides urls, paths and credentials of targets, places, labels "
    "and about; * stands for any part. May be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the name of the folder as one JSON object.")
def command(
    runs: tuple[Path, ...], out: Path | None, places: str | None, differs: tuple[str, ...], as_json: bool
) -> None:
    """Pool runs of one suite as repeats, or as places.

    They become one new run folder. Its figures are those of all rows; cases are numbered, copy#1, copy#2, or with
    --places are those of an axis `place`. Prints the name of the folder.
    """
    from pileup.record import RunFolder
    from pileup.record.merge import merge
    from pileup.record.merge_places import AsPlaces
    from pileup.record.reading import reading
    from pileup.run.finish import finish
    from pileup.run.start import runs_path

    if len(runs) < 2:
        raise UsageError("there is one run alone", "two or more runs of one suite", "pileup merge RUN RUN --out DIR")
    if differs and places is None:
        raise UsageError("--differs without --places", "settings that differ between places", "add --places NAME,NAME")
    base = runs_path(out, environment())
    folders = [RunFolder.open(run) for run in runs]
    apart = None if places is None else AsPlaces(_names(places, folders), differs)
    with working("merging"), reading(base):
        made, run = merge(folders, base, apart)
        finish(made, run)
    told: MergedData = {"folder": str(made.path), "runs": [str(run) for run in runs]}
    echo(json.dumps(told, indent=2) if as_json else made.path)


def _names(places: str, folders: list[RunFolder]) -> tuple[str, ...]:
    """Return the names of the places as given, or those of the hosts of the runs."""
    if places != "hosts":
        return tuple(name.strip() for name in places.split(","))
    return tuple(next((host.name for host in folder.manifest().hosts), "") for folder in folders)
