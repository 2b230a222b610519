"""What short commands cost: CPU time, user and system, of a process from its start to its end.

    .venv/bin/python benchmarks/commands.py
    .venv/bin/python benchmarks/commands.py --rounds 21 --run runs/2026-11-23T10-38-21Z-first-run
    git worktree add --detach ../pileup-before ab11bda9 && make -C ../pileup-before build
    .venv/bin/python benchmarks/commands.py --beside ../pileup-before
    .venv/bin/python benchmarks/commands.py --rounds 20 --keep

Prints the median of several rounds for each command, and its budget; ends with 1 where one is over it. The commands
run in turn, so that what disturbs the machine disturbs all alike; the first round, which compiles, does not count.
Without --run a suite of two tests is run first, for `show`. `--keep` writes results/commands.json and
docs/benchmarks.md.

The budgets are seconds on the machine of 22 November 2026. Machines differ: with --beside the same commands of an older
checkout run in between, and a budget is a share of what they take: what it was of the time of ab11bda9 on that machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import bench
import figures
from ratios import Bar, level

SUITE = """
pileup: 1
title: Small
targets: {se: {kind: posix, url: HERE}}
tests:
  - {name: fill, use: storage.write, target: se, options: {files: 10, size: 64 KiB}}
  - name: read
    use: storage.read
    target: se
    after: [fill]
    options: {files: 10, size: 64 KiB}
    load: {clients: 2, for: 2 s}
monitors: [{use: node}]
criteria: [{id: C1, says: Nothing fails, check: fraction(read.failed) == 0}]
"""
NAMES, SUITES = 0.2, 0.5
"""Seconds of CPU that help and completion may take, and commands that read a suite or a run."""
BEFORE = {"--help": 0.24, "list": 1.3, "validate": 0.8, "plan": 1.1, "show": 1.5}
"""Seconds of CPU that ab11bda9 took on that machine."""
HERE = Path(sys.executable)


def cpu(python: Path, words: list[str], environment: dict[str, str]) -> float:
    """Return the CPU time of a command, s."""
    before = used()
    command = [str(python), "-m", "pileup", *words]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True, timeout=120)
    return used() - before


def compiling(scratch: Path) -> dict[str, str]:
    """Return an environment in which modules stay compiled, as those of an installed package are."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {"PYTHONPYCACHEPREFIX": str(scratch / "compiled"), **kept}


def used() -> float:
    """Return the CPU time of all processes of this one that have ended, s."""
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime


def commands(suite: Path, run: str) -> dict[str, tuple[list[str], dict[str, str], float]]:
    """Return name -> words, variables beside those that there are, budget in s."""
    asked = {"_PILEUP_COMPLETE": "bash_complete", "COMP_WORDS": "pileup run suite:f", "COMP_CWORD": "2"}
    return {
        "--help": (["--help"], {}, NAMES),
        "run --help": (["run", "--help"], {}, NAMES),
        "completion of suite:f": ([], asked, NAMES),
        "list": (["list"], {}, SUITES),
        "validate": (["validate", str(suite)], {}, SUITES),
        "plan": (["plan", str(suite)], {}, SUITES),
        "show": (["show", run], {}, SUITES),
    }


def main() -> int:
    """Measure, print, and return 1 where a command is over its budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--run", help="run folder for `show`")
    parser.add_argument("--beside", type=Path, help="an older checkout that is built; budgets are shares of its times")
    parser.add_argument("--keep", action="store_true", help="write the results and their page")
    given = parser.parse_args()
    before = figures.before()
    with tempfile.TemporaryDirectory(prefix="pileup-commands-") as scratch:
        environment = compiling(Path(scratch))
        suite = Path(scratch) / "suite.yaml"
        suite.write_text(SUITE.replace("HERE", scratch))
        wanted = commands(suite, given.run or made(HERE, suite, environment))
        taken: dict[str, list[float]] = {name: [] for name in wanted}
        older: dict[str, list[float]] = {}
        there = given.beside / ".venv/bin/python" if given.beside else HERE
        then = commands(suite, made(there, suite, environment)) if given.beside else {}
        for number in range(given.rounds + 1):
            for name, (words, more, _) in wanted.items():
                seconds = cpu(HERE, words, environment | more)
                taken[name] += [seconds] if number else []
                if name in then and name in BEFORE:
                    seconds = cpu(there, then[name][0], environment | more)
                    older.setdefault(name, []).extend([seconds] if number else [])
    over = 0
    for name, (_, _, budget) in wanted.items():
        middle = statistics.median(taken[name])
        told = f"{name:24} {middle:5.2f} s of CPU ({min(taken[name]):.2f} to {max(taken[name]):.2f})"
        if not given.beside:
            over += middle > budget
            print(f"{told}, budget {budget} s")
        elif name in older:
            share, most = middle / statistics.median(older[name]), budget / BEFORE[name]
            over += share > most
            print(f"{told}, {share:.2f} of {statistics.median(older[name]):.2f} s before, budget {most:.2f}")
    if given.keep:
        figures.keep("commands", report(wanted, taken), before)
        bench.page()
    return 1 if over else 0


def report(wanted: dict[str, tuple[list[str], dict[str, str], float]], taken: dict[str, list[float]]) -> figures.Report:
    """Return what is kept: the seconds of CPU of each command, and its budget as the bar."""
    about = (
        "Seconds of CPU, user and system, that short commands take from their start to their end, with a suite of two "
        "tests and a run of it. The commands run in turn; the first round, which compiles, does not count."
    )
    found = {f"{name}, s": level(taken[name], Bar(most=budget)) for name, (_, _, budget) in wanted.items()}
    typed = {"commands": ["benchmarks/commands.py", "--rounds", str(len(taken["list"])), "--keep"]}
    return figures.Report(about, found, {}, {}, typed)


def made(python: Path, suite: Path, environment: dict[str, str]) -> str:
    """Run the suite and return its run folder."""
    words = [str(python), "-m", "pileup", "run", str(suite), "--quiet", "--out", str(suite.parent / "runs")]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True, timeout=300)
    return done.stdout.strip().splitlines()[-1]


if __name__ == "__main__":
    sys.exit(main())
