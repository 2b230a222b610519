"""What it takes to open a run of many operations from Python: a run of noop, then figures and rows of its folder.

    .venv/bin/python benchmarks/opened.py                 # 20 million operations, a few minutes
    .venv/bin/python benchmarks/opened.py --millions 2
    .venv/bin/python benchmarks/opened.py --folder runs/2026-11-21T10-15-03Z-copy-stress
    .venv/bin/python benchmarks/opened.py --rounds 10 --keep

Each is asked for in a process of its own, with its imports: seconds by the clock and of CPU, and the most memory that
it has had. Wanted are figures in under 2 s and 500 MB for 20 million operations: the exit code is 1 where they take
more. `--keep` writes results/opened.json and docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bench
import figures
from commands import compiling
from ratios import Bar, level

SUITE = """
pileup: 1
title: Many operations
targets: {{nothing: {{kind: noop}}}}
tests:
  - {{name: press, use: noop, target: nothing, load: {{clients: 8, times: {times}}}}}
reports: []
"""
FIGURES = "figures, with their intervals"
ASKED = {
    "import pileup": "",
    FIGURES: "run.figures().numpy()",
    "verdict, page of a notebook": "run._repr_html_()",
    "counting the rows": "len(run.operations())",
    "one column of all rows, in chunks": "sum(len(chunk) for chunk in run.operations().select('end').chunks())",
    "mean by outcome": "run.sql('SELECT outcome, avg(\"end\" - start) FROM operations GROUP BY ALL').numpy()",
}
"""What is asked for, in words -> in Python."""
CODE = """
import resource, sys
import pileup
if {what!r}:
    run = pileup.open(sys.argv[1])
    {what}
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
"""
MOST_SECONDS, MOST_BYTES = 2.0, 500e6


def made(folder: Path, millions: float) -> Path:
    """Run so many operations and return the run folder."""
    (folder / "suite.yaml").write_text(SUITE.format(times=round(millions * 1e6)))
    command = [sys.executable, "-m", "pileup", "run", "suite.yaml", "--quiet", "--out", str(folder / "runs")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return Path(done.stdout.splitlines()[-1])


def measured(run: Path, what: str, environment: dict[str, str]) -> tuple[float, float, int]:
    """Return seconds, seconds of CPU and bytes that a question takes."""
    begin = time.perf_counter()
    command = [sys.executable, "-c", CODE.format(what=what), str(run)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    cpu, peak = done.stdout.split()
    return time.perf_counter() - begin, float(cpu), int(peak)


def report(found: dict[str, list[tuple[float, float, int]]], millions: float) -> figures.Report:
    """Return what is kept: what each question took, and the bars of the figures."""
    about = (
        f"A run of {millions:g} million operations opened from Python, each question in a process of its own with its "
        "imports: seconds by the clock and of CPU, and the most memory that the process has had."
    )
    seconds, _, peaks = zip(*found[FIGURES], strict=True)
    kept = {
        "figures, s": level(seconds, Bar(most=MOST_SECONDS)),
        "memory for figures, MB": level([peak / 1e6 for peak in peaks], Bar(most=MOST_BYTES / 1e6)),
    }
    levels = {}
    for name, rows in found.items():
        clock, cpu, most = zip(*rows, strict=True)
        levels[name] = {"s": statistics.median(clock), "s of CPU": statistics.median(cpu), "MB": max(most) / 1e6}
    command = ["benchmarks/opened.py", "--rounds", str(len(seconds)), "--keep"]
    return figures.Report(about, kept, levels, {}, {"opened": command})


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--millions", type=float, default=20, help="operations of the run (default 20)")
    parser.add_argument("--folder", type=Path, help="a run folder that is there already")
    parser.add_argument("--rounds", type=int, default=3, help="of which the quickest counts (default 3)")
    parser.add_argument("--keep", action="store_true", help="write the results and their page")
    given = parser.parse_args()
    before = figures.before()
    with tempfile.TemporaryDirectory(prefix="pileup-bench-") as folder:
        run = given.folder or made(Path(folder), given.millions)
        found, environment = {}, compiling(Path(folder))
        measured(run, f"{ASKED[FIGURES]}, run._repr_html_()", environment)  # compiles
        for name, what in ASKED.items():
            found[name] = [measured(run, what, environment) for _ in range(given.rounds)]
            seconds, cpu, peak = min(found[name])
            print(f"{name:36} {seconds:6.2f} s {cpu:6.2f} s CPU {peak / 1e6:6.0f} MB", flush=True)
    if given.keep:
        figures.keep("opened", report(found, given.millions), before)
        bench.page()
    seconds, _, peak = min(found[FIGURES])
    return int(seconds > MOST_SECONDS or peak > MOST_BYTES)


if __name__ == "__main__":
    sys.exit(main())
