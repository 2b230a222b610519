"""What an iteration costs now and in another checkout of pileup: both at the same time, on the same core.

    git worktree add --detach ../pileup-before REV && make -C ../pileup-before build
    .venv/bin/python benchmarks/since.py ../pileup-before --pairs 6

Prints the ratio of CPU time per iteration, here to there, for noops, HTTP requests and Python tests, with its 95 %
interval. What else the machine does disturbs both alike, so that differences of a few percent show within minutes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import meter
from ratios import ratio
from servers import nginx

HERE = Path(__file__).resolve().parent.parent
NATIVE = {"clients": 64, "workers": 1, "warm_up": 500_000_000, "for": 4 * 10**9}
PYTHON = {"clients": 1, "warm_up": "0.5 s", "for": "3 s"}


def orders(url: str) -> dict[str, dict[str, Any]]:
    """Return what drive.py is asked for, by name."""
    asked = {
        "noop": {"client": {"protocol": "noop", "settings": {}}, "step": {"verb": "noop"}},
        "http": {
            "client": {"protocol": "http", "settings": {"url": url}},
            "step": {"verb": "request", "method": "GET"},
        },
    }
    found: dict[str, dict[str, Any]] = {name: {"load": NATIVE, "every": 0.25, **of} for name, of in asked.items()}
    return found | {kind: {"load": PYTHON, "every": 0.25, "python": kind} for kind in ("paced", "with op()", "async")}


def begin(root: Path, order: dict[str, Any]) -> subprocess.Popen[str]:
    """Start the load of one checkout, on the core of generators."""
    words = [str(root / ".venv/bin/python"), str(root / "benchmarks/drive.py"), json.dumps(order)]
    pinned = meter.pinned(meter.GENERATOR_CORE, words)
    return subprocess.Popen(pinned, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def cost(process: subprocess.Popen[str]) -> float:
    """Return CPU µs of an iteration of one that runs; raise `Trouble` where it printed none."""
    printed, errors = process.communicate(timeout=120)
    try:
        return float(json.loads(printed[printed.index("{") :])["window"]["us"])
    except (ValueError, KeyError):
        raise meter.Trouble(f"{process.args!r} printed no figure; expected one (it said: {errors[-1000:]})") from None


def main() -> int:
    """Take all, print a line for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("other", type=Path, help="a checkout of another revision, built there by `make build`")
    parser.add_argument("--pairs", type=int, default=6, help="pairs of runs (default 6)")
    given = parser.parse_args()
    there = given.other.resolve()
    if not (there / ".venv/bin/python").exists():
        sys.exit(f"error: {there} has no .venv; expected a checkout that is built; run make -C {there} build")
    meter.need_two_cores()
    with tempfile.TemporaryDirectory() as folder, nginx(Path(folder)) as server:
        for name, order in orders(server.url).items():
            costs: dict[Path, list[float]] = {HERE: [], there: []}
            for number in range(given.pairs):
                roots = [HERE, there] if number % 2 == 0 else [there, HERE]
                for root, running in [(root, begin(root, order)) for root in roots]:
                    costs[root].append(cost(running))
            found = ratio(costs[HERE], costs[there])
            low, high = found["interval"] or (float("nan"), float("nan"))
            print(
                f"{name}: here / there {found['mean']:.3f} ({low:.3f} to {high:.3f}), {given.pairs} pairs", flush=True
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
