"""The results of a run as plain tables: of an export, of Python; beside operations, frames and samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pileup.model.figures import Distribution, Figure
from pileup.model.journal import EventEntry
from pileup.model.record import NOT_PASSED, OF_DUE
from pileup.model.results import (
    CaseResult,
    Comparison,
    CriterionResult,
    Difference,
    Equivalence,
    OperationResult,
    PointVerdict,
    RunResults,
)

TEXT, NUMBER, WHOLE, YES = "VARCHAR", "DOUBLE", "BIGINT", "BOOLEAN"
KINDS = ("response", "service")
TIMELINE = ("started", "passed", "not_passed", "missed", "bandwidth", "p50", "p90", "p99", "late", "latest")
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """One table: its columns with their types in DuckDB, and its rows. Times in ns since the epoch, durations in ns."""

    name: str
    columns: dict[str, str]
    rows: Iterable[Row]


def tables(results: RunResults, happened: Iterable[EventEntry]) -> Iterator[Table]:
    """Yield all tables, empty ones too. `happened` are the events of the record, of which results hold only a part."""
    makers: tuple[Callable[[RunResults], Table], ...] = (
        _cases, _figures, _quantiles, _histograms, _spectrum, _timeline, _detached, _errors, _criteria, _points,
        _repeats, _differences, _effects, _matrix, _matrix_targets, _faults, _equivalences, _round_trips,
        _served, _joined, _one_sided, _labels,
    )  # fmt: skip
    for make in makers:
        yield make(results)
    yield _events(happened)


def _labels(results: RunResults) -> Table:
    columns = dict.fromkeys(("case", "operation", "label", "value"), TEXT) | {"passed": WHOLE, "not_passed": WHOLE}
    columns |= {"rate": NUMBER, "throughput": NUMBER} | _with_ends("mean") | {"deviation": NUMBER}
    columns |= _with_ends("p50", "p90", "p99", "apart")
    rows = (
        (
            *(case.name, each.operation, by.label, value.value),
            *(value.counts.passed, value.counts.ended - value.counts.passed),
            *(value.rate.value, value.throughput.value, *_interval(value.mean), value.deviation),
            *(end for share in (0.5, 0.9, 0.99) for end in _interval(value.quantiles.get(share))),
            *_interval(value.apart),
        )
        for case, each in _operations(results)
        for by in each.breakdowns
        for value in by.values
    )
    return Table("labels", columns, rows)


def _faults(results: RunResults) -> Table:
    figures = ("recovery", "jobs_again", *NOT_PASSED)
    figures += ("jobs_lost", "lost_share")
    columns = dict.fromkeys(("fault", "says", "test", "point"), TEXT) | {"times": WHOLE, "never": WHOLE}
    rows = (
        (*head, *(value for name in figures for value in _interval(getattr(each, name))))
        for each in results.faults
        for head in ((each.fault, each.says, each.test, each.point, each.times, each.never),)
    )
    return Table("faults", columns | _with_ends(*figures), rows)


def _equivalences(results: RunResults) -> Table:
    columns = dict.fromkeys(("tests", "verdict", "reason", "test", "point"), TEXT) | _with_ends("times") | {"n": WHOLE}
    columns |= {"calls": NUMBER, "bytes": NUMBER}

    def rows(each: Equivalence) -> Iterator[Row]:
        head = (", ".join(each.tests), each.verdict, each.reason)
        for one in each.ratios:
            yield (*head, one.test, one.point, *_interval(one.figure), one.figure.n, one.calls, one.bytes)
        if not each.ratios:
            yield (*head, "", "", None, None, None, 0, None, None)

    return Table("equivalences", columns, (row for each in results.equivalences for row in rows(each)))


def _round_trips(results: RunResults) -> Table:
    columns = dict.fromkeys(("test", "point"), TEXT) | _with_ends("k") | {"n": WHOLE, "requests": NUMBER}
    columns |= _with_ends("explained", "ratio")
    rows = (
        (
            *(one.test, one.point, *_interval(one.figure), one.figure.n, one.requests),
            *(*_interval(one.explained), *_interval(one.ratio)),
        )
        for each in results.equivalences
        for one in each.round_trips
    )
    return Table("round_trips", columns, rows)


def _matrix(results: RunResults) -> Table:
    columns = dict.fromkeys(("test", "place", "target"), TEXT) | {"round_trip": WHOLE, "passed": WHOLE, "share": NUMBER}
    columns |= {"mean": NUMBER, "deviation": NUMBER} | _with_ends("p50") | dict.fromkeys(("p25", "p75"), NUMBER)
    columns |= {"longest": WHOLE, "outliers": WHOLE, "expected": NUMBER, "flags": TEXT}
    columns |= {"left_out": WHOLE}
    rows = (
        (
            *(matrix.test, each.place, each.target, each.round_trip, each.passed, each.not_passed),
            *(each.mean, each.deviation, *_interval(each.median), *(each.quartiles or (None, None))),
            *(each.largest, each.outliers, each.expected, ", ".join(each.flags), each.left_out),
        )
        for matrix in results.matrices
        for each in matrix.cells
    )
    return Table("matrix", columns, rows)


def _matrix_targets(results: RunResults) -> Table:
    columns = {"test": TEXT, "target": TEXT} | _with_ends("k", "c") | {"slow": YES}
    rows = (
        (matrix.test, each.target, *_interval(each.k), *_interval(each.c), each.slow)
        for matrix in results.matrices
        for each in matrix.servers
    )
    return Table("matrix_targets", columns, rows)


def _axes(results: RunResults, others: Iterable[str]) -> dict[str, str]:
    """Return the axes of the scan with their columns; `point.NAME` where another has its name (case does not count)."""
    taken, found = {each.lower() for each in others}, {}
    for axis in results.points[0].values if results.points else ():
        found[axis] = f"point.{axis}" if axis.lower() in taken else axis
        taken.add(found[axis].lower())
    return found


def _interval(figure: Figure | None) -> Row:
    """Return value and both ends of its interval."""
    if figure is None:
        return None, None, None
    ends = (figure.interval.low, figure.interval.high) if figure.interval else (None, None)
    return figure.value, *ends


def _with_ends(*names: str) -> dict[str, str]:
    return {each: NUMBER for name in names for each in (name, f"{name}_low", f"{name}_high")}


def _cases(results: RunResults) -> Table:
    texts = dict.fromkeys(("name", "test", "use", "target", "load", "outcome", "reason", "notes"), TEXT)
    columns = {"id": WHOLE, **texts, "started": WHOLE, "ended": WHOLE, "repeat": WHOLE, "loop": WHOLE, "visit": WHOLE}
    columns |= {"role": YES, "stdout": TEXT, "stderr": TEXT}
    axes = _axes(results, columns)
    columns |= dict.fromkeys(axes.values(), TEXT)

    def row(case: CaseResult) -> Row:
        told = (case.id, case.name, case.test, case.use, case.target, case.load, str(case.outcome), case.reason)
        when = ("; ".join(case.notes), case.started, case.ended, case.repeat, case.loop, case.visit, case.role)
        return (*told, *when, case.stdout, case.stderr, *(case.point.get(axis) for axis in axes))

    return Table("cases", columns, map(row, results.cases))


def _operations(results: RunResults) -> Iterator[tuple[CaseResult, OperationResult]]:
    return ((case, each) for case in results.cases for each in case.operations)


def _figures(results: RunResults) -> Table:
    columns = {"case": TEXT, "operation": TEXT, "iteration": YES, "detached": YES} | dict.fromkeys(OF_DUE, WHOLE)
    columns |= {"cancelled": WHOLE, "seconds": NUMBER, "bytes": WHOLE, "calls": WHOLE, "repeated": WHOLE}
    columns |= _with_ends("rate", "throughput")
    for kind in KINDS:
        columns |= _with_ends(f"{kind}_mean") | {
            f"{kind}_{name}": NUMBER for name in ("smallest", "largest", "deviation")
        }

    def row(case: CaseResult, each: OperationResult) -> Row:
        counts = (getattr(each.counts, name) for name in OF_DUE)
        spans = [getattr(each, kind) for kind in KINDS]
        times = (value for found in spans for value in _durations(found))
        what = (case.name, each.operation, each.iteration, each.detached)
        head = (*what, *counts, each.cancelled, each.seconds, each.bytes, each.calls, each.repeated)
        return (*head, *_interval(each.rate), *_interval(each.throughput), *times)

    return Table("figures", columns, (row(*each) for each in _operations(results)))


def _durations(found: Distribution | None) -> Row:
    """Return the mean of durations with both ends of its interval, the smallest, the largest, standard deviation."""
    if found is None:
        return (None,) * 6
    mean = Figure(found.mean, "time", found.mean_interval, found.n)
    return (*_interval(mean), found.smallest, found.largest, found.deviation)


def _quantiles(results: RunResults) -> Table:
    columns = {"case": TEXT, "operation": TEXT, "kind": TEXT, "share": NUMBER} | _with_ends("value")
    rows = (
        (case.name, each.operation, kind, share, *_interval(figure), figure.above, figure.n, figure.note)
        for case, each in _operations(results)
        for kind, quantiles in _kinds(each)
        for share, figure in quantiles.items()
    )
    return Table("quantiles", columns | {"above": NUMBER, "n": WHOLE, "note": TEXT}, rows)


def _kinds(each: OperationResult) -> Iterator[tuple[str, dict[float, Figure]]]:
    yield "response", each.quantiles
    yield "service", each.service_quantiles
    yield "passed_response", each.response.quantiles if each.response else {}
    yield "passed_service", each.service.quantiles if each.service else {}


def _histograms(results: RunResults) -> Table:
    columns = {"case": TEXT, "operation": TEXT, "kind": TEXT, "low": NUMBER, "high": NUMBER, "count": WHOLE}
    rows = (
        (case.name, each.operation, kind, low, high, count)
        for case, each in _operations(results)
        for kind in KINDS
        if (found := getattr(each, kind)) is not None
        for (low, high), count in zip(pairwise(found.edges), found.counts, strict=True)
    )
    return Table("histograms", columns, rows)


def _spectrum(results: RunResults) -> Table:
    columns = {"case": TEXT, "operation": TEXT, "kind": TEXT, "value": NUMBER, "share": NUMBER, "count": WHOLE}
    rows = (
        (case.name, each.operation, kind, value, share, round(share * found.n))
        for case, each in _operations(results)
        for kind in KINDS
        if (found := getattr(each, kind)) is not None
        for value, share in found.ecdf
    )
    return Table("spectrum", columns, rows)


def _timeline(results: RunResults) -> Table:
    columns = {"case": TEXT, "time": WHOLE, "seconds": NUMBER, "phase": WHOLE, "in_flight": WHOLE, "clients": WHOLE}
    columns = {**columns, **dict.fromkeys(TIMELINE, NUMBER)}
    names = ["times" if name == "time" else name for name in list(columns)[1:]]
    rows = (
        (case.name, *row)
        for case in results.cases
        if (line := case.timeline) is not None
        for row in zip(*(getattr(line, name) for name in names), strict=True)
    )
    return Table("timeline", columns, rows)


def _detached(results: RunResults) -> Table:
    rows = (
        (case.name, line.operation, *row, line.seconds)
        for case in results.cases
        for line in case.detached
        for row in zip(line.times, line.open, line.ended, strict=True)
    )
    columns = {"case": TEXT, "operation": TEXT, **dict.fromkeys(("time", "open", "ended", "seconds"), WHOLE)}
    return Table("detached", columns, rows)


def _errors(results: RunResults) -> Table:
    columns = {"count": WHOLE, "outcome": TEXT, "message": TEXT, "case": TEXT, "operation": TEXT, "first": WHOLE}
    rows = ((e.count, e.outcome, e.message, e.case, e.operation, e.first, e.place) for e in results.errors)
    return Table("errors", columns | {"place": TEXT}, rows)


def _served(results: RunResults) -> Table:
    numbers = ("count", "total", "longest", "waited", "work", "most_work", "bytes")
    rows = ((each.target, each.operation, *(getattr(each, name) for name in numbers)) for each in results.served)
    return Table("served", dict.fromkeys(("target", "operation"), TEXT) | dict.fromkeys(numbers, WHOLE), rows)


def _joined(results: RunResults) -> Table:
    names = ("test", "operation", "target", "monitor")
    counts = ("count", "matched", "requests", "took", "served", "resolution")
    quantiles = ("served_p50", "served_p99", "rest_p50", "rest_p99")
    columns = dict.fromkeys(names, TEXT) | dict.fromkeys(counts, WHOLE) | dict.fromkeys(("share", *quantiles), NUMBER)
    return Table("joined", columns, (tuple(getattr(each, name) for name in columns) for each in results.joined))


def _one_sided(results: RunResults) -> Table:
    columns = dict.fromkeys(("side", "monitor", "name", "outcome"), TEXT) | {"measured": YES}
    columns |= {"count": WHOLE, "first": WHOLE}
    return Table("one_sided", columns, (tuple(getattr(each, name) for name in columns) for each in results.one_sided))


def _criteria(results: RunResults) -> Table:
    columns = dict.fromkeys(("id", "says", "check", "coverage", "point", "verdict"), TEXT) | _with_ends("value")
    columns |= {"dimension": TEXT, "n": WHOLE, "threshold": TEXT, "reason": TEXT, "remark": TEXT}

    def rows(each: CriterionResult) -> Iterator[Row]:
        head = (each.id, each.says, each.check, each.coverage)
        whole = PointVerdict("", each.verdict, each.figure, each.reason)
        for one in (whole, *each.points):
            told = (one.figure.dimension, one.figure.n, each.threshold, one.reason, each.remark)
            yield (*head, one.point, one.verdict, *_interval(one.figure), *told)

    return Table("criteria", columns, (row for each in results.criteria for row in rows(each)))


COMPARED = dict.fromkeys(("test", "operation", "metric", "dimension"), TEXT)
GAPS = {
    **_with_ends("difference", "relative"),
    "pairs": WHOLE,
    "p": NUMBER,
    "p_adjusted": NUMBER,
    "verdict": TEXT,
}


def _compared(each: Comparison) -> Row:
    return each.test, each.operation, each.metric, each.dimension


def _gap(found: Difference | None) -> Row:
    if found is None:
        return (None,) * len(GAPS)
    ends = (*_interval(found.difference), *_interval(found.relative))
    return (*ends, found.difference.n, found.p, found.adjusted, found.verdict)


def _points(results: RunResults) -> Table:
    figures = {**_with_ends("mean"), "repeats": WHOLE}
    axes = _axes(results, {**COMPARED, "point": TEXT, **figures})
    columns = {**COMPARED, "point": TEXT, **dict.fromkeys(axes.values(), TEXT), **figures}
    named = {point.number: point for point in results.points}
    rows = (
        (
            *_compared(each),
            named[one.point].name,
            *named[one.point].values.values(),
            *_interval(one.figure),
            one.figure.n,
        )
        for each in results.comparisons
        for one in each.points
    )
    return Table("points", columns, rows)


def _repeats(results: RunResults) -> Table:
    names = {point.number: point.name for point in results.points}
    rows = (
        (*_compared(each), names[one.point], repeat, value)
        for each in results.comparisons
        for one in each.points
        for repeat, value in zip(each.repeats, one.repeats, strict=True)
    )
    return Table("repeats", {**COMPARED, "point": TEXT, "repeat": TEXT, "value": NUMBER}, rows)


def _differences(results: RunResults) -> Table:
    names = {point.number: point.name for point in results.points}
    rows = (
        (*_compared(each), names[one.point], names[0], *_gap(one))
        for each in results.comparisons
        for one in each.differences
    )
    return Table("differences", {**COMPARED, "point": TEXT, "baseline": TEXT, **GAPS}, rows)


def _effects(results: RunResults) -> Table:
    rows = (
        (*_compared(each), one.axis, one.value, *_interval(one.figure), *_gap(one.difference))
        for each in results.comparisons
        for one in each.effects
    )
    return Table("effects", {**COMPARED, "axis": TEXT, "value": TEXT, **_with_ends("mean"), **GAPS}, rows)


def _events(happened: Iterable[EventEntry]) -> Table:
    columns = {"number": WHOLE, "time": WHOLE, "kind": TEXT, "text": TEXT, "begin": WHOLE, "end": WHOLE}
    texts = ("target", "place", "case", "visit", "state", "outcome")
    rows = (
        (*map(each.words.get, columns), *(None if (v := each.words.get(name)) is None else str(v) for name in texts))
        for each in happened
    )
    return Table("events", columns | dict.fromkeys(texts, TEXT), rows)
