"""pileup model: what another setting would give, from a queueing model fitted to a record."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pileup.cli.arguments import RUN
from pileup.cli.command import Command
from pileup.cli.messages import echo
from pileup.cli.working import working

if TYPE_CHECKING:
    from pileup.cli.data import Modelled
    from pileup.model.errors import NotARun
    from pileup.stats.queueing import History, Prediction, System


@click.command(
    "model",
    cls=Command,
    examples=[
        ("what would 3 and 10 transfers at a time give?", "pileup model RUN --limit 3 --limit 10"),
        ("and with twice the drives?", "pileup model RUN --limit 5 --drives 20"),
    ],
    page="model.md",
)
@click.argument("runs", type=RUN, nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--limit",
    "limits",
    type=click.IntRange(1, 100_000),
    multiple=True,
    required=True,
    help="Requests that a stager hands to the tape library at a time, to be predicted; several times.",
)
@click.option("--drives", type=click.IntRange(1, 100_000), help="Drives of the library  [default: those recorded].")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the model.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: times in ns.")
def command(runs: tuple[Path, ...], limits: tuple[int, ...], drives: int | None, seed: int, as_json: bool) -> None:
    """Predict another setting from a record.

    A queueing model is fitted to the files of tape projects in RUN (test tape.project): drives and their times, the
    order in which they serve, projects and their work, and the limit of transfers of each stager, all as recorded. It
    is run 100 times at each --limit. Limits that were recorded are left out of the fit and shown beside, as a check.

    Exit codes: 0 predicted, 2 no such files in the record, 8 the record cannot carry a prediction; the reason is shown.
    """
    from pileup.record import RunFolder
    from pileup.record.reading import reading
    from pileup.stats.queueing import fit, histories, predict

    found: list[History] = []
    with working("reading the record"):
        for run in runs:
            with reading(run):
                found += histories(RunFolder.open(run))
    known = [each for each in found if each.limit not in limits]
    if not known:
        raise _nothing(runs, found)
    with working("fitting"):
        system = fit(known)
    with working("predicting"):
        predictions = predict(system, known, list(dict.fromkeys(limits)), drives, seed)
    if as_json:
        echo(json.dumps(_data(system, known, predictions), indent=2))
    else:
        _print(system, found, known, predictions)


def _nothing(runs: Sequence[Path], found: Sequence[History]) -> NotARun:
    """Return why there is nothing to fit a model to."""
    from pileup.model.errors import NotARun

    where = ", ".join(map(str, runs))
    if not found:
        told = f"no files in {where} have waited for a stager and a drive"
        return NotARun(told, "a run of tape.project", "pileup help model")
    there = ", ".join(sorted({_limit(each.limit) for each in found}))
    told = f"every limit in {where} is asked for: {there}"
    return NotARun(told, "a run at another limit, to fit the model to", "pileup help model")


def _data(system: System, known: Sequence[History], predictions: Sequence[Prediction]) -> Modelled:
    """Return what `--json` prints."""
    return {
        "drives": system.drives.number,
        "busy": system.busy,
        "known": [{"case": each.name, "limit": each.limit, "figures": each.figures} for each in known],
        "predictions": [
            {
                "limit": each.limit,
                "drives": each.drives,
                "figures": {name: expected._asdict() for name, expected in each.figures.items()},
            }
            for each in predictions
        ],
    }


def _print(
    system: System, found: Sequence[History], known: Sequence[History], predictions: Sequence[Prediction]
) -> None:
    """Print what the model was made of, and a line for each figure."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from pileup.cli.console import SafeConsole
    from pileup.cli.width import columns
    from pileup.model.units import counted, format_time
    from pileup.stats.queueing import FIGURES

    drives = system.drives
    files = len(drives.change) + (len(drives.same) if drives.same is not drives.change else 0)
    echo(
        f"Fitted to {counted(files, 'file')} at {counted(drives.number, 'drive')}, all of them at work for "
        f"{system.busy:.0%} of the time"
    )
    for name, times in (("another folder", drives.change), ("the same folder", drives.same)):
        mean = sum(each.busy for each in times) / len(times)
        echo(f"  a file of {name} as the one before keeps a drive busy for {format_time(mean)} on the average")
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("limit")
    table.add_column("")
    for title in FIGURES.values():
        table.add_column(title, justify="right")
    for each in sorted(known, key=lambda each: (each.limit is None, each.limit)):
        table.add_row(_limit(each.limit), "measured", *(format_time(each.figures[name]) for name in FIGURES))
    for prediction in predictions:
        shown = [prediction.figures[name] for name in FIGURES]
        table.add_section()
        table.add_row(_limit(prediction.limit), "expected", *(format_time(each.value) for each in shown))
        table.add_row("", "from", *(format_time(each.low) for each in shown))
        table.add_row("", "to", *(format_time(each.high) for each in shown))
        for history in found:
            if history.limit == prediction.limit and prediction.drives == drives.number:
                table.add_row("", "measured", *(format_time(history.figures[name]) for name in FIGURES))
    console = SafeConsole(width=columns(), highlight=False)
    console.print(table)
    echo("From and to are an interval of 95 % for one run. What was measured at a limit that is predicted is not used.")


def _limit(limit: int | None) -> str:
    return "none" if limit is None else str(limit)
