"""pileup report: write a report of a run, made again from its record."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pileup.cli.arguments import RUN
from pileup.cli.command import Command
from pileup.cli.common import print_files
from pileup.cli.working import working

if TYPE_CHECKING:
    from pileup.plugin import Report

STDOUT = Path("-")
AGAIN = "fix the file and run the command again"


@click.command(
    "report",
    cls=Command,
    examples=[
        ("the page again", "pileup report RUN"),
        ("results for a CI system", "pileup report RUN --to junit --out results.xml"),
    ],
    page="reports.md",
)
@click.argument("run", type=RUN)
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
@click.option("--json", "as_json", is_flag=True, help="Print the name of the file as one JSON object.")
def command(run: Path, kind: str, out: Path | None, as_json: bool) -> None:
    """Write a report of a run.

    RUN is a run folder, also of a run that goes on or has crashed. Prints the name of the file.
    """
    from pileup.cli.reading import read_results
    from pileup.model.errors import PluginError, UsageError
    from pileup.plugin import registry
    from pileup.plugin.report import rendered
    from pileup.record import RunFolder
    from pileup.record.reading import reading

    if as_json and out == STDOUT:
        raise UsageError("--json where the report itself goes to stdout", "--out FILE", "the run folder is the default")
    report = made(registry.load("reports", kind), kind)
    folder = RunFolder.open(run)
    with working("making the report"), reading(run):
        found, outputs = read_results(folder), folder.outputs()
        shipped = type(report).__module__.startswith("pileup.")
        data = report.render(found, outputs) if shipped else b""  # what it cannot do is of the record
    if not shipped:
        try:
            data = rendered(report, found, outputs)
        except PluginError as problem:
            told = f"report {kind.rpartition(':')[2]} failed: {problem.what}"
            raise PluginError(told, problem.expected or "bytes", AGAIN) from problem
    if out == STDOUT:
        sys.stdout.buffer.write(data)
    elif out is None:
        folder.write_report(report.file_name, data)
        print_files([folder.path / report.file_name], as_json)
    else:
        print_files([write(out / report.file_name if out.is_dir() else out, data)], as_json)


def made(cls: type[Report], kind: str) -> Report:
    """Return a report with its defaults. Raises UsageError when an option has none."""
    from pileup.model.errors import UsageError

    try:
        return cls()
    except ValueError as problem:
        told = f"report {kind!r} has options without a default"
        hint = f"a suite gives them: `reports: [{{use: {kind}, …}}]`"
        raise UsageError(told, "a report that is complete without options", hint) from problem


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
