"""A run folder opened from Python: its figures, its rows, its charts, what it says; of one that grows, too."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pileup.api import figures as figure_tables
from pileup.api import html
from pileup.api.comparison import Comparison
from pileup.api.contents import Contents, Tables
from pileup.api.rows import Rows
from pileup.model.errors import UsageError
from pileup.model.exits import ExitCode
from pileup.model.manifest import Manifest
from pileup.model.results import RunResults
from pileup.model.units import counted, format_time, parse
from pileup.model.verdict import RunVerdict
from pileup.record import RunFolder
from pileup.record.reading import reading
from pileup.stats import job_tables, record_tables, results
from pileup.stats.table_rows import load
from pileup.stats.table_units import unit_of
from pileup.stats.tables import KINDS, Table, tables
from pileup.suite.problems import near

if TYPE_CHECKING:
    import altair as alt
    from duckdb import DuckDBPyConnection

    from pileup.plugin import Report

OPERATIONS = "operations"
CHANGED = 0.05
"""Share of the baseline that matters, where nobody says another."""


def open_run(path: str | Path) -> Run:
    """Return the run of a folder: one that has ended, goes on, or was broken off.

    Raises NotARun for what is not a run folder, DamagedRecord for one that cannot be read.
    """
    with reading(Path(path)):
        return Run(RunFolder.open(path))


class Run:
    """A run folder. What it gives is made of the folder when it is asked for, and kept until `refresh`.

    In a notebook a run shows its sentence, criteria, a picture and figures. Times are ns since the epoch, durations ns,
    rates per second, sizes bytes.
    """

    def __init__(self, folder: RunFolder, found: RunResults | None = None) -> None:
        self._folder = folder
        self._found = found

    @property
    def path(self) -> Path:
        """Its folder."""
        return self._folder.path

    @property
    def results(self) -> RunResults:
        """All figures and verdicts, typed, with intervals: what reports are made of. Raises RecordError."""
        if self._found is None:
            with reading(self.path):
                self._found = results(self._folder)
        return self._found

    @property
    def manifest(self) -> Manifest:
        """What run.json says: suite, cases, places, versions, hosts."""
        return self.results.run

    @property
    def title(self) -> str:
        """Title of the suite."""
        return self.manifest.title

    @property
    def verdict(self) -> RunVerdict:
        """The verdict: "passed", "failed", "stopped" or "unknown"."""
        return self.results.verdict

    @property
    def exit_code(self) -> ExitCode:
        """What `pileup run` ends with: 0 passed, 1 a case failed, ...; docs/verdicts.md lists them."""
        return self.results.exit_code

    @property
    def ended(self) -> bool:
        """Whether it has come to its end; False for one that goes on or was broken off."""
        return self.manifest.has_ended

    @property
    def left(self) -> tuple[str, ...]:
        """What is there still of what the run has made or changed, in words: `pileup clean` tries again."""
        from pileup.run.recovery.intents import left_over, staying  # noqa: PLC0415  nobody else needs what runs suites

        with reading(self.path):
            return (*staying(self._folder), *left_over(self._folder))

    def refresh(self) -> Run:
        """Look at the folder again, which may have grown. Return the run itself."""
        self._found = None
        return self

    def figures(self, **where: object) -> Rows:
        """Return the figures of each operation of each case: counts, and rate, throughput, mean and quantiles of
        response times, each with the ends of its interval (`p99`, `p99_low`, `p99_high`).

        A quantile has no value where too few ended, or where what did not pass reaches down to it: then `p99_above`
        says what it is larger than, infinite where there was no answer. `where` names columns: `test="copy"`.
        """
        return self._made(lambda: figure_tables.table(self.results)).where(**where)

    def operations(self, **where: object) -> Rows:
        """Return iterations and operations, a row each, columns as in docs/record.md; none is read before it is asked
        for. `where` names columns: `test="copy", phase="measure", outcome=["failed", "refused"]`.
        """
        return self.sql("SELECT * FROM operations").where(**where)

    def samples(self, **where: object) -> Rows:
        """Return what monitors measured and tests reported: `monitor="node", metric="cpu"`."""
        return self._made(lambda: record_tables.samples(self._folder)).where(**where)

    def frames(self, **where: object) -> Rows:
        """Return what each place counted in each second, for each case and operation."""
        return self._made(lambda: record_tables.frames(self._folder)).where(**where)

    def events(self, **where: object) -> Rows:
        """Return what happened to the run: faults, changed settings, lost places, cases that began and ended."""
        return self.table("events").where(**where)

    def cases(self, **where: object) -> Rows:
        """Return the cases with their outcomes and points of the scan."""
        return self.table("cases").where(**where)

    def criteria(self, **where: object) -> Rows:
        """Return the criteria with figure, threshold and verdict, as a whole (`point=""`) and at each point."""
        return self.table("criteria").where(**where)

    def table(self, name: str) -> Rows:
        """Return a table of `pileup export` by its name: cases, quantiles, histograms, timeline, errors, points, ...

        Raises UsageError for one that there is not.
        """
        known = self.tables
        if name not in known:
            raise UsageError(f"there is no table {name!r}", near(name, known, f"one of {', '.join(known)}"), ".tables")
        if name == OPERATIONS:
            return self.operations()
        return self._made(lambda: self._named(name))

    @property
    def tables(self) -> Tables:
        """All tables by their names, with columns, units and number of rows; docs/exports.md says what is in them."""
        names = (OPERATIONS, *(each.name for each in self._tables()))
        return Tables({name: partial(self._contents, name) for name in names})

    def hist(
        self, case: str, operation: str = "", kind: str = "response"
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return how many of what passed took how long, as numpy.histogram does: counts, and edges in ns, one more;
        no counts where nothing passed.

        `case` is its name, `operation` one inside its iterations, `kind` "response" or "service". The bins are those of
        the report; `table("spectrum")` is finer. Raises UsageError for what there is not.
        """
        found = next((each for each in self.results.cases if each.name == case), None)
        if found is None:
            raise UsageError(f"there is no case {case!r}", near(case, (e.name for e in self.results.cases)), ".cases()")
        chosen = [each for each in found.operations if (each.operation == operation if operation else each.iteration)]
        if operation and not chosen:
            names = (each.operation for each in found.operations)
            raise UsageError(f"{case!r} has no operation {operation!r}", near(operation, names), ".figures()")
        if kind not in KINDS:
            raise UsageError(f"there are no {kind!r} times", " or ".join(map(repr, KINDS)), "response times by default")
        span = getattr(chosen[0], kind) if chosen else None
        counts, edges = (span.counts, span.edges) if span else ((), (0.0,))
        return np.array(counts, np.int64), np.array(edges)

    def sql(self, query: str) -> Rows:
        """Return what a query of DuckDB gives on the view `operations`, or on `caused`, which has the causes too."""
        return Rows(self._operations, query)

    def charts(self, *names: str) -> dict[str, alt.TopLevelMixin]:
        """Return the charts of the report by their names, for altair; `names`: only these of `pileup list charts`.

        Raises PluginError for one that there is not.
        """
        import altair as alt  # noqa: PLC0415  takes a second

        from pileup.plugin import registry  # noqa: PLC0415  nobody else needs plug-ins

        cls: type[Report] = registry.load("reports", "html")
        try:
            report = cls(charts=list(names)) if names else cls()
        except ValueError as problem:
            raise UsageError(
                f"charts({', '.join(map(repr, names))}): {problem}", "", "`pileup list charts`"
            ) from problem
        made = ((name, json.loads(data)) for name, data in report.charts(self.results, "json"))
        kinds = ((name, spec, alt.LayerChart if "layer" in spec else alt.Chart) for name, spec in made)
        return {name.removesuffix(".json"): kind.from_dict(spec, validate=False) for name, spec, kind in kinds}

    def chart(self, name: str) -> alt.TopLevelMixin:
        """Return one chart by its name in `charts()`. Raises UsageError for one that there is not."""
        known = self.charts()
        if name not in known:
            raise UsageError(
                f"there is no chart {name!r}", near(name, known, f"one of {', '.join(known)}"), ".charts()"
            )
        return known[name]

    def compare(self, *others: Run | str | Path, matters: float | str = CHANGED) -> Comparison:
        """Compare other runs with this one as the baseline; `matters` is the smallest share that does: 0.05, "5 %".

        Raises UsageError where they have no test in common that measured anything.
        """
        runs = [other if isinstance(other, Run) else open_run(other) for other in others]
        if not runs:
            raise UsageError("compare() with no other run", "at least one", "run.compare(other)")
        from pileup.stats.compare.runs import compare_runs  # noqa: PLC0415  nobody else compares

        smallest = parse(matters, "fraction") if isinstance(matters, str) else matters
        found = compare_runs([self.results], [[each.results] for each in runs], float(smallest))
        for against in found.against:
            if not against.contrasts:
                told = f"{found.baseline.name} and {against.candidate.name} have no test in common"
                raise UsageError(told, "runs of the same suite, or of suites with tests of the same names", ".cases()")
        return Comparison(found)

    def __repr__(self) -> str:
        run, cases = self.manifest, counted(len(self.results.cases), "case")
        took = f"in {format_time(run.ended - run.started)}" if run.ended is not None else "not ended"
        return f"<Run of pileup: {self.title!r} {self.verdict}, {took}, {cases}, {self.path}>"

    def _repr_html_(self) -> str:
        return html.run(self.results)

    def _tables(self) -> Iterator[Table]:
        yield record_tables.frames(self._folder)
        yield record_tables.samples(self._folder)
        with reading(self.path):
            yield from tables(self.results, self._folder.events())
            yield from job_tables.tables(self._folder, self.results)

    def _named(self, name: str) -> Table:
        return next(each for each in self._tables() if each.name == name)

    def _contents(self, name: str) -> Contents:
        if name == OPERATIONS:
            columns, rows = self.operations().columns, len(self.operations())
        else:
            with reading(self.path):
                table = self._named(name)
                columns, rows = table.columns, sum(1 for _ in table.rows)
        return Contents(columns, {each: unit for each in columns if (unit := unit_of(name, each))}, rows)

    @contextmanager
    def _operations(self) -> Iterator[DuckDBPyConnection]:
        import duckdb  # noqa: PLC0415  slow to import

        with reading(self.path), self._folder.operations().connect() as connection:
            try:
                yield connection
            except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException) as problem:
                told = str(problem).splitlines()[0]
                hint = "`operations` has the columns of docs/record.md"
                raise UsageError(f"the query cannot be answered: {told}", "SQL as DuckDB knows it", hint) from problem

    def _made(self, make: Callable[[], Table]) -> Rows:
        """Return the rows of a table that is made when it is read."""

        @contextmanager
        def opened() -> Iterator[DuckDBPyConnection]:
            from pileup.record.operations import connect  # noqa: PLC0415  duckdb

            with reading(self.path), tempfile.TemporaryDirectory(prefix="pileup-") as folder, connect() as connection:
                load(connection, Table("made", (table := make()).columns, table.rows), Path(folder))
                yield connection

        return Rows(opened, "SELECT * FROM made")
