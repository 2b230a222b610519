"""A Python operation: CPU time of an idle iteration, with an operation of its own, and async, in pileup with its full
record; beside it locust's task that fires its event. One client, closed loop, one core."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import meter
from figures import Report, progress
from peers import LOCUST, here, python_of, versions
from ratios import Bar, level, ratio

WARM, WINDOW = 0.5, 1.5
MICROSECONDS = {"paced": 1.0, "with op()": 2.0, "async": 3.0}
"""What an iteration may cost, CPU µs, on the machine on which a task of locust costs `TASK`."""
TASK = 5.54
"""CPU µs of a task of locust there (22 November 2026). Virtual cores differ by more than a factor of two from day to
day: the bars are those costs as shares of the task, which runs beside them."""


def pileup(kind: str) -> list[str]:
    """Return the command of a load of pileup."""
    load = {"clients": 1, "warm_up": f"{WARM} s", "for": f"{WINDOW} s"}
    order = json.dumps({"load": load, "python": kind, "every": 0.25})
    return [sys.executable, str(Path(__file__).with_name("drive.py")), order]


def locust() -> list[str]:
    """Return the command of a load of locust."""
    return [python_of(LOCUST), str(Path(__file__).with_name("loop_of_locust.py")), str(WINDOW)]


def once(command: list[str]) -> dict[str, float]:
    """Run it; return CPU µs per iteration."""
    words = meter.pinned(meter.GENERATOR_CORE, command)
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    try:
        told = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        raise meter.Trouble(f"no figure came; expected one (it said: {done.stderr[-1000:]})") from None
    window = told.get("window", told)
    return {"us": window["us"], "count": window["count"]}


def run(_folder: Path, pairs: int) -> Report:
    """Take the figures."""
    peers = here(LOCUST)
    commands = {kind: pileup(kind) for kind in MICROSECONDS} | ({"locust": locust()} if peers else {})
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in commands}
    for number in range(pairs):
        for name in commands if number % 2 == 0 else reversed(commands):
            runs[name].append(once(commands[name]))
            progress(f"{name} {runs[name][-1]['us']:.2f} µs")
    return Report(
        about=" ".join((__doc__ or "").split()),
        figures=figures({name: [one["us"] for one in of] for name, of in runs.items()}),
        levels={name: {"CPU µs": statistics.median(one["us"] for one in of)} for name, of in runs.items()},
        runs=runs,
        commands=commands,
        versions=versions(peers),
    )


def figures(us: dict[str, list[float]]) -> dict[str, Any]:
    """Return CPU time of each kind, and its ratio to locust's task."""
    found: dict[str, Any] = {f"CPU µs per iteration, {kind}": level(us[kind]) for kind in MICROSECONDS}
    if "locust" in us:
        bars = {kind: Bar(most=round(most / TASK, 2)) for kind, most in MICROSECONDS.items()}
        found |= {f"{kind} / locust": ratio(us[kind], us["locust"], bars[kind]) for kind in MICROSECONDS}
    return found
