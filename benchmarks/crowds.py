"""Very many paced clients in one process, each once a second, every iteration recorded: 100,000 that do nothing, and as
many over HTTP to one address as open files and free ports allow, up to 20,000. Share of a core, memory of a client, and
how late they start. The clients of HTTP are taken at the default pacing, where the worker sleeps until a start is due,
and at `pacing: precise`, where it is awake 50 µs before: here a core that wakes up takes about 20 µs to do so.

A window of 0.05 s is undisturbed when the witnesses, threads of real-time priority on both cores that wake up each
millisecond, were never later than 0.1 ms in it: what is late then is late by the generator."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import meter
import paced_http
from figures import Report, progress
from peers import NGINX, versions
from ratios import Bar, level
from servers import nginx

SECOND = 1_000_000_000
NOOPS, REQUESTS = 100_000, 20_000
SPARE = 500
"""Descriptors of a process that are not a client's."""
PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")
WATCHED = (meter.SERVER_CORE, meter.GENERATOR_CORE)
LATE = Bar(most=100)
"""Most microseconds that 99 of 100 may start late in an undisturbed window."""
LEAST_CALM = 10
"""Undisturbed windows that a run needs to count."""


def ports() -> int:
    """Return how many connections to one address find a port at once.

    Linux tries ports of one parity first; for those of the other each connection searches through all that are taken.
    """
    first, last = map(int, PORTS.read_text().split())
    return (last - first + 1) // 2


def command(clients: int, client: dict[str, Any], step: dict[str, Any], pacing: str = "normal") -> list[str]:
    """Return the command of clients that act once a second each."""
    load: dict[str, Any] = {"clients": clients, "ramp": 2 * SECOND, "warm_up": 3 * SECOND, "for": 4 * SECOND}
    load |= {"pacing": pacing}
    load |= {"think": {"uniform": [SECOND, SECOND]}}
    return paced_http.drive({"load": load, "client": client, "step": step, "every": 0.05, "watched": list(WATCHED)})


def once(clients: int, words: list[str]) -> dict[str, float]:
    """Return what a crowd took, and how late its members started, µs; `quiet` is 0 where too little was undisturbed."""
    found = paced_http.told(words)
    window = found["window"]
    if not window:
        raise meter.Trouble(f"{clients:,} clients gave no steady window; expected 4 s (is the machine free?)")
    return {
        "share": window["cpu"] / window["seconds"],
        "bytes": (found["memory"] - found["memory_before"]) / clients,
        "per_second": window["count"] / window["seconds"],
        "p50": found["late_p50"] / 1e3,
        "p99": found["late_p99"] / 1e3,
        "quiet_p99": found["quiet_p99"] / 1e3 if found["undisturbed"] >= LEAST_CALM else 0.0,
        "undisturbed": found["undisturbed"] / max(1, found["windows"]),
    }


def run(folder: Path, pairs: int) -> Report:
    """Take the figures: half as many crowds as pairs."""
    meter.need_two_cores()
    sessions = min(REQUESTS, meter.open_files() - SPARE, ports())
    with nginx(folder) as server:
        noop = ({"protocol": "noop", "settings": {}}, {"verb": "noop"})
        request = ({"protocol": "http", "settings": {"url": server.url}}, {"verb": "request", "method": "GET"})
        crowds = {
            f"{NOOPS:,} noops": (NOOPS, command(NOOPS, *noop)),
            f"{sessions:,} HTTP clients": (sessions, command(sessions, *request)),
            f"{sessions:,} HTTP clients, precise": (sessions, command(sessions, *request, "precise")),
        }
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in crowds}
        for _ in range((pairs + 1) // 2):
            for name, (clients, words) in crowds.items():
                runs[name].append(once(clients, words))
                progress(f"{name}: {runs[name][-1]['share']:.0%} of a core, p99 {runs[name][-1]['p99']:.0f} µs late")
    return Report(
        about=" ".join((__doc__ or "").split()),
        figures={what: figure for name, of in runs.items() for what, figure in figures(name, of).items()},
        levels={name: {key: statistics.median(one[key] for one in of) for key in of[0]} for name, of in runs.items()},
        runs=runs,
        commands={name: words for name, (_, words) in crowds.items()},
        versions=versions([NGINX]),
    )


def figures(name: str, runs: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Return the figures of a crowd."""
    found = {
        f"{name}, share of a core": level([one["share"] for one in runs]),
        f"{name}, memory per client, bytes": level([one["bytes"] for one in runs]),
        f"{name}, scheduling delay p99, µs, all windows": level([one["p99"] for one in runs]),
    }
    if quiet := [one["quiet_p99"] for one in runs if one["quiet_p99"]]:
        found[f"{name}, scheduling delay p99, µs, undisturbed windows"] = level(quiet, LATE)
    return found
