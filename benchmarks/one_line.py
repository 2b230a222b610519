"""What `pileup bench URL` costs beside the same load in a suite: iterations per second, CPU and wall time of both.

Each pair is one run of `pileup bench URL` and one of `pileup run` with the suite that it saves, at the same time and on
the same core: looks at files on the disk and on XRootD by root://, requests to nginx by http. What else the machine
does disturbs both alike, and the scheduler gives each half of the core. Iterations per second are those of the measured
part of the load; CPU time is that of the whole command, start and reports included, divided by the iterations; wall
time is that of the whole command.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import meter
import storage_servers
from figures import Report, progress
from peers import NGINX, XROOTD, versions
from ratios import Bar, ratio

SECONDS = 3
AT_MOST = Bar(most=1.02)
FILES = {"small": 1024}


def commands(folder: Path, urls: dict[str, str]) -> dict[str, list[str]]:
    """Return the commands by name: one line and suite for each url; the suites are kept beside."""
    found: dict[str, list[str]] = {}
    for name, url in urls.items():
        suite = str(folder / f"{name}.yaml")
        begin = [sys.executable, "-m", "pileup"]
        end = ["--json", "--quiet", "--out", str(folder / "runs")]
        operation = "--get" if name == "http" else "--stat"
        line = [*begin, "bench", url, operation, "--clients", "4", "--for", f"{SECONDS}s"]
        subprocess.run([*line, "--save", suite, "--show"], check=True, capture_output=True)
        found |= {f"{name}, bench": [*line, *end], f"{name}, suite": [*begin, "run", suite, *end]}
    return found


def together(pair: list[list[str]], folder: Path) -> list[dict[str, float]]:
    """Run both at the same time on one core; return the figures of each."""
    begun = [_begin(words, folder / f"printed-{number}") for number, words in enumerate(pair)]
    return [_end(*each) for each in begun]


def _begin(words: list[str], printed: Path) -> tuple[subprocess.Popen[str], Path, float]:
    with printed.open("w") as sink:
        process = subprocess.Popen(meter.pinned(meter.GENERATOR_CORE, words), stdout=sink, text=True)
    return process, printed, time.monotonic()


def _end(process: subprocess.Popen[str], printed: Path, begun: float) -> dict[str, float]:
    """Wait for its end, two minutes at most; return its iterations per second, its CPU seconds and its wall seconds."""
    stopper = threading.Timer(120, process.kill)
    stopper.start()
    _, status, usage = os.wait4(process.pid, 0)
    stopper.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    wall, text = time.monotonic() - begun, printed.read_text()
    if process.returncode or "{" not in text:
        raise meter.Trouble(f"{process.args!r} ended with {process.returncode}; expected 0 (run it by hand)")
    told: dict[str, Any] = json.loads(text[text.index("{") :])
    load = next(each for each in told["cases"][-1]["operations"] if each["iteration"])
    passed = load["counts"]["passed"]
    cpu = usage.ru_utime + usage.ru_stime
    return {"per_second": passed / load["seconds"], "cpu_us": 1e6 * cpu / passed, "wall": wall}


def run(folder: Path, pairs: int) -> Report:
    """Take the figures."""
    meter.need_two_cores()
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    storage_servers.prepare(folder, FILES)
    disk = folder / "disk"
    disk.mkdir()
    with storage_servers.xrootd(folder) as grid, storage_servers.nginx(folder) as web:
        urls = {"posix": str(disk), "http": f"{web.urls['http']}/small", "root": grid.urls["root"]}
        words = commands(folder, urls)
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in words}
        for number in range(pairs):
            for kind in urls:
                names = [f"{kind}, bench", f"{kind}, suite"][:: 1 if number % 2 == 0 else -1]
                for name, found in zip(names, together([words[name] for name in names], folder), strict=True):
                    runs[name].append(found)
                    progress(
                        f"{name} {found['per_second']:.0f} /s, {found['cpu_us']:.1f} µs of CPU, {found['wall']:.2f} s"
                    )

    def of(name: str, what: str) -> list[float]:
        return [one[what] for one in runs[name]]

    shown = {
        f"{kind}: iterations per second, suite / bench": ratio(
            of(f"{kind}, suite", "per_second"), of(f"{kind}, bench", "per_second"), AT_MOST
        )
        for kind in urls
    }
    for what, key in (("CPU time of an iteration", "cpu_us"), ("wall time", "wall")):
        for kind in urls:
            bench, suite = (of(f"{kind}, {way}", key) for way in ("bench", "suite"))
            shown[f"{kind}: {what}, bench / suite"] = ratio(bench, suite, AT_MOST)
    return Report(
        about=" ".join((__doc__ or "").split()),
        figures=shown,
        levels={
            name: {what: statistics.median(one[what] for one in each) for what in each[0]}
            for name, each in runs.items()
        },
        runs=runs,
        commands=words,
        versions=versions([NGINX, XROOTD]),
    )
