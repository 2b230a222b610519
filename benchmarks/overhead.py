"""What the harness adds to a test: a suite of trivial tests in this process, nine of ten needing the one before.

    .venv/bin/python benchmarks/overhead.py
    .venv/bin/python benchmarks/overhead.py --tests 500 --repeats 3

Prints the time from the begin of the first case to the end of the last, divided by their number, and the time of the
whole run with its record and its reports.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

from pileup.run import Runner
from pileup.suite import load

TEST = '''
from pileup.plugin import Op, Test


class Trivial(Test):
    """Do nothing."""

    def run(self, op: Op) -> None:
        """Pass."""
'''


def suite(folder: Path, tests: int) -> Path:
    """Write a suite of so many tests, and return its file."""
    (folder / "trivial.py").write_text(TEST)
    lines = ["pileup: 1", "title: overhead", "tests:"]
    for number in range(tests):
        after = f", after: [t{number - 1}]" if number % 10 else ""
        lines.append(f'  - {{name: t{number}, use: "./trivial.py:Trivial"{after}}}')
    path = folder / "suite.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


def measure(path: Path) -> tuple[float, float]:
    """Run a suite; return ms per test, and seconds of the whole run with its reports."""
    plan = load(path)
    begin = time.perf_counter()
    runner = Runner(plan, path.parent / "runs")
    runner.run()
    whole = time.perf_counter() - begin
    cases = json.loads((runner.folder.path / "run.json").read_text())["cases"]
    if any(case["outcome"] != "passed" for case in cases):
        raise SystemExit("not every test passed: the figure would mean nothing")
    return (cases[-1]["ended"] - cases[0]["started"]) / 1e6 / len(cases), whole


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", type=int, default=2000, help="tests in the suite (default 2000)")
    parser.add_argument("--repeats", type=int, default=5, help="runs (default 5)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pileup-overhead-") as name:
        path = suite(Path(name), given.tests)
        found = [measure(path) for _ in range(given.repeats)]
    each, whole = ([pair[place] for pair in found] for place in (0, 1))
    print(f"{given.tests} tests, {given.repeats} runs")
    print(f"per test: median {statistics.median(each):.2f} ms, from {min(each):.2f} to {max(each):.2f} ms")
    print(f"whole run with record and reports: median {statistics.median(whole):.1f} s")


if __name__ == "__main__":
    main()
