"""Frames and samples of a record as plain tables, row by row."""

from __future__ import annotations

from collections.abc import Iterator

from pileup.model.record import OUTCOMES
from pileup.record import RunFolder
from pileup.stats.frames.distribution import quantiles_of
from pileup.stats.tables import Row, Table

FRAME = ("time", "nanoseconds", "place", "case", "phase", "started", "missed", "in_flight", "clients", "cpu")
COUNTERS = (*OUTCOMES, "bytes", "calls")
QUANTILES = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99))
SAMPLE = {"time": "BIGINT", "monitor": "VARCHAR", "metric": "VARCHAR", "labels": "VARCHAR", "value": "DOUBLE"} | {
    "unit": "VARCHAR",
    "host": "VARCHAR",
    "iteration": "BIGINT",
}
FRAMES = {
    **dict.fromkeys(FRAME, "BIGINT"),
    "missed": "UBIGINT",
    "operation": "VARCHAR",
    "iteration": "BOOLEAN",
    **dict.fromkeys(("row_phase", *COUNTERS, *(name for name, _ in QUANTILES)), "BIGINT"),
}


def frames(folder: RunFolder) -> Table:
    """Return what each place counted in each second, for each case and operation."""
    return Table("frames", FRAMES, _frame_rows(folder))


def samples(folder: RunFolder) -> Table:
    """Return what monitors measured and tests reported."""
    return Table("samples", SAMPLE, _sample_rows(folder))


def _frame_rows(folder: RunFolder) -> Iterator[Row]:
    for frame in folder.frames():
        head = tuple(getattr(frame, name) for name in FRAME)
        for row in frame.rows:
            counters = tuple(getattr(row, name) for name in COUNTERS)
            shares = quantiles_of(row.response, [share for _, share in QUANTILES])
            yield (*head, row.operation, row.iteration, row.phase, *counters, *shares)
        if not frame.rows:
            yield (*head, "", False, frame.phase, *(0 for _ in COUNTERS), *(None for _ in QUANTILES))


def _sample_rows(folder: RunFolder) -> Iterator[Row]:
    for row in folder.samples():
        sample = row.sample
        yield (row.time, row.monitor, sample.metric, sample.labels, sample.value, sample.unit, row.host, row.iteration)
