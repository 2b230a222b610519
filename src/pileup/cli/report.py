"""pileup report: write a report of a run, made anew from its record."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pileup.cli.messages import echo


@click.command("report")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--to",
    "kind",
    default="html",
    show_default=True,
    metavar="NAME",
    help="html, junit, json, xml, or another of `pileup list reports`.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="File or folder to write to; - for stdout.  [default: the run folder]",
)
def command(run: Path, kind: str, out: Path | None) -> None:
    """Write a report of the run in folder RUN, also of one that goes on or has crashed.

    Prints the name of the file.
    """
    from pileup.cli.reading import reading
    from pileup.plugin import Report, registry
    from pileup.record import RunFolder
    from pileup.stats import results

    cls: type[Report] = registry.load("reports", kind)
    folder = RunFolder.open(run)
    with reading(run):
        data = cls().render(results(folder), folder.outputs())
    if out == Path("-"):
        sys.stdout.buffer.write(data)
    elif out is None:
        folder.write_report(cls.file_name, data)
        echo(folder.path / cls.file_name)
    else:
        echo(write(out / cls.file_name if out.is_dir() else out, data))


def write(path: Path, data: bytes) -> Path:
    """Write a file. Raises UsageError when that cannot be done."""
    from pileup.model.errors import UsageError

    try:
        path.write_bytes(data)
    except OSError as problem:
        raise UsageError(
            f"{path} cannot be written: {problem.strerror}", "a file in a folder you may write to", "--out FILE"
        ) from problem
    return path
