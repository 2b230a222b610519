"""Makes a small run folder with known content: what the golden folders of releases were made by.

    python tests/golden/make.py tests/golden/0.1

writes `running` (raw tables, as a crash leaves them), `ended` (converted) and `content.json` (what must be read back).
Existing golden folders are never made again: a release that reads them keeps the promise of the ones before.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np

from pileup._core._native import Histogram
from pileup.model.record import Frame, FrameRow, Sample, SampleRow
from pileup.record import RunFolder, TableWriter
from pileup.record.manifest import from_json
from pileup.record.operations import ROW

START = 1_795_000_000_000_000_000
SECOND = 10**9
OPERATIONS = ("copy", "read", "iteration")


def info(state: str) -> dict:
    """Return run.json."""
    common = {"target": "se", "timeout": 60 * SECOND, "fail_when": None, "after": [], "notes": []}
    cases = [
        {"id": 1, "name": "check", "test": "check", "use": "storage.stat", "load": "once", "load_kind": "once"}
        | {"outcome": "passed", "reason": "", "started": START, "ended": START + SECOND, "for": None, **common},
        {"id": 2, "name": "copy", "test": "copy", "use": "storage.copy", "load": "closed, 4 clients for 20 s"}
        | {"load_kind": "closed", "clients": 4, "for": 20 * SECOND, "outcome": "passed", "reason": "5 failed"}
        | {"started": START + SECOND, "ended": START + 22 * SECOND, **common},
    ]
    criteria = [
        {"id": "C1", "says": "At least 9 copies a second", "check": "rate(copy) >= 9 /s", "coverage": "full"},
        {"id": "C2", "says": "Hardly any fail", "check": "fraction(copy.failed) < 0.1 %", "coverage": "partial"},
        {"id": "C3", "says": "The tail is short", "check": "p99.99(copy) < 1 s", "coverage": "full"},
        {"id": "C4", "says": "The node is not busy", "check": "max(node.cpu[mode=user]) < 90 %", "coverage": "full"},
        {"id": "C5", "says": "People like it", "check": None, "coverage": "none"},
    ]
    ended = START + 23 * SECOND if state == "ended" else None
    return {
        "format": 1,
        "title": "golden",
        "about": "Known content.",
        "labels": {"scale": "small"},
        "seed": 1,
        "state": state,
        "started": START,
        "ended": ended,
        "suite": {"source": "golden.yaml", "text": "pileup: 1\n", "digest": "0" * 64, "values": {}},
        "versions": {"pileup": "0.1.0"},
        "hosts": [{"name": "host"}],
        "targets": [{"name": "se", "kind": "noop", "url": "", "launched": False, "about": ""}],
        "places": [{"number": 0, "name": "local", "host": "host"}],
        "cases": cases,
        "monitors": [{"name": "node", "use": "node", "every": SECOND}],
        "criteria": criteria,
        "stopped": "",
        "exit_code": None,
        "verdict": None,
        "debug_build": False,
        "results": None,
    }


def operations() -> np.ndarray:
    """Return 1 check and 200 copies of 4 clients, 50 ms each, with a read of 40 ms inside; every 40th copy failed."""
    check = np.zeros(1, ROW)
    check["id"], check["intended"], check["start"], check["end"] = 1, START, START, START + 5_000_000
    check["case"], check["calls"], check["phase"], check["operation"], check["key"] = 1, 1, 3, 1, 5
    n = 200
    copy = np.zeros(n, ROW)
    number = np.arange(n)
    copy["id"] = 2 + 2 * number
    copy["intended"] = copy["start"] = START + SECOND + number // 4 * 400_000_000
    copy["end"] = copy["start"] + 50_000_000 + number * 10_000
    copy["bytes"], copy["calls"], copy["case"], copy["client"], copy["phase"] = 1 << 20, 3, 2, number % 4, 3
    copy["outcome"] = np.where(number % 40 == 39, 1, 0)
    copy["error"] = np.where(number % 40 == 39, 4, 0)
    copy["operation"] = 3
    read = copy.copy()
    read["id"], read["parent"] = copy["id"] + 1, copy["id"]
    read["end"], read["first_byte"] = read["end"] - 10_000_000, read["start"] + 1_000_000
    read["operation"], read["key"] = 2, 5
    return np.concatenate([check, np.stack([read, copy], axis=1).reshape(-1)])


TEXTS = [b"check", b"read", b"iteration", "wrong byte at 17 of /data/é".encode(), b"/data/file"]


def frames() -> list[Frame]:
    """Return what a place would have told of these operations second by second."""
    rows = operations()
    found = []
    for case, begin, seconds in ((1, START, 1), (2, START + SECOND, 20)):
        for second in range(seconds):
            edge = begin + second * SECOND
            inside = rows[(rows["case"] == case) & (rows["start"] >= edge) & (rows["start"] < edge + SECOND)]
            late = Histogram()
            started = inside[inside["parent"] == 0]
            late.record(20_000, len(started))
            names = ("check",) if case == 1 else ("iteration", "read")
            made = tuple(_row(inside, name) for name in names)
            clients = 1 if case == 1 else 4
            counters = (len(started), 0, 0, clients, 50_000_000)
            found.append(Frame(edge + SECOND, SECOND, 0, case, 3, *counters, late.encode(), made))
    return found


def _row(rows: np.ndarray, name: str) -> FrameRow:
    mine = rows[rows["operation"] == TEXTS.index(name.encode()) + 1]
    passed = mine[mine["outcome"] == 0]
    times = Histogram()
    for time in (passed["end"] - passed["start"]).tolist():
        times.record(time)
    failed = len(mine) - len(passed)
    moved = int(passed["bytes"].sum())
    encoded = times.encode()
    counters = (len(passed), failed, 0, 0, 0, 0, moved, int(mine["calls"].sum()))
    return FrameRow(name, name != "read", 3, *counters, encoded, encoded)


def samples() -> list[SampleRow]:
    """Return a monitor's samples, two series."""
    return [
        SampleRow(START + number * SECOND, "node", "host", Sample("cpu", number * value, "%", f"mode={mode}"))
        for number in range(23)
        for mode, value in (("user", 4.0), ("system", 0.5))
    ]


def make(base: Path, state: str) -> RunFolder:
    """Make a run folder below `base`."""
    folder = RunFolder.create(base, state, START)
    folder.save(from_json(info(state)))
    writer = TableWriter(folder.operations_path(0), "operations", ROW)
    for part in np.array_split(operations(), 4):
        writer.append(part, TEXTS, ("key", "error", "operation"))
    writer.close()
    for frame in frames():
        folder.append_frame(frame)
    folder.append_samples(samples())
    folder.journal("server", "started", pid=1)
    folder.event("case", "copy begins", case=2)
    folder.output("copy").append("stdout", "iteration 0, client 0", "hello")
    if state == "ended":
        folder.convert()
    folder.close()
    return folder


def content(folder: RunFolder) -> dict:
    """Return what is read back, as plain data."""
    with folder.operations().connect() as connection:
        columns = [row[0] for row in connection.execute("DESCRIBE operations").fetchall()]
        rows = connection.execute("SELECT * FROM operations ORDER BY id").fetchall()
    heads = ("time", "nanoseconds", "place", "case", "phase", "started", "missed", "in_flight", "clients", "cpu")
    return {
        "columns": columns,
        "operations": [list(row) for row in rows],
        "frames": [[getattr(frame, name) for name in heads] for frame in folder.frames()],
        "rows": [
            [row.operation, row.iteration, row.phase, row.passed, row.failed, row.bytes, row.calls, row.response.hex()]
            for frame in folder.frames()
            for row in frame.rows
        ],
        "samples": [
            [row.time, row.monitor, row.host, row.sample.metric, row.sample.value, row.sample.unit, row.sample.labels]
            for row in folder.samples()
        ],
        "outputs": folder.outputs(),
        "journal": [[entry.number, entry.what, entry.state] for entry in folder.journal_entries()],
        "events": [[entry.number, entry.kind, entry.text] for entry in folder.events()],
    }


def main() -> None:
    """Make the golden folders of a release."""
    base = Path(sys.argv[1])
    for state in ("running", "ended"):
        made = make(base, state)
        shutil.move(made.path, base / state)
    (base / "content.json").write_text(json.dumps(content(RunFolder.open(base / "ended"))))


if __name__ == "__main__":
    main()
