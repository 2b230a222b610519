"""Memory and report time of long runs: millions of operations through noop, the memory of pileup watched all the time.

    .venv/bin/python benchmarks/memory.py
    .venv/bin/python benchmarks/memory.py --millions 3 20
    .venv/bin/python benchmarks/memory.py --millions 100 --folder /var/tmp
    .venv/bin/python benchmarks/memory.py --millions 20 100 --keep

Every operation leaves a row of 88 bytes on the disk until the end of the run, and Parquet files grow beside that before
the raw rows go: 100 million need about 14 GB free. Prints resident memory while pressing (in the second tenth and in
the last: flat or not), its peak after that, and the time from the end of the load to the end of the program: the record
made Parquet, results, reports. `--keep` writes results/memory.json and docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import bench
import figures
import psutil

SUITE = """
pileup: 1
title: Memory
tests:
  - {{name: noop, use: noop, load: {{clients: 8, times: {times}}}}}
"""
STEP = 0.05
MB = 10**6


@dataclass(frozen=True)
class Found:
    """What one run took; sizes in bytes, times in seconds."""

    early: float
    """Resident memory at one to two tenths of the load."""
    late: float
    """The same in its last tenth."""
    peak: float
    """Most after the load."""
    load: float
    after: float
    """From the end of the load to the end of the program."""
    disk: int
    """Most bytes that the run folder has held."""


def watch(folder: Path, millions: float) -> Found:
    """Run the suite in a process of its own, and look at it until it ends."""
    (folder / "suite.yaml").write_text(SUITE.format(times=round(millions * 1e6)))
    command = [sys.executable, "-m", "pileup", "run", "suite.yaml", "--quiet", "--out", str(folder / "runs")]
    looks: list[tuple[float, int]] = []
    disk = 0
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL) as running:
        process = psutil.Process(running.pid)
        while running.poll() is None:
            looks.append((time.time(), memory(process)))
            disk = max(disk, size(folder / "runs"))
            time.sleep(STEP)
        ended = time.time()
    if running.returncode:
        raise SystemExit(f"the run ended with {running.returncode}; expected 0")
    case = json.loads(next(folder.glob("runs/*/run.json")).read_text())["cases"][0]
    begin, end = case["started"] / 1e9, case["ended"] / 1e9
    return found(looks, begin, end, ended, disk)


def found(looks: list[tuple[float, int]], begin: float, end: float, ended: float, disk: int) -> Found:
    """Return what looks at the memory (time, bytes) report on a load from begin to end."""
    tenth = (end - begin) / 10
    early = [rss for at, rss in looks if begin + tenth <= at < begin + 2 * tenth]
    late = [rss for at, rss in looks if end - tenth <= at < end]
    after = [rss for at, rss in looks if at >= end]
    return Found(max(early), max(late), max(after), end - begin, ended - end, disk)


def memory(process: psutil.Process) -> int:
    """Return the resident memory of a process, 0 when it has ended."""
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def size(folder: Path) -> int:
    """Return the bytes of all files below a folder, also while some go."""
    whole = 0
    for path in folder.rglob("*"):
        try:
            whole += path.stat().st_size
        except OSError:
            continue
    return whole


def report(taken: dict[float, Found]) -> figures.Report:
    """Return what is kept: millions of operations -> what they took."""
    about = (
        "Operations through the noop target by 8 clients as fast as they go, each a row of the record: resident memory "
        "while pressing, in the second tenth of the load and in its last, and its peak in the work after (the record "
        "made Parquet, results, reports). One run each."
    )
    ratios = {
        f"memory late / early, {millions:g} million": {
            "runs": 1,
            "median": it.late / it.early,
            "mean": it.late / it.early,
            "interval": None,
            "bar": None,
            "met": None,
        }
        for millions, it in taken.items()
    }
    levels = {
        f"{millions:g} million": {
            "load, s": it.load,
            "early, MB": it.early / MB,
            "late, MB": it.late / MB,
            "peak after, MB": it.peak / MB,
            "after, s": it.after,
            "disk, GB": it.disk / 1e9,
        }
        for millions, it in taken.items()
    }
    command = ["benchmarks/memory.py", "--millions", *(f"{millions:g}" for millions in taken)]
    return figures.Report(about, ratios, levels, {}, {"memory": command})


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--millions", type=float, nargs="+", default=[3, 20], help="operations (default 3 and 20)")
    parser.add_argument("--folder", type=Path, help="where the runs are written (default: the temporary folder)")
    parser.add_argument("--keep", action="store_true", help="write the results and their page")
    given = parser.parse_args()
    if given.folder:
        given.folder.mkdir(parents=True, exist_ok=True)
    before, taken = figures.before(), {}
    print("millions  load s  MB early  MB late  MB peak after  report s  GB on disk")
    for millions in given.millions:
        with tempfile.TemporaryDirectory(prefix="pileup-memory-", dir=given.folder) as name:
            it = taken[millions] = watch(Path(name), millions)
        sizes = f"{it.early / MB:8.0f}  {it.late / MB:7.0f}  {it.peak / MB:13.0f}"
        print(f"{millions:8g}  {it.load:6.1f}  {sizes}  {it.after:8.1f}  {it.disk / 1e9:10.2f}", flush=True)
    if given.keep:
        figures.keep("memory", report(taken), before)
        bench.page()


if __name__ == "__main__":
    main()
