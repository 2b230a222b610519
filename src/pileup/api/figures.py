"""The figures of a run as one wide table: a row for each operation of each case, each figure with its interval."""

from __future__ import annotations

from collections.abc import Iterator

from pileup.model.figures import Figure
from pileup.model.record import OF_DUE
from pileup.model.results import CaseResult, OperationResult, RunResults
from pileup.stats.tables import NUMBER, TEXT, WHOLE, YES, Row, Table

SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99_9": 0.999}
FIGURES = ("rate", "throughput", "not_passed", "mean", *SHARES)
NOTHING = Figure(None)


def table(results: RunResults) -> Table:
    """Return the figures; response times are over all that was due, their mean over what passed."""
    axes = list(results.points[0].values) if results.points else []
    columns = dict.fromkeys(("case", "test", "operation"), TEXT) | {"iteration": YES, "detached": YES}
    columns |= dict.fromkeys(axes, TEXT) | {"repeat": WHOLE, "outcome": TEXT}
    columns |= dict.fromkeys(OF_DUE, WHOLE) | {"seconds": NUMBER, "bytes": WHOLE, "calls": WHOLE}
    for name in FIGURES:
        columns |= dict.fromkeys((name, f"{name}_low", f"{name}_high"), NUMBER)
    columns |= {f"{name}_above": NUMBER for name in SHARES}
    rows = (_row(case, each, axes) for case in results.cases for each in case.operations)
    return Table("figures", columns, rows)


def _row(case: CaseResult, each: OperationResult, axes: list[str]) -> Row:
    where = (case.name, case.test, each.operation, each.iteration, each.detached)
    point = (*(case.point.get(axis) for axis in axes), case.repeat, str(case.outcome))
    counts = (*(getattr(each.counts, name) for name in OF_DUE), each.seconds, each.bytes, each.calls)
    quantiles = [each.quantiles.get(share, NOTHING) for share in SHARES.values()]
    figures = (each.rate, each.throughput, each.not_passed, _mean(each), *quantiles)
    return (*where, *point, *counts, *_ends(figures), *(figure.above for figure in quantiles))


def _mean(each: OperationResult) -> Figure:
    found = each.response
    return NOTHING if found is None else Figure(found.mean, "time", found.mean_interval, found.n)


def _ends(figures: tuple[Figure, ...]) -> Iterator[float | None]:
    for figure in figures:
        yield figure.value
        yield figure.interval.low if figure.interval else None
        yield figure.interval.high if figure.interval else None
