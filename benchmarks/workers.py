"""What a second native worker gives: the rate of two workers to that of one, for noops and for HTTP requests.

Both run on all cores of the machine. A noop needs nothing else. A request needs a server, which has to have a core of
its own before it can allow twice the rate: on a machine of two cores it has none beside two workers.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import meter
from figures import Report, progress
from peers import NGINX, versions
from ratios import Bar, ratio
from servers import nginx

SECONDS = 2
CLIENTS = 64
LEAST = Bar(least=1.8)


def command(workers: int, client: dict[str, Any], step: dict[str, Any]) -> list[str]:
    """Return the command of pileup's own engine."""
    load = {"clients": CLIENTS, "workers": workers, "warm_up": 500_000_000, "for": SECONDS * 10**9}
    order = {"load": load, "client": client, "step": step, "every": 0.25}
    return [sys.executable, str(Path(__file__).with_name("drive.py")), json.dumps(order)]


def commands(url: str) -> dict[str, list[str]]:
    """Return all commands, by name."""
    kinds: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "noop": ({"protocol": "noop", "settings": {}}, {"verb": "noop"}),
        "http": ({"protocol": "http", "settings": {"url": url}}, {"verb": "request", "method": "GET"}),
    }
    return {f"{kind}, workers: {n}": command(n, *kinds[kind]) for kind in kinds for n in (1, 2)}


def once(words: list[str]) -> dict[str, float]:
    """Run one; return iterations per second in its steady part."""
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    try:
        told = json.loads(done.stdout[done.stdout.index("{") :])
    except ValueError:
        raise meter.Trouble(f"no figure came; expected one (it said: {done.stderr[-1000:]})") from None
    window = told["window"]
    if told["failed"] or not window:
        raise meter.Trouble(f"{told['failed']} iterations failed; expected none, and four frames at least")
    return {"per_second": window["count"] / window["seconds"]}


def run(folder: Path, pairs: int) -> Report:
    """Take the figures."""
    meter.need_two_cores()
    cores = len(os.sched_getaffinity(0))
    with nginx(folder) as server:
        words = commands(server.url)
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in words}
        for number in range(pairs):
            for name in words if number % 2 == 0 else reversed(words):
                runs[name].append(once(words[name]))
                progress(f"{name} {runs[name][-1]['per_second']:.0f} /s")
    rates = {name: [one["per_second"] for one in of] for name, of in runs.items()}
    http = LEAST if cores > 2 else None
    return Report(
        about=" ".join((__doc__ or "").split()),
        figures={
            f"{kind}, rate of 2 workers / 1": ratio(rates[f"{kind}, workers: 2"], rates[f"{kind}, workers: 1"], bar)
            for kind, bar in (("noop", LEAST), ("http", http))
        },
        levels={name: {"per_second": statistics.median(of)} for name, of in rates.items()},
        runs=runs,
        commands=words,
        versions=versions([NGINX]),
        notes=[f"{cores} cores; one nginx worker on one of them."],
    )
