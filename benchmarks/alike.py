"""How often `compare` and the points of a scan find a difference that is there, and one that is not: real runs.

    python benchmarks/alike.py [--comparisons 20] [--pairs 10] [--length '500 ms'] [--minutes 20] [--keep FOLDER]
    python benchmarks/alike.py --look FOLDER           look once more at runs that were kept

A server written apart from pileup (one worker, first come first served, service times of a fixed median with log-normal
noise) answers four paths: two alike, one 5 % slower, one 10 % slower. A comparison is one run of a scan over them, each
repeated as often as there are pairs. Each run is looked at in two ways: as a scan (`stats/compare/points.py`, in
pairs), and as if each point were runs of its own (`stats/compare/runs.py`, two groups). Nothing keeps the machine calm:
that is the point.
"""

from __future__ import annotations

import argparse
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from pileup.model.results import Comparison, RunResults
from pileup.record import RunFolder
from pileup.stats import results
from pileup.stats.compare.runs import compare_runs

FACTORS = (1.0, 1.0, 1.05, 1.10)
NAMES = {1: "nothing has changed", 2: "5 % slower", 3: "10 % slower"}
"""Point of the scan -> what it is beside point 0."""
TIMES = ("mean", "p50", "p90")
SUITE = """\
pileup: 1
title: Alike
targets: {{queue: {{kind: http, url: "{url}"}}}}
scan: {{ask.path: [{paths}]}}
repeat: {pairs}
tests:
  - name: ask
    use: http.request
    target: queue
    timeout: 10 s
    load: {{clients: 2, warm_up: 100 ms, for: {length}}}
"""


@contextmanager
def server() -> Iterator[str]:
    """Start the server; give its url, and end it."""
    command = [sys.executable, str(Path(__file__).with_name("queue_server.py")), *map(str, FACTORS)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.terminate()
        process.wait(timeout=10)


def run(url: str, folder: Path, pairs: int, length: str) -> RunResults:
    """Run the scan once. Raises CalledProcessError when pileup does not end with 0."""
    suite = folder / "alike.yaml"
    paths = ", ".join(str(place) for place in range(len(FACTORS)))
    suite.write_text(SUITE.format(url=url, paths=paths, pairs=pairs, length=length))
    before = set(folder.iterdir())
    command = [sys.executable, "-m", "pileup", "run", str(suite), "--out", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (made,) = [each for each in set(folder.iterdir()) - before if each.is_dir()]
    return results(RunFolder.open(made))


@dataclass(slots=True)
class Shown:
    """What was shown of one kind of difference, over all comparisons."""

    comparisons: int = 0
    looked_at: Counter[str] = field(default_factory=Counter)
    slower: Counter[str] = field(default_factory=Counter)
    faster: Counter[str] = field(default_factory=Counter)
    found: int = 0
    """Comparisons in which any of the response times was shown to be longer."""

    def add(self, verdicts: Iterable[tuple[str, str]]) -> None:
        """Add one comparison: metric and what was shown, "slower", "faster" or ""."""
        told = list(verdicts)
        self.comparisons += 1
        self.looked_at.update(metric for metric, _ in told)
        self.slower.update(metric for metric, shown in told if shown == "slower")
        self.faster.update(metric for metric, shown in told if shown == "faster")
        self.found += any(shown == "slower" and metric in TIMES for metric, shown in told)

    def words(self) -> str:
        """Return one row of a Markdown table."""
        looked, flagged = self.looked_at.total(), self.slower.total() + self.faster.total()
        times = " / ".join(f"{self.slower[metric]}" for metric in ("rate", *TIMES))
        return f"{self.comparisons} | {flagged} of {looked} ({flagged / max(1, looked):.1%}) | {self.found} | {times} |"


def by_points(comparisons: Sequence[Comparison], point: int) -> Iterable[tuple[str, str]]:
    """Yield what a scan shows of one point against the first."""
    for each in comparisons:
        (found,) = [gap for gap in each.differences if gap.point == point]
        longer = {"larger": "slower", "smaller": "faster"}
        shorter = {"larger": "faster", "smaller": "slower"}
        if not each.monitor:
            yield each.metric, (shorter if each.metric in ("rate", "throughput") else longer).get(found.verdict, "")


def of_point(whole: RunResults, point: int) -> RunResults:
    """Return the cases of one point as a run of its own, without a scan."""
    values = whole.points[point].values
    cases = tuple(replace(case, point={}) for case in whole.cases if case.point == values)
    return replace(whole, cases=cases, points=(), comparisons=())


def by_runs(whole: RunResults, point: int) -> Iterable[tuple[str, str]]:
    """Yield what a comparison of two groups of runs shows."""
    (found,) = compare_runs([of_point(whole, 0)], [[of_point(whole, point)]], 0.01).against
    for each in found.contrasts:
        yield each.metric, {"worse": "slower", "better": "faster"}.get(each.verdict, "")


def noise(runs: Sequence[RunResults]) -> str:
    """Return how far the ratios in pairs of what is alike are from one: what most show, and what all do."""
    logs = []
    for each in (each for whole in runs for each in whole.comparisons if each.metric == "p50" and not each.monitor):
        pairs = zip(each.points[0].repeats, each.points[1].repeats, strict=True)
        logs += [math.log(two / one) for one, two in pairs if one and two]
    middle = statistics.median(logs)
    most = 1.4826 * statistics.median(abs(each - middle) for each in logs)
    every = statistics.stdev(logs)
    return (
        f"Ratios of medians in a pair of what is alike scatter by {most:.1%} (median of deviations), {every:.1%} (all)."
    )


def made(asked: argparse.Namespace, folder: Path) -> Iterator[RunResults]:
    """Make one run after another."""
    until = time.monotonic() + asked.minutes * 60
    with server() as url:
        for number in range(asked.comparisons):
            if time.monotonic() > until:
                break
            yield run(url, folder, asked.pairs, asked.length)
            load = os.getloadavg()[0] / (os.cpu_count() or 1)
            print(f"{number + 1} of {asked.comparisons}, load {load:.1f} a core", file=sys.stderr, flush=True)


def kept(folder: Path) -> Iterator[RunResults]:
    """Give the runs of a folder that came to their end."""
    for each in sorted(folder.iterdir()):
        if each.is_dir() and RunFolder.open(each).manifest().has_ended:
            yield results(RunFolder.open(each))


def main() -> None:
    """Make the comparisons, or look at those that were made, and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comparisons", type=int, default=20)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--length", default="500 ms")
    parser.add_argument("--minutes", type=float, default=20.0, help="begin no comparison after that")
    parser.add_argument("--keep", type=Path, help="an empty folder for the runs; without it they are thrown away")
    parser.add_argument("--look", type=Path, help="a folder of runs that were kept")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the server ends with us
    shown = {(way, point): Shown() for way in ("scan", "two groups") for point in NAMES}
    runs = []
    with tempfile.TemporaryDirectory() as thrown_away:
        folder = asked.keep or Path(thrown_away)
        folder.mkdir(parents=True, exist_ok=True)
        for whole in kept(asked.look) if asked.look else made(asked, folder):
            runs.append(whole)
            for point in NAMES:
                shown["scan", point].add(by_points(whole.comparisons, point))
                shown["two groups", point].add(by_runs(whole, point))
    print("| looked at as | truth | comparisons | metrics flagged | found slower | by rate / mean / p50 / p90 |")
    print("|---|---|---|---|---|---|")
    for (way, point), each in shown.items():
        print(f"| {way} | {NAMES[point]} | {each.words()}")
    print(f"\n{noise(runs)}")


if __name__ == "__main__":
    main()
