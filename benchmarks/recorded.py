"""What it costs to record the operations of a server: rows per second of one core, from a log to the record.

    .venv/bin/python benchmarks/recorded.py [ROWS]

CPU time of one thread, best of three. `arrays` are columns as numpy has them, `lines` a log that is taken apart as in
docs/plugins-monitors.md, `wire` the way home from another host, `one by one` single calls. Each ends with rows on
disk.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from pileup.model.timed import OperationBatch
from pileup.plugin.recording import Recording
from pileup.record import RunFolder
from pileup.record.served import Source

ROWS = 300_000
AT_ONCE = 10_000
AT = 1_795_000_000 * 10**9
LABELS = [{"status": str(200 + number % 3), "disk": f"d{number % 16}"} for number in range(AT_ONCE)]


def rows_per_second(rows: int, act: Callable[[RunFolder], None]) -> float:
    """Return how many rows per second of CPU time something records."""
    best = 0.0
    for _ in range(3):
        with tempfile.TemporaryDirectory() as base:
            folder = RunFolder.create(Path(base), "bench", AT)
            begin = time.process_time()
            act(folder)
            best = max(best, rows / (time.process_time() - begin))
            folder.close()
    return best


def written(folder: RunFolder) -> Recording:
    """Return what writes into a folder."""
    return Recording(lambda batch: folder.append_recorded(batch, Source("server", 0), 0), print)


def by_wire(folder: RunFolder) -> Recording:
    """Return the same by way of a wire."""

    def take(batch: OperationBatch) -> None:
        texts, blobs = batch.to_wire()
        folder.append_recorded(OperationBatch.from_wire(texts, tuple(blobs)), Source("server", 0, 1000), 0)

    return Recording(take, print)


def arrays(rows: int, record: Recording) -> None:
    """Record columns."""
    keys = [f"/data/{number % 5000}" for number in range(AT_ONCE)]
    start = AT + np.arange(AT_ONCE) * 10_000
    numbers = {
        "start": start,
        "end": start + 1_000_000,
        "first_byte": 0,
        "bytes": start % 1000,
        "calls": 1,
        "outcome": 0,
    }
    for _ in range(rows // AT_ONCE):
        record.add_many("GET", keys, "", LABELS, numbers)
    record.flush()


def lines(rows: int, record: Recording) -> None:
    """Record the lines of a log."""
    log = [f"17950000{k % 100:02}.{k % 1000:03} 0.{k % 1000:03} 200 1024 GET /data/{k % 5000}" for k in range(AT_ONCE)]
    for _ in range(rows // AT_ONCE):
        found = [line.split(" ", 5) for line in log]
        ends = [int(row[0].replace(".", "")) * 1_000_000 for row in found]
        took = [int(row[1].replace(".", "")) * 1_000_000 for row in found]
        numbers = {
            "start": [end - time for end, time in zip(ends, took, strict=True)],
            "end": ends,
            "first_byte": 0,
            "bytes": [int(row[3]) for row in found],
            "calls": 0,
            "outcome": [int(row[2] >= "400") for row in found],
        }
        status = [{"status": row[2]} for row in found]
        record.add_many([row[4] for row in found], [row[5] for row in found], "", status, numbers)
    record.flush()


def one_by_one(rows: int, record: Recording) -> None:
    """Record operations by single calls."""
    for number in range(rows):
        record.add("GET", "/data/1", "", {"status": "200"}, (AT + number, AT + number + 1000, 0, 100, 0, 0, 0, -1))
    record.flush()


def main() -> None:
    """Print the figures."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    ways = {
        "arrays": lambda folder: arrays(rows, written(folder)),
        "arrays, wire": lambda folder: arrays(rows, by_wire(folder)),
        "lines": lambda folder: lines(rows, written(folder)),
        "one by one": lambda folder: one_by_one(rows, written(folder)),
    }
    for name, way in ways.items():
        print(f"{name:14} {rows_per_second(rows, way):12,.0f} rows/s")


if __name__ == "__main__":
    main()
