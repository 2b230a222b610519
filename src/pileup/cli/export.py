"""pileup export: the record and its figures as files for other programs."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pileup.model.errors import UsageError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from pileup.model.record import Frame
    from pileup.model.results import RunResults
    from pileup.record import RunFolder

FRAME = ("time", "nanoseconds", "place", "case", "phase", "started", "missed", "in_flight", "clients", "cpu")
COUNTERS = ("passed", "failed", "refused", "ambiguous", "unfinished", "lost", "bytes", "calls")
QUANTILES = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99))
FRAME_COLUMNS = (*FRAME, "operation", "iteration", "row_phase", *COUNTERS, *(name for name, _ in QUANTILES))
SAMPLE_COLUMNS = ("time", "monitor", "metric", "labels", "value", "unit", "host")


@click.command("export")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--to", "form", type=click.Choice(["csv", "parquet", "json"]), required=True, help="Format of the files.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder for the files.")
def command(run: Path, form: str, out: Path) -> None:
    """Write operations, frames (per second), samples and results of a run folder as files into a folder."""
    from pileup.record import RunFolder
    from pileup.stats import results

    folder = RunFolder.open(run)
    found = results(folder)
    try:
        out.mkdir(parents=True, exist_ok=True)
        for path in write_all(folder, found, form, out):
            click.echo(path)
    except OSError as problem:
        raise UsageError(f"{out} cannot be written: {problem.strerror}", "a folder you may write to") from problem


def write_all(folder: RunFolder, results: RunResults, form: str, out: Path) -> Iterator[Path]:
    """Write all files and yield each when it is complete. Times are ns since the epoch."""
    from pileup.stats import to_json

    yield _whole(out / "results.json", lambda path: path.write_text(json.dumps(to_json(results), indent=1)))
    with folder.operations().connect() as connection:
        yield _table(connection, "operations", form, out)
        _load(connection, "frames", FRAME_COLUMNS, _frame_rows(folder.frames()), out)
        yield _table(connection, "frames", form, out)
        _load(connection, "samples", SAMPLE_COLUMNS, _sample_rows(folder), out)
        yield _table(connection, "samples", form, out)


def _whole(path: Path, write: Callable[[Path], object]) -> Path:
    """Write a file beside its place and move it there: what stands in the folder is complete."""
    part = path.with_name(f".{path.name}.part")
    write(part)
    part.replace(path)
    return path


def _table(connection: DuckDBPyConnection, name: str, form: str, out: Path) -> Path:
    options = {
        "csv": "FORMAT csv, HEADER true",
        "parquet": "FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd",
        "json": "FORMAT json, ARRAY true",
    }

    def write(part: Path) -> None:
        text = str(part).replace("'", "''")
        connection.execute(f"COPY (SELECT * FROM {name}) TO '{text}' ({options[form]})")  # noqa: S608  our own names

    return _whole(out / f"{name}.{form}", write)


def _load(
    connection: DuckDBPyConnection, name: str, columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]], out: Path
) -> None:
    """Make a table out of rows by way of a CSV file: bounded in memory, and DuckDB finds the types."""
    passing = out / f".{name}.rows.part"
    with passing.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)
    types = ", ".join(f"'{column}': '{TYPES.get(column, 'BIGINT')}'" for column in columns)
    source = str(passing).replace("'", "''")
    query = (
        f"CREATE TABLE {name} AS SELECT * FROM read_csv('{source}', header = true, quote = '\"', columns = {{{types}}})"  # noqa: S608
    )
    connection.execute(query)
    passing.unlink()


TYPES = {
    "operation": "VARCHAR",
    "iteration": "BOOLEAN",
    "missed": "UBIGINT",
    "monitor": "VARCHAR",
    "metric": "VARCHAR",
    "labels": "VARCHAR",
    "unit": "VARCHAR",
    "host": "VARCHAR",
    "value": "DOUBLE",
}


def _frame_rows(frames: Iterable[Frame]) -> Iterator[tuple[Any, ...]]:
    from pileup.stats import quantiles_of

    for frame in frames:
        head = tuple(getattr(frame, name) for name in FRAME)
        for row in frame.rows:
            counters = tuple(getattr(row, name) for name in COUNTERS)
            shares = quantiles_of(row.response, [share for _, share in QUANTILES])
            yield (*head, row.operation, row.iteration, row.phase, *counters, *shares)
        if not frame.rows:
            yield (*head, "", False, frame.phase, *(0 for _ in COUNTERS), *(None for _ in QUANTILES))


def _sample_rows(folder: RunFolder) -> Iterator[tuple[Any, ...]]:
    for row in folder.samples():
        sample = row.sample
        yield (row.time, row.monitor, sample.metric, sample.labels, sample.value, sample.unit, row.host)
