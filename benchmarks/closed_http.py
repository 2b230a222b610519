"""HTTP closed loop: 64 keep-alive connections ask for 2 bytes as fast as they can; CPU time per request.

Requests are counted by the server, CPU time by the kernel, over a window of the steady part of each run: nobody's start
counts. pileup records every request in full (row, histograms, frames).
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import cores
import meter
from figures import Report, progress
from peers import K6, LOCUST, NGINX, OHA, WRK, Peer, here, versions
from ratios import Bar, ratio
from servers import Server, nginx

CONNECTIONS = 64
WARM, WINDOW, SPARE = 0.8, 2.0, 0.7
"""Seconds that requests come before the window, in it, and after it."""
LENGTH = round(WARM + WINDOW + SPARE + 0.5)
BARS = {"wrk": Bar(most=0.95), "oha": Bar(most=0.8), "k6": Bar(most=0.25), "locust": Bar(most=0.125)}
"""Ours to theirs: k6 at least 4 times, locust at least 8 times dearer."""

SCRIPT = """
import http from "k6/http";
export const options = {vus: %d, duration: "%ds"};
export default function () { http.get("%s"); }
"""
FILE = """
from locust import FastHttpUser, constant, task

class Asking(FastHttpUser):
    wait_time = constant(0)

    @task
    def ask(self):
        self.client.get("/")
"""


@dataclass(frozen=True, slots=True)
class Contender:
    """A generator: its command for a run."""

    name: str
    command: Callable[[Server, Path], list[str]]
    peer: Peer | None = None


def pileup(server: Server, _folder: Path, seconds: float = LENGTH) -> list[str]:
    """Return the command of pileup's own engine."""
    load = {"clients": CONNECTIONS, "for": int(seconds * 1e9)}
    order = {"load": load, "client": {"protocol": "http", "settings": {"url": server.url}}, "every": 0.25}
    plain = json.dumps(order | {"step": {"verb": "request", "method": "GET"}})
    return [sys.executable, str(Path(__file__).with_name("drive.py")), plain]


def wrk(server: Server, _folder: Path, seconds: float = LENGTH) -> list[str]:
    """Return the command of wrk."""
    return [str(WRK.path()), "-t1", f"-c{CONNECTIONS}", f"-d{seconds:.0f}s", server.url]


def oha(server: Server, _folder: Path, seconds: float = LENGTH) -> list[str]:
    """Return the command of oha."""
    return [str(OHA.path()), "--no-tui", "-z", f"{seconds:.0f}s", "-c", str(CONNECTIONS), server.url]


def k6(server: Server, folder: Path) -> list[str]:
    """Return the command of k6."""
    script = folder / "load.js"
    script.write_text(SCRIPT % (CONNECTIONS, LENGTH, server.url))
    return [str(K6.path()), "run", "--quiet", "--no-usage-report", "--no-summary", str(script)]


def locust(server: Server, folder: Path) -> list[str]:
    """Return the command of locust with its fast client."""
    file = folder / "locustfile.py"
    file.write_text(FILE)
    users = ["-u", str(CONNECTIONS), "-r", str(CONNECTIONS), "-t", f"{LENGTH:.0f}s"]
    return [
        str(LOCUST.path()),
        "-f",
        str(file),
        "--headless",
        "--only-summary",
        "--host",
        server.url.rstrip("/"),
        *users,
    ]


CONTENDERS = (
    Contender("pileup", pileup),
    Contender("wrk", wrk, WRK),
    Contender("oha", oha, OHA),
    Contender("k6", k6, K6),
    Contender("locust", locust, LOCUST),
)


def once(contender: Contender, server: Server, folder: Path) -> dict[str, float]:
    """Run a generator; return CPU µs per request and requests per second of the window."""
    before = server.requests()
    with meter.running(meter.GENERATOR_CORE, contender.command(server, folder), folder / "out.txt", folder) as child:
        try:
            meter.until(lambda: server.requests() > before + 1000, 20, f"load of {contender.name}")
        except meter.Trouble as trouble:
            raise meter.Trouble(f"{trouble}\n{child.text()[-1000:]}") from None
        time.sleep(WARM)
        begin, cpu, count = time.monotonic(), meter.cpu(child.process.pid), server.requests()
        time.sleep(WINDOW)
        used, done = meter.cpu(child.process.pid) - cpu, server.requests() - count - 1
        seconds = time.monotonic() - begin
        if contender.peer is None:
            check(child, server, before)
    if used <= 0 or done <= 0:
        raise meter.Trouble(f"{contender.name} did nothing in its window; expected load (see {child.text()[-500:]})")
    return {"us": used / done * 1e6, "per_second": done / seconds}


def check(child: meter.Child, server: Any, before: int, others: int = 1000) -> None:
    """Hold what pileup has recorded to what the server has seen, but for so many others: its record must be full."""
    child.process.wait(60)
    told = json.loads(child.text())
    extra = server.requests() - before - told["all"]
    if told["failed"] or not 0 <= extra <= others:
        raise meter.Trouble(f"pileup recorded {told['all']} requests, {told['failed']} failed, {extra} other ones came")


def run(folder: Path, pairs: int) -> Report:
    """Take the figures."""
    meter.need_two_cores()
    peers = here(WRK, OHA, K6, LOCUST)
    taking = [each for each in CONTENDERS if each.peer is None or each.peer in peers]
    runs: dict[str, list[dict[str, float]]] = {each.name: [] for each in taking}
    distance = cores.Distance(folder)
    with nginx(folder) as server:
        commands = {each.name: each.command(server, folder) for each in taking}
        for number in range(pairs):
            for each in taking if number % 2 == 0 else taking[::-1]:
                runs[each.name].append(distance.around(partial(once, each, server, folder)))
                progress(f"{each.name} {runs[each.name][-1]['us']:.2f} µs {cores.kind(runs[each.name][-1])}")
    return Report(
        about=" ".join((__doc__ or "").split()),
        figures=ratios(runs),
        levels={name: levels(of) for name, of in runs.items()},
        runs=runs,
        commands=commands,
        versions=versions([NGINX, *peers]),
    )


def ratios(runs: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    """Return the ratio of CPU per request to each peer, by how far apart the cores were."""
    return {
        f"CPU per request, pileup / {name}{words}": ratio(*([one["us"] for one in of] for of in pairs), BARS[name])
        for name in runs
        if name != "pileup"
        for words, pairs in cores.by_kind(runs["pileup"], runs[name]).items()
    }


def levels(runs: list[dict[str, float]]) -> dict[str, float]:
    """Return medians of the runs of one generator."""
    return {
        "CPU µs per request": statistics.median(run["us"] for run in runs),
        "requests per second": statistics.median(run["per_second"] for run in runs),
    }
