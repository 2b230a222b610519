"""The relay of `path` and `pileup relay`: the latency of 20 ms that it adds at a fifth of the requests that go through
it at most, by up to 4,096 connections, and the same requests by 8,000; one stream of 1 GiB without latency.

What the relay adds over 20 ms is what it reports itself: from the times at which the kernel had a question and its
answer until each was written on. That is held to the bars, whatever else the machine did. Beside it stands what a
client sees: the percentile of requests through the relay less the median of those past it, at the same rate in turn, in
all windows of 0.05 s and in undisturbed ones: those in which, and in the 25 ms before, no witness on either core was
late by more than 0.1 ms (as in `paced`). In that are the waits of client and server for their cores, too: nginx shares
its core with the relay, which goes first. The 8,000 clients pause for a random time, or those that have waited together
once would ask together for good. A stream is read by curl from nginx, past the relay, through it and through socat;
their CPU time is that of the process of relay or socat.
"""

from __future__ import annotations

import contextlib
import json
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import meter
import storage_servers
from figures import Report, progress
from paced_http import told
from peers import CURL, NGINX, SOCAT, here, versions
from ratios import Bar, level, ratio
from servers import nginx

CONNECTIONS, SECOND, LATENCY = 8_000, 1_000_000_000, 20_000_000
RAMP = 3 * SECOND
"""In which the connections begin: so many at once are more than nginx takes beside the relay."""
LASTING = LATENCY + 5_000_000
"""How long a request takes, ns."""
LEAST_CALM = 10
"""Undisturbed windows that a run needs to count."""
CALMER, CROWDED = "a fifth of the load", "8,000 connections"
CALM = 0.2
"""Share of the most requests per second at which the latency is looked at."""
FILE, SIZE = "large", 1 << 30
MEDIAN, TAIL = Bar(most=0.2), Bar(most=1.0)
"""Milliseconds."""
SPEED, CPU = Bar(least=0.4), Bar(most=1.0)
READY = re.compile(r"ready at 127\.0\.0\.1:(\d+)")


def command(
    url: str, load: dict[str, Any], every: float = 0.25, watched: Sequence[int] = (), control: Path | None = None
) -> list[str]:
    """Return the command of a load; `watched` are cores that have a witness, `control` the socket of a relay."""
    order = {"load": load, "client": {"protocol": "http", "settings": {"url": url}}, "every": every}
    order |= {"watched": list(watched), "lasting": LASTING} if watched else {}
    order |= {"relay": {"control": str(control), "path": {"latency": [LATENCY // 2] * 2}}} if control else {}
    plain = json.dumps(order | {"step": {"verb": "request", "method": "GET"}})
    return [sys.executable, str(Path(__file__).with_name("drive.py")), plain]


@contextlib.contextmanager
def relay(folder: Path, port: int, *words: str) -> Iterator[tuple[int, int]]:
    """Run a relay before a port of this machine; give its own port and its pid."""
    line = [sys.executable, "-m", "pileup", "relay", "127.0.0.1:0", "--to", f"127.0.0.1:{port}", *words]
    with meter.running(meter.SERVER_CORE, line, folder / "relay.log") as child:
        meter.until(lambda: bool(READY.search(child.text())), 10, "the relay")
        found = READY.search(child.text())
        yield int(found[1]) if found else 0, child.process.pid


@contextlib.contextmanager
def socat(folder: Path, port: int) -> Iterator[tuple[int, int]]:
    """Run socat before a port of this machine; give its own port and its pid."""
    own = storage_servers.free_port()
    line = [
        str(SOCAT.path()),
        "-b",
        "262144",
        f"TCP-LISTEN:{own},reuseaddr,fork,bind=127.0.0.1",
        f"TCP:127.0.0.1:{port}",
    ]
    with meter.running(meter.SERVER_CORE, line, folder / "socat.log") as child:
        meter.until(lambda: storage_servers.answers(own), 10, "socat")
        yield own, child.process.pid


def seen(port: int, load: dict[str, Any], control: Path | None = None) -> dict[str, Any]:
    """Press a port with witnesses on both cores, and a relay asked that is there; return what was measured."""
    cores = (meter.SERVER_CORE, meter.GENERATOR_CORE)
    return told(command(f"http://127.0.0.1:{port}/", load, 0.05, cores, control))


def errors(past: dict[str, Any], through: dict[str, Any]) -> dict[str, float]:
    """Return what is over the latency that was asked for, ms: of the relay, and seen by the client."""
    found = {"undisturbed": through["undisturbed"] / max(1, through["windows"])}
    found |= {f"relay_{name}": through["relay"][name] / 1e6 for name in ("p50", "p99", "most")}
    enough = min(past["undisturbed"], through["undisturbed"]) >= LEAST_CALM
    for kind in ("", "quiet_") if enough else ("",):
        over = past[f"{kind}service_p50"] + LATENCY
        found |= {f"{kind}{name}": (through[f"{kind}service_{name}"] - over) / 1e6 for name in ("p50", "p99")}
    return found


def calm(folder: Path, port: int) -> dict[str, float]:
    """Return the errors at a fifth of the most that goes through a relay without latency."""
    with relay(folder, port) as (there, _):
        url = f"http://127.0.0.1:{there}/"
        most = told(command(url, {"clients": 64, "warm_up": SECOND // 2, "for": SECOND}))["window"]
    rate = CALM * most["count"] / most["seconds"]
    load = {"kind": "open", "rate": rate, "clients": 4096, "warm_up": SECOND, "for": 4 * SECOND}
    past, through, _ = both(folder, port, load)
    return {"rate": rate, **errors(past, through)}


def crowd(folder: Path, port: int, rate: float) -> dict[str, float]:
    """Return the errors of 8,000 connections that make so many requests per second, and what one costs the relay."""
    pause = round(CONNECTIONS / rate * SECOND)
    load = {"clients": CONNECTIONS, "ramp": RAMP, "warm_up": SECOND, "for": max(5 * SECOND, 2 * pause)}
    load |= {"think": {"uniform": [pause // 2, pause * 3 // 2]}}
    past, through, (used, memory) = both(folder, port, load)
    whole = through["all"]
    return {"us": used / whole * 1e6, "bytes": memory / CONNECTIONS, **errors(past, through)}


def both(folder: Path, port: int, load: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], tuple[float, int]]:
    """Return what was measured past a relay and through it, and its CPU seconds and bytes of memory."""
    past, control = seen(port, load), folder / "relay.sock"
    control.unlink(missing_ok=True)  # of the relay before
    with relay(folder, port, "--latency", f"{LATENCY} ns", "--control", str(control)) as (there, pid):
        through = seen(there, load, control)
        return past, through, (meter.cpu(pid), meter.resident(pid))


def stream(port: int) -> float:
    """Read the file once; return bytes per second."""
    words = ["--silent", "--fail", "--output", "/dev/null", "--write-out", "%{time_total} %{size_download}"]
    line = [str(CURL.path()), *words, f"http://127.0.0.1:{port}/data/{FILE}"]
    done = subprocess.run(
        meter.pinned(meter.GENERATOR_CORE, line), capture_output=True, text=True, check=False, timeout=120
    )
    if done.returncode:
        raise meter.Trouble(f"curl ended with {done.returncode}; expected 0 ({done.stderr[-500:]})")
    seconds, size = done.stdout.split()
    if int(size) != SIZE:
        raise meter.Trouble(f"curl read {size} bytes; expected {SIZE}")
    return SIZE / float(seconds)


def streams(folder: Path, port: int, who: str) -> dict[str, float]:
    """Return the speed of one stream, and CPU seconds per GB of what it goes through."""
    if who == "direct":
        return {"bytes_per_second": stream(port), "cpu_per_gb": 0.0}
    with (relay if who == "relay" else socat)(folder, port) as (there, pid):
        before = meter.cpu(pid)
        speed = stream(there)
        return {"bytes_per_second": speed, "cpu_per_gb": (meter.cpu(pid) - before) / SIZE * 1e9}


def run(folder: Path, pairs: int) -> Report:
    """Take the figures: half as many crowds as pairs, they differ little."""
    meter.need_two_cores()
    if meter.open_files() < 2 * CONNECTIONS + 200:
        raise meter.Trouble(f"{meter.open_files()} open files are allowed; expected {2 * CONNECTIONS + 200}")
    runs: dict[str, list[dict[str, float]]] = {}
    ways = ["direct", "relay", *(["socat"] if here(SOCAT) else [])]
    with nginx(folder) as server:
        port = int(server.url.rsplit(":", 1)[1].strip("/"))
        for number in range(pairs):
            runs.setdefault(CALMER, []).append(calm(folder, port))
            progress(f"over 20 ms by the relay: p50 {runs[CALMER][-1]['relay_p50']:.3f} ms")
            if number % 2 == 0:
                rate = runs[CALMER][-1]["rate"]
                runs.setdefault(CROWDED, []).append(crowd(folder, port, rate))
                progress(f"8,000 connections: p99 {runs[CROWDED][-1]['relay_p99']:.3f} ms over by the relay")
    storage_servers.prepare(folder, {FILE: SIZE})
    with storage_servers.nginx(folder) as web:
        port = urlsplit(web.urls["http"]).port or 80
        for number in range(pairs):
            for who in ways if number % 2 == 0 else reversed(ways):
                runs.setdefault(f"stream, {who}", []).append(streams(folder, port, who))
                progress(f"stream, {who}: {runs[f'stream, {who}'][-1]['bytes_per_second'] / 1e6:.0f} MB/s")
    return Report(
        about=" ".join((__doc__ or "").split()),
        figures=figures(runs),
        levels={name: medians(of) for name, of in runs.items()},
        runs=runs,
        commands={"relay": ["pileup", "relay", "127.0.0.1:0", "--to", "127.0.0.1:80", "--latency", "20 ms"]},
        versions=versions([NGINX, CURL, *([SOCAT] if "socat" in ways else [])]),
    )


def figures(runs: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    """Return the figures that are held to bars."""
    found = {}
    for name in (CALMER, CROWDED):
        for word, bar in (("p50", MEDIAN), ("p99", TAIL)):
            found[f"{word} over 20 ms by the relay, {name}, ms"] = level(
                [one[f"relay_{word}"] for one in runs[name]], bar
            )
            seen_by = f"{word} over 20 ms for the client, {name}, ms"
            found[f"{seen_by}, all windows"] = level([one[word] for one in runs[name]])
            quiet = [one[f"quiet_{word}"] for one in runs[name] if f"quiet_{word}" in one]
            if quiet:
                found[f"{seen_by}, undisturbed windows"] = level(quiet, bar if name == CALMER else None)
    speeds = {name: [one["bytes_per_second"] for one in of] for name, of in runs.items() if name.startswith("stream")}
    costs = {name: [one["cpu_per_gb"] for one in of] for name, of in runs.items() if name.startswith("stream")}
    found["speed of one stream, relay / direct"] = ratio(speeds["stream, relay"], speeds["stream, direct"], SPEED)
    if "stream, socat" in runs:
        found["speed of one stream, relay / socat"] = ratio(speeds["stream, relay"], speeds["stream, socat"])
        found["CPU time per GB, relay / socat"] = ratio(costs["stream, relay"], costs["stream, socat"], CPU)
    return found


def medians(of: list[dict[str, float]]) -> dict[str, float]:
    """Return the medians of the runs of one kind, of those that have the figure."""
    names = dict.fromkeys(name for one in of for name in one)
    return {name: statistics.median(one[name] for one in of if name in one) for name in names}
