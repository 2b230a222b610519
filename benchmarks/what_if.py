"""Hold the predictions of `pileup model` against simulated truth, for several seeds.

    python benchmarks/what_if.py [--seeds 10]

For each seed, examples/samgrid-tuning.yaml is simulated at 1, 3, 5 and 10 transfers at a time. The model is fitted to 1
and 5, and predicts 3 and 10. For each figure, prints in how many seeds the truth is in the interval of 95 %, and the
largest ratio of its ends. About half a minute for a seed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from pileup.record import RunFolder
from pileup.stats.queueing import FIGURES, histories

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "samgrid-tuning.yaml"
PREDICTED = (3, 10)
SECOND = 1e9


def pileup(*words: str) -> str:
    """Return what a command prints."""
    return subprocess.run([sys.executable, "-m", "pileup", *words], check=True, capture_output=True, text=True).stdout


def main() -> None:
    """Simulate, predict, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    seeds = parser.parse_args().seeds
    inside = {(limit, name): 0 for limit in PREDICTED for name in FIGURES}
    widest = dict.fromkeys(inside, 1.0)
    with tempfile.TemporaryDirectory() as folder:
        suite = Path(folder) / "study.yaml"
        text = EXAMPLE.read_text()
        suite.write_text(text.replace("[1, 2, 3, 5, 10, 20]", "[1, 3, 5, 10]").partition("\ncriteria:")[0] + "\n")
        for seed in range(1, seeds + 1):
            run = pileup(
                "simulate", str(suite), "--set", f"seed={seed}", "--set", "repeat=1", "--out", folder
            ).splitlines()[-1]
            truth = {int(each.point["tape.max_transfers"]): each for each in histories(RunFolder.open(Path(run)))}
            told = json.loads(pileup("model", run, *(f"--limit={limit}" for limit in PREDICTED), "--json"))
            for prediction in told["predictions"]:
                for name, expected in prediction["figures"].items():
                    at = (prediction["limit"], name)
                    real = truth[at[0]].figures[name]
                    inside[at] += expected["low"] - SECOND <= real <= expected["high"] + SECOND
                    if expected["low"] > SECOND:
                        widest[at] = max(widest[at], expected["high"] / expected["low"])
            print(
                f"seed {seed}: inside so far {sum(inside.values())} of {seed * len(inside)}",
                file=sys.stderr,
                flush=True,
            )
    print(f"{'limit':>5}  {'figure':30}  {'inside':>8}  {'high/low':>8}")
    for (limit, name), number in inside.items():
        print(f"{limit:5}  {FIGURES[name]:30}  {number:3} of {seeds:2}  {widest[limit, name]:8.2f}")


if __name__ == "__main__":
    main()
