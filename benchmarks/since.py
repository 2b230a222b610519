"""What pileup costs now and in another checkout of it: CPU time of both at the same time on one core, starts in turn.

    git worktree add --detach ../pileup-before REV && make -C ../pileup-before build
    .venv/bin/python benchmarks/since.py ../pileup-before --pairs 6
    .venv/bin/python benchmarks/since.py ../pileup-before --pairs 10 --keep

What else the machine does disturbs both alike, so that differences of a few percent show within minutes. `--keep`
writes results/since.json and docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bench
import figures
import meter
import paced_http
import samples
from peers import NGINX, versions
from ratios import Bar, level, ratio
from servers import Server, nginx

HERE = Path(__file__).resolve().parent.parent
SECOND = 1_000_000_000
ABOUT = (
    "pileup beside an older revision of itself, every iteration recorded by both. CPU time of an iteration: both at "
    "the same time on one core, each with a server of its own on the other; who starts first changes from pair to "
    "pair. How late iterations start: in turn, with the threads of the generator on all cores, in windows of 0.05 s "
    "that the witnesses of `paced` call undisturbed. Not worse is a ratio of at most 1 with its whole interval."
)
NOT_WORSE = Bar(most=1.0)
FULL = {"clients": 64, "workers": 1, "warm_up": SECOND // 2, "for": 4 * SECOND}
PYTHON = {"clients": 1, "warm_up": "0.5 s", "for": "3 s"}
PACED = {"clients": paced_http.CLIENTS, "ramp": SECOND, "warm_up": 2 * SECOND, "for": 4 * SECOND}
PACED |= {"think": {"uniform": [SECOND, SECOND]}}
RATE = 10_000
"""Requests per second whose starts are looked at."""
OPEN = {"kind": "open", "rate": RATE, "clients": 256, "warm_up": SECOND, "for": 4 * SECOND}
WATCHED = {"every": 0.05, "watched": [meter.SERVER_CORE, meter.GENERATOR_CORE]}
CROWD = f"{paced_http.CLIENTS:,} HTTP clients at 1/s"
REQUESTS = f"{RATE:,} HTTP requests per second, open"

Pairs = list[tuple[dict[str, float], dict[str, float]]]
"""What was found here and there."""
Orders = Callable[[str], dict[str, dict[str, Any]]]
"""What drive.py is asked for, by name, of a server."""
Run = Callable[[list[tuple[Path, dict[str, Any]]]], dict[Path, dict[str, float]]]
"""Runs the loads of some checkouts; returns what was found of each."""


def http(url: str, load: dict[str, Any]) -> dict[str, Any]:
    """Return what drive.py is asked for: requests to a server."""
    client = {"protocol": "http", "settings": {"url": url}}
    return {"load": load, "client": client, "step": {"verb": "request", "method": "GET"}, "every": 0.25}


def costly(url: str) -> dict[str, dict[str, Any]]:
    """Return the orders whose CPU time is compared, by name."""
    noop = {"client": {"protocol": "noop", "settings": {}}, "step": {"verb": "noop"}}
    found = {"noop": {"load": FULL, "every": 0.25} | noop, "HTTP request": http(url, FULL), CROWD: http(url, PACED)}
    return found | {f"Python, {kind}": {"load": PYTHON, "every": 0.25, "python": kind} for kind in samples.KINDS}


def timed(url: str) -> dict[str, dict[str, Any]]:
    """Return the orders whose starts are compared, by name."""
    return {REQUESTS: http(url, OPEN) | WATCHED, CROWD: http(url, PACED) | WATCHED}


def words(root: Path, order: dict[str, Any]) -> list[str]:
    """Return the command of a load of one checkout."""
    return [str(root / ".venv/bin/python"), str(root / "benchmarks/drive.py"), json.dumps(order)]


def begin(root: Path, command: list[str]) -> subprocess.Popen[str]:
    """Start the load of one checkout."""
    return subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def printed(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Return what a load has measured; raise `Trouble` where it printed none, or no steady window."""
    text, errors = process.communicate(timeout=120)
    try:
        found: dict[str, Any] = json.loads(text[text.index("{") :])
    except ValueError:
        raise meter.Trouble(f"{process.args!r} printed no figure; expected one (it said: {errors[-1000:]})") from None
    if found["failed"] or not found["window"]:
        raise meter.Trouble(f"{process.args!r}: {found['failed']} failed, window {found['window']}; expected none, one")
    return found


def at_once(sides: list[tuple[Path, dict[str, Any]]]) -> dict[Path, dict[str, float]]:
    """Run the loads of all at the same time on one core; return CPU µs of an iteration of each."""
    started = [(root, begin(root, meter.pinned(meter.GENERATOR_CORE, words(root, order)))) for root, order in sides]
    return {root: {"us": printed(process)["window"]["us"]} for root, process in started}


def in_turn(sides: list[tuple[Path, dict[str, Any]]]) -> dict[Path, dict[str, float]]:
    """Run the loads one after the other; return how late each started, µs: 0 where too little was undisturbed."""
    found = {}
    for root, order in sides:
        one = printed(begin(root, words(root, order)))
        quiet = one["quiet_p99"] / 1e3 if one["undisturbed"] >= paced_http.LEAST_CALM else 0.0
        found[root] = {"p50": one["late_p50"] / 1e3, "p99": one["late_p99"] / 1e3, "quiet_p99": quiet}
    return found


def take(orders: Orders, run: Run, what: str, servers: dict[Path, Server], pairs: int) -> dict[str, Pairs]:
    """Take all pairs of the orders, by name: who is first changes. `what` is the figure that is shown meanwhile, µs."""
    found: dict[str, Pairs] = {}
    for name in orders(""):
        for number in range(pairs):
            roots = list(servers)[:: 1 if number % 2 == 0 else -1]
            one = run([(root, orders(servers[root].url)[name]) for root in roots])
            here, there = (one[root] for root in servers)
            found.setdefault(name, []).append((here, there))
            figures.progress(f"{name}: {what}: {here[what]:.2f} here, {there[what]:.2f} there")
    return found


def compared(costs: dict[str, Pairs], starts: dict[str, Pairs]) -> dict[str, dict[str, Any]]:
    """Return the figures."""
    found = {
        f"CPU, {name}, here / there": ratio([a["us"] for a, _ in of], [b["us"] for _, b in of], NOT_WORSE)
        for name, of in costs.items()
    }
    for name, of in starts.items():
        calm = [(a["quiet_p99"], b["quiet_p99"]) for a, b in of if a["quiet_p99"] and b["quiet_p99"]]
        if calm:
            what = f"scheduling delay p99, {name}, undisturbed windows"
            found[f"{what}, here, µs"] = level([a for a, _ in calm])
            found[f"{what}, there, µs"] = level([b for _, b in calm])
            found[f"{what}, here / there"] = ratio(*zip(*calm, strict=True), NOT_WORSE)
    return found


def revision(root: Path) -> str:
    """Return the commit of a checkout, and its day."""
    command = ["git", "-C", str(root), "show", "--no-patch", "--format=%h of %cs", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def report(there: Path, costs: dict[str, Pairs], starts: dict[str, Pairs]) -> figures.Report:
    """Return what is kept."""
    runs = {
        f"{name}, {where}": [pair[place] for pair in of]
        for taken in (costs, {f"starts, {name}": of for name, of in starts.items()})
        for name, of in taken.items()
        for place, where in enumerate(("here", "there"))
    }
    levels = {name: {what: statistics.median(one[what] for one in of) for what in of[0]} for name, of in runs.items()}
    commands = {name: words(HERE, order) for name, order in (costly("URL") | timed("URL")).items()}
    known = versions([NGINX]) | {"pileup here": revision(HERE), "pileup there": revision(there)}
    return figures.Report(ABOUT, compared(costs, starts), levels, runs, commands, known)


def main() -> int:
    """Take all, print a line for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("other", type=Path, help="a checkout of another revision, built there by `make build`")
    parser.add_argument("--pairs", type=int, default=6, help="pairs of runs (default 6)")
    parser.add_argument("--keep", action="store_true", help="write the results and their page")
    given = parser.parse_args()
    there = given.other.resolve()
    if not (there / ".venv/bin/python").exists():
        sys.exit(f"error: {there} has no .venv; expected a checkout that is built; run make -C {there} build")
    meter.need_two_cores()
    before = figures.before()
    with contextlib.ExitStack() as stack:
        folders = {root: Path(stack.enter_context(tempfile.TemporaryDirectory())) for root in (HERE, there)}
        servers = {root: stack.enter_context(nginx(folder)) for root, folder in folders.items()}
        costs = take(costly, at_once, "us", servers, given.pairs)
        starts = take(timed, in_turn, "p99", servers, given.pairs)
    taken = report(there, costs, starts)
    for what, figure in taken.figures.items():
        print(figures.row(what, figure))
    if given.keep:
        figures.keep("since", taken, before)
        bench.page()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except meter.Trouble as trouble:
        sys.exit(f"since: {trouble}")
