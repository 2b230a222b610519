"""Makes run folders of scans whose every figure is known: cases at points and repeats, frames, rows, samples."""

import itertools

import numpy as np

from pileup._core._native import Histogram
from pileup.model.record import Frame, FrameRow, Sample, SampleRow
from pileup.record import RunFolder, TableWriter
from pileup.record.operations import ROW
from tests.manifests import run_of

SECOND = 10**9
START = 1_795_000_000 * SECOND
AXES = {"se.threads": ["4", "16"], "copy.buffer": ["64 KiB", "1 MiB"]}
N = 40
LONG = 4 * SECOND


def points_of(axes):
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def case(number, name, begin, point=None, **fields):
    """An entry of run.json for a case of 4 s."""
    known = {"id": number, "name": name, "test": "copy", "use": "storage.read", "target": "se", "load_kind": "closed"}
    rest = {"load": "closed, 1 client for 4 s", "clients": 1, "for": LONG, "outcome": "passed", "reason": ""}
    times = {"started": begin, "ended": begin + LONG, "notes": [], "after": [], "fail_when": None}
    place = {"point": point or {}, "repeat": 1, "loop": 1, "visit": -1, "role": False, "scope": "case"}
    return {**known, **rest, **times, **place, **fields}


def info(cases, axes=AXES, **fields):
    return {
        "format": 1,
        "title": "scan",
        "labels": {},
        "state": "ended",
        "started": START,
        "ended": max((each["ended"] for each in cases), default=START) + SECOND,
        "targets": [{"name": "se"}],
        "places": [{"number": 0, "name": "local"}],
        "cases": cases,
        "criteria": [],
        "monitors": [{"name": "node", "use": "node", "every": SECOND}],
        "stopped": "",
        "void": [],
        "scan": axes,
        "points": points_of(axes) if axes else [],
        **fields,
    }


def rows_of(number, begin, duration, *, failed=0, place=0, first=1):
    """N iterations one after another in a 4 s window, the first `failed` of them failed."""
    rows = np.zeros(N, ROW)
    k = np.arange(N)
    rows["id"] = (place << 48) + first + k
    rows["intended"] = rows["start"] = begin + k * (LONG // N)
    rows["end"] = rows["start"] + int(duration)
    rows["bytes"], rows["calls"], rows["case"], rows["phase"], rows["operation"] = 1 << 20, 1, number, 3, 1
    rows["place"] = place
    rows["outcome"] = np.where(k < failed, 1, 0)
    return rows


def frames_of(rows):
    """The frames of these rows, one per second."""
    number, place, begin = int(rows["case"][0]), int(rows["place"][0]), int(rows["start"][0])
    for second in range(LONG // SECOND):
        edge = begin + second * SECOND
        mine = rows[(rows["start"] >= edge) & (rows["start"] < edge + SECOND)]
        passed = mine[mine["outcome"] == 0]
        times, late = Histogram(), Histogram()
        for time in (passed["end"] - passed["start"]).tolist():
            times.record(int(time))
        late.record(1000, len(mine))
        counters = (len(passed), len(mine) - len(passed), 0, 0, 0, 0, int(passed["bytes"].sum()), len(mine))
        row = FrameRow("copy", True, 3, *counters, times.encode(), times.encode())
        yield Frame(edge + SECOND, SECOND, place, number, 3, len(mine), 0, 0, 1, 10**7, late.encode(), (row,))


def write(base, told, tables, samples=(), frames=()):
    """Write a run folder; `tables` are the rows of cases, `frames` are written beside theirs."""
    folder = RunFolder.create(base, "scan", START)
    folder.save(run_of(told))
    by_place = {}
    for rows in tables:
        by_place.setdefault(int(rows["place"][0]), []).append(rows)
    for place, parts in by_place.items():
        writer = TableWriter(folder.operations_path(place), "operations", ROW)
        for rows in parts:
            writer.append(rows, [b"copy"], ("key", "error", "operation"))
            for frame in frames_of(rows):
                folder.append_frame(frame)
        writer.close()
    for frame in frames:
        folder.append_frame(frame)
    folder.append_samples(list(samples))
    folder.close()
    return folder


def scan(base, duration, repeats=3, axes=AXES, failed=lambda point, repeat: 0, *, grid=None, **fields):
    """Make a run of a scan; `duration(point, repeat)` in ns. Points interleaved, 5 s apart; `grid`: these points."""
    cases, tables, samples = [], [], []
    grid = grid or points_of(axes)
    for repeat in range(1, repeats + 1):
        for point in grid:
            number = len(cases) + 1
            begin = START + number * 5 * SECOND
            label = ",".join(f"{axis}={value}" for axis, value in point.items())
            cases.append(case(number, f"copy[{label}]#{repeat}", begin, point, repeat=repeat, visit=number - 1))
            tables.append(
                rows_of(number, begin, duration(point, repeat), failed=failed(point, repeat), first=number * N)
            )
            level = float(point.get("se.threads", 1))
            samples += [SampleRow(begin + at * SECOND, "node", "h", Sample("load1", level, "", "")) for at in range(4)]
            rest = Sample("time_to_idle", level / 4, "s", f"visit={number - 1}")
            samples.append(SampleRow(begin + LONG + SECOND // 2, "cooldown", "", rest))
    return write(base, info(cases, axes, points=grid, **fields), tables, samples)
