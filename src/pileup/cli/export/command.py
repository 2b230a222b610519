"""pileup export: the record and its figures as files for other programs, its charts as pictures."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pileup.cli.arguments import RUN
from pileup.cli.command import Command, OneOf
from pileup.cli.common import print_files
from pileup.cli.working import working
from pileup.model.errors import UsageError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from pileup.cli.export.duckdb_table import DuckTable
    from pileup.model.results import RunResults
    from pileup.plugin import Exporter
    from pileup.record import RunFolder


@click.command(
    "export",
    cls=Command,
    examples=[
        ("every table as CSV", "pileup export RUN --to csv --out tables"),
        ("the charts as pictures", "pileup export RUN --charts svg --out charts"),
    ],
    page="exports.md",
)
@click.argument("run", type=RUN)
@click.option(
    "--to",
    "form",
    metavar="NAME",
    help="Format of the tables: csv, parquet, json, root, hgrm or another of `pileup list exporters`.",
)
@click.option("--charts", type=OneOf(["svg", "png"]), help="Write each chart of the report as a picture.")
@click.option(
    "--chart",
    "names",
    multiple=True,
    metavar="NAME",
    help="With --charts: only this one of `pileup list charts`, or ./file.py:Class. May be given several times.",
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder for the files.")
@click.option("--json", "as_json", is_flag=True, help="Print the names of the files as one JSON object.")
def command(run: Path, form: str | None, charts: str | None, names: tuple[str, ...], out: Path, as_json: bool) -> None:
    """Write tables and charts of a run as files.

    Tables: operations, frames (per second), samples, events; cases, figures, quantiles, histograms, spectrum, timeline,
    detached, errors, criteria, equivalences, round_trips; of batch systems jobs, job_reasons, audits, claims, findings;
    of a scan points, repeats, differences, effects, matrix, matrix_targets. Times are ns since the epoch.
    """
    from pileup.cli.reading import read_results
    from pileup.plugin import registry
    from pileup.record import RunFolder
    from pileup.record.reading import reading

    if form is None and charts is None:
        raise UsageError("nothing says what to write", "--to csv, or --charts svg, or both", "pileup export --help")
    if names and charts is None:
        raise UsageError("--chart without --charts", "--charts svg or --charts png beside it", "pileup export --help")
    known = [*registry.names("charts"), "all"]
    for name in names:
        if name not in known and ".py:" not in name:
            raise UsageError(f"--chart: there is no chart {name!r}", f"one of {', '.join(known)}", "or ./file.py:Class")
    folder = RunFolder.open(run)
    exporter: Exporter | None = registry.load("exporters", form)() if form else None
    try:
        with working("exporting"), reading(run):
            found = read_results(folder)
            out.mkdir(parents=True, exist_ok=True)
            written = write_all(folder, found, exporter, out) if exporter else ()
            drawn = write_charts(found, charts, names, out / "charts") if charts else ()
            print_files(chain(written, drawn), as_json)
    except OSError as problem:
        raise UsageError(
            f"{out} cannot be written: {problem.strerror}", "a folder you may write to", "--out DIR"
        ) from problem


def write_charts(results: RunResults, form: str, names: tuple[str, ...], out: Path) -> Iterator[Path]:
    """Write charts of the report for people as pictures, `form` "svg" or "png", and yield each; no names: all."""
    from pileup.plugin import Report, registry

    cls: type[Report] = registry.load("reports", "html")
    report = cls(charts=list(names)) if names else cls()
    out.mkdir(parents=True, exist_ok=True)
    for name, data in report.charts(results, form):
        path = out / name
        path.write_bytes(data)
        yield path


def write_all(folder: RunFolder, results: RunResults, exporter: Exporter, out: Path) -> Iterator[Path]:
    """Write all tables and yield each when it is complete. Times are ns since the epoch."""
    from pileup.stats import job_tables, record_tables, to_json
    from pileup.stats.table_rows import load
    from pileup.stats.tables import tables

    def wanted(name: str) -> bool:
        return not exporter.tables or name in exporter.tables

    yield _whole(out / "results.json", lambda path: path.write_text(json.dumps(to_json(results), indent=1)))
    with folder.operations().connect() as connection:
        connection.execute("CREATE OR REPLACE VIEW operations AS SELECT * EXCLUDE (cause) FROM caused")
        if wanted("operations"):
            yield from _write(connection, "operations", exporter, out)
        for table in (
            record_tables.frames(folder),
            record_tables.samples(folder),
            *tables(results, folder.events()),
            *job_tables.tables(folder, results),
        ):
            if wanted(table.name):
                load(connection, table, out)
                yield from _write(connection, table.name, exporter, out)
                connection.execute(f"DROP TABLE {table.name}")


def _whole(path: Path, write: Callable[[Path], object]) -> Path:
    """Write a file beside its place and move it there: what is in the folder is complete."""
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    write(part)
    part.replace(path)
    return path


def _write(connection: DuckDBPyConnection, name: str, exporter: Exporter, out: Path) -> Iterator[Path]:
    """Write a table, as one file or as a file for each part that the exporter wants apart."""
    from pileup.cli.export.duckdb_table import DuckTable, parts

    suffix = exporter.suffix or exporter.name
    if not exporter.split:
        yield _whole(out / f"{name}.{suffix}", _writer(DuckTable(connection, name), exporter))
        return
    taken: set[str] = set()
    for words, table in parts(connection, name, exporter.split):
        yield _whole(out / f"{_file_name(words, taken)}.{suffix}", _writer(table, exporter))


def _file_name(words: tuple[str, ...], taken: set[str]) -> str:
    """Return a name made of words, none of `taken`, to which it is added; no word is in it twice."""
    base = re.sub(r"[^\w.,=+-]+", "_", ".".join(dict.fromkeys(filter(None, words)))) or "all"
    numbered = chain([base], (f"{base}-{number}" for number in count(2)))
    name = next(each for each in numbered if each not in taken)
    taken.add(name)
    return name


def _writer(table: DuckTable, exporter: Exporter) -> Callable[[Path], None]:
    import duckdb

    from pileup.model.errors import PileupError, PluginError

    def write(part: Path) -> None:
        try:
            exporter.write(table, part)
        except (OSError, PileupError, duckdb.Error):
            raise
        except Exception as problem:  # of somebody's package
            told = f"exporter {exporter.name!r} fails at table {table.name!r}: {type(problem).__name__}: {problem}"
            raise PluginError(told, "an exporter that takes every table") from problem

    return write
