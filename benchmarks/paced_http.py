"""Paced HTTP load, every request recorded in full: 10,000 keep-alive clients that each ask once a second (CPU share of
a core, memory of a client), at pacing normal and coarse; and how late requests start at a fifth of what the engine can
do at most.

There the threads of the generator have all cores, as in any run.
A window of 0.05 s is undisturbed when the witnesses, threads of real-time priority on both cores that wake up each
millisecond, were never later than 0.1 ms in it: what is late then is late by the generator."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import cores
import meter
from figures import Report, progress
from peers import NGINX, versions
from ratios import Bar, level
from servers import Server, nginx

CLIENTS, SECOND = 10_000, 1_000_000_000
SHARES = {"normal": Bar(most=0.5), "coarse": Bar(most=0.25)}
MEMORY, LATE = Bar(most=25_000), Bar(most=100)
CALM = 0.2
"""Share of the most requests per second at which starts are looked at."""
LEAST_CALM = 10
"""Undisturbed windows that a run needs to count."""


def command(server: Server, load: dict[str, Any], every: float, watched: Sequence[int] = ()) -> list[str]:
    """Return the command of a load; `watched` are cores that have a witness."""
    order = {"load": load, "client": {"protocol": "http", "settings": {"url": server.url}}, "every": every}
    order |= {"watched": list(watched)} if watched else {}
    return drive(order | {"step": {"verb": "request", "method": "GET"}})


def drive(order: dict[str, Any]) -> list[str]:
    """Return the command of a load of pileup's engine, see drive.py."""
    return [sys.executable, str(Path(__file__).with_name("drive.py")), json.dumps(order)]


def told(words: list[str]) -> dict[str, Any]:
    """Run a load; return what it measured."""
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=90)
    try:
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        raise meter.Trouble(f"no figure came; expected one (it said: {done.stderr[-1000:]})") from None
    if found["failed"]:
        raise meter.Trouble(f"{found['failed']} requests failed; expected none (look at nginx's error log)")
    return found


def clients(server: Server, pacing: str) -> list[str]:
    """Return the command of clients that ask once a second each."""
    load = {"clients": CLIENTS, "ramp": SECOND, "warm_up": 2 * SECOND, "for": 4 * SECOND, "pacing": pacing}
    return command(server, load | {"think": {"uniform": [SECOND, SECOND]}}, 0.5)


def crowd(server: Server, pacing: str) -> dict[str, float]:
    """Return CPU share, memory of a client, and what was reached."""
    found = told(meter.pinned(meter.GENERATOR_CORE, clients(server, pacing)))
    window = found["window"]
    if not window:
        raise meter.Trouble("10,000 clients gave no steady window; expected 4 s (is the machine free?)")
    return {
        "share": window["cpu"] / window["seconds"],
        "bytes": (found["memory"] - found["memory_before"]) / CLIENTS,
        "per_second": window["count"] / window["seconds"],
    }


def starts(server: Server, rate: float) -> list[str]:
    """Return the command of an open load."""
    load = {"kind": "open", "rate": rate, "clients": 256, "warm_up": SECOND, "for": 4 * SECOND}
    return command(server, load, 0.05, (meter.SERVER_CORE, meter.GENERATOR_CORE))


def lateness(server: Server) -> dict[str, float]:
    """Return how late requests start at a fifth of the most that is reached just before, µs."""
    most = told(command(server, {"clients": 64, "warm_up": SECOND // 2, "for": SECOND}, 0.1))["window"]
    rate = CALM * most["count"] / most["seconds"]
    found = told(starts(server, rate))
    quiet = found["quiet_p99"] / 1e3 if found["undisturbed"] >= LEAST_CALM else 0.0
    return {
        "rate": rate,
        "p50": found["late_p50"] / 1e3,
        "p99": found["late_p99"] / 1e3,
        "quiet_p99": quiet,
        "undisturbed": found["undisturbed"] / max(1, found["windows"]),
    }


def run(folder: Path, pairs: int) -> Report:
    """Take the figures: half as many crowds as pairs, they differ little."""
    meter.need_two_cores()
    if meter.open_files() < CLIENTS + 200:
        raise meter.Trouble(f"{meter.open_files()} open files are allowed; expected {CLIENTS + 200} (ulimit -Hn)")
    crowds: dict[str, list[dict[str, float]]] = {pacing: [] for pacing in SHARES}
    late: list[dict[str, float]] = []
    distance = cores.Distance(folder)
    with nginx(folder) as server:
        commands = {pacing: clients(server, pacing) for pacing in SHARES} | {"starts": starts(server, 20000)}
        for number in range(pairs):
            for pacing in SHARES if number % 2 == 0 else ():
                crowds[pacing].append(crowd(server, pacing))
                progress(f"10,000 clients, {pacing}: {crowds[pacing][-1]['share']:.0%} of a core")
            late.append(distance.around(partial(lateness, server)))
            progress(f"scheduling delay p99 {late[-1]['p99']:.0f} µs {cores.kind(late[-1])}")
    return Report(
        about=" ".join((__doc__ or "").split()),
        figures=figures(crowds, late),
        levels={f"10,000 clients, {pacing}": medians(of) for pacing, of in crowds.items()} | {"starts": medians(late)},
        runs=crowds | {"starts": late},
        commands=commands,
        versions=versions([NGINX]),
    )


def figures(crowds: dict[str, list[dict[str, float]]], late: list[dict[str, float]]) -> dict[str, Any]:
    """Return the figures that are held to bars."""
    found = {
        f"share of a core, 10,000 clients at 1/s, {pacing}": level([one["share"] for one in of], SHARES[pacing])
        for pacing, of in crowds.items()
    }
    found["memory per client, bytes"] = level([one["bytes"] for one in crowds["normal"]], MEMORY)
    what = "scheduling delay p99 at 20 % load, µs"
    for words, (of,) in cores.by_kind(late).items():
        found[f"{what}, all windows{words}"] = level([one["p99"] for one in of])
        if quiet := [one["quiet_p99"] for one in of if one["quiet_p99"]]:
            found[f"{what}, undisturbed windows{words}"] = level(quiet, LATE)
    return found


def medians(runs: list[dict[str, float]]) -> dict[str, float]:
    """Return the median of each figure."""
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}
