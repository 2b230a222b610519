"""What a second native worker gives: the rate of two workers to that of one, for noops and for HTTP requests.

Both run on all cores of the machine. A worker has a thread that writes its rows: on a machine of two cores, that of a
single worker has the other core to itself, so that one worker takes more than a core. The same worker on one core is
what two workers on two cores double. Two programs of one worker each, at the same time, share nothing: what they reach
is what the machine gives two cores that are busy. A noop needs nothing else. A request needs a server, which has to
have a core of its own before it can allow twice the rate: on a machine of two cores it has none beside two workers.
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
APART = Bar(least=0.95)
"""Of what two programs reach that share nothing."""


def command(workers: int, client: dict[str, Any], step: dict[str, Any]) -> list[str]:
    """Return the command of pileup's own engine."""
    load = {"clients": CLIENTS, "workers": workers, "warm_up": 500_000_000, "for": SECONDS * 10**9}
    order = {"load": load, "client": client, "step": step, "every": 0.25}
    return [sys.executable, str(Path(__file__).with_name("drive.py")), json.dumps(order)]


TWO_PROGRAMS = "noop, 2 programs of one worker"
ONE_CORE = "noop, workers: 1, on one core"


def commands(url: str) -> dict[str, list[str]]:
    """Return all commands, by name."""
    kinds: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "noop": ({"protocol": "noop", "settings": {}}, {"verb": "noop"}),
        "http": ({"protocol": "http", "settings": {"url": url}}, {"verb": "request", "method": "GET"}),
    }
    made = {f"{kind}, workers: {n}": command(n, *kinds[kind]) for kind in kinds for n in (1, 2)}
    alone = made["noop, workers: 1"]
    return {TWO_PROGRAMS: alone, ONE_CORE: meter.pinned(meter.GENERATOR_CORE, alone), **made}


def once(words: list[str], programs: int = 1) -> dict[str, float]:
    """Run one, or the same several times at once; return iterations per second in the steady part, all together."""
    begun = [
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(programs)
    ]
    return {"per_second": sum(figure(*each.communicate(timeout=60)) for each in begun)}


def figure(out: str, err: str) -> float:
    """Return iterations per second in the steady part of what one has printed."""
    try:
        found = json.loads(out[out.index("{") :])
    except ValueError:
        raise meter.Trouble(f"no figure came; expected one (it said: {err[-1000:]})") from None
    window = found["window"]
    if found["failed"] or not window:
        raise meter.Trouble(f"{found['failed']} iterations failed; expected none, and four frames at least")
    return float(window["count"] / window["seconds"])


def run(folder: Path, pairs: int) -> Report:
    """Take the figures."""
    meter.need_two_cores()
    cores = len(os.sched_getaffinity(0))
    with nginx(folder) as server:
        words = commands(server.url)
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in words}
        for number in range(pairs):
            for name in words if number % 2 == 0 else reversed(words):
                runs[name].append(once(words[name], 2 if name == TWO_PROGRAMS else 1))
                progress(f"{name} {runs[name][-1]['per_second']:.0f} /s")
    rates = {name: [one["per_second"] for one in of] for name, of in runs.items()}
    http = LEAST if cores > 2 else None
    return Report(
        about=" ".join((__doc__ or "").split()),
        figures={
            f"{kind}, rate of 2 workers / 1": ratio(rates[f"{kind}, workers: 2"], rates[f"{kind}, workers: 1"], bar)
            for kind, bar in (("noop", LEAST), ("http", http))
        }
        | {
            "noop, rate of 2 workers on two cores / 1 on one": ratio(rates["noop, workers: 2"], rates[ONE_CORE], LEAST),
            "noop, rate of 2 workers / 2 programs": ratio(rates["noop, workers: 2"], rates[TWO_PROGRAMS], APART),
            "noop, rate of 2 programs / 1": ratio(rates[TWO_PROGRAMS], rates["noop, workers: 1"], None),
        },
        levels={name: {"per_second": statistics.median(of)} for name, of in rates.items()},
        runs=runs,
        commands=words,
        versions=versions([NGINX]),
        notes=[f"{cores} cores; one nginx worker on one of them."],
    )
