"""One file of 1 GiB read over one connection, from memory on this machine: bytes per second and CPU time.

Each run makes a connection of its own and reads the file once; nobody writes it anywhere or compares it with anything.
curl reports its own time, connecting included; xrdcp reads plainly (XRD_CPUSEPGWRTRD=0), and its time for a file of
1 KiB is taken off, as what it needs to start. The time of pileup is that of the operation in its record, connecting
included.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import meter
import storage_servers
from figures import Report, progress
from peers import CURL, NGINX, XRDCP, XROOTD, Peer, here, versions
from ratios import Bar, ratio

FILE, SIZE = "large", 1 << 30
TINY, TINY_SIZE = "tiny", 1 << 10
BARS = {"http": Bar(least=0.95), "https": Bar(least=0.98), "root": Bar(least=0.9)}
"""Speed, ours to theirs."""
PLAIN_READS = {"XRD_CPUSEPGWRTRD": "0"}


@dataclass(frozen=True, slots=True)
class Stream:
    """One way to the file: a server and a protocol, and whom pileup is compared with."""

    server: str
    protocol: str
    url: str
    ca: Path
    peer: Peer

    @property
    def name(self) -> str:
        """What it is called in the results."""
        return f"{self.protocol} from {self.server}"

    def ours(self) -> list[str]:
        """Return the command of pileup's own engine."""
        settings: dict[str, Any] = {"url": self.url}
        if self.protocol != "root":
            settings["keep_alive"] = False
        if self.protocol == "https":
            settings["ca"] = str(self.ca)
        protocol = "xroot" if self.protocol == "root" else "http"
        order = {
            "load": {"kind": "times", "times": 1, "timeout": 60 * 10**9},
            "client": {"protocol": protocol, "settings": settings},
            "step": {"verb": "read", "keys": {"names": [FILE]}, "verify": False},
            "every": 1,
        }
        return [sys.executable, str(Path(__file__).with_name("drive.py")), json.dumps(order)]

    def theirs(self, file: str = FILE) -> list[str]:
        """Return the command of the peer."""
        if self.peer is XRDCP:
            return [str(XRDCP.path()), "--silent", "--force", f"{self.url}/{file}", "/dev/null"]
        quiet = ["--silent", "--fail", "--output", "/dev/null", "--write-out", "%{time_total} %{size_download}"]
        trust = ["--cacert", str(self.ca)] if self.protocol == "https" else []
        return [str(CURL.path()), *quiet, *trust, f"{self.url}/{file}"]


def once(command: list[str]) -> tuple[str, float, float]:
    """Run a command on the generator's core; return what it printed, its seconds and its CPU seconds."""
    before, begin = os.times(), time.monotonic()
    done = subprocess.run(
        meter.pinned(meter.GENERATOR_CORE, command),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=os.environ | PLAIN_READS,
    )
    seconds, after = time.monotonic() - begin, os.times()
    if done.returncode:
        raise meter.Trouble(f"{Path(command[0]).name} ended with {done.returncode}; expected 0 ({done.stderr[-500:]})")
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return done.stdout, seconds, used


def by_pileup(stream: Stream) -> dict[str, float]:
    """Read the file with pileup; return bytes per second and CPU seconds, without the start of Python."""
    told = json.loads(once(stream.ours())[0])
    if told["passed"] != 1:
        raise meter.Trouble(f"pileup did not read {FILE}; expected {stream.name} to serve it (look at {stream.url})")
    return {"bytes_per_second": SIZE / told["service_mean"] * 1e9, "cpu_seconds": told["cpu"]}


def by_curl(stream: Stream) -> dict[str, float]:
    """Read the file with curl."""
    told, _, used = once(stream.theirs())
    seconds, size = told.split()
    if int(size) != SIZE:
        raise meter.Trouble(f"curl read {size} bytes; expected {SIZE} ({stream.url})")
    return {"bytes_per_second": SIZE / float(seconds), "cpu_seconds": used}


def by_xrdcp(stream: Stream) -> dict[str, float]:
    """Read the file with xrdcp, less what it needs for next to nothing."""
    _, start, start_used = once(stream.theirs(TINY))
    _, seconds, used = once(stream.theirs())
    return {"bytes_per_second": SIZE / (seconds - start), "cpu_seconds": max(used - start_used, 0.01)}


@contextlib.contextmanager
def streams(folder: Path) -> Iterator[list[Stream]]:
    """Start the servers and give all ways to the file."""
    storage_servers.prepare(folder, {FILE: SIZE, TINY: TINY_SIZE})
    with storage_servers.xrootd(folder) as grid, storage_servers.nginx(folder) as web:
        ways = [("XRootD", grid, "http"), ("XRootD", grid, "https"), ("nginx", web, "http"), ("nginx", web, "https")]
        found = [Stream(name, protocol, at.urls[protocol], at.ca, CURL) for name, at, protocol in ways]
        if here(XRDCP):
            found.append(Stream("XRootD", "root", grid.urls["root"], grid.ca, XRDCP))
        yield found


def run(folder: Path, pairs: int) -> Report:
    """Take the figures."""
    meter.need_two_cores()
    peers = here(CURL, XROOTD, NGINX)
    if len(peers) < 3:
        raise meter.Trouble("curl, xrootd and nginx are needed; expected all three (see above how to get them)")
    with streams(folder) as ways:
        runs: dict[str, list[dict[str, float]]] = {}
        for number in range(pairs):
            for way in ways:
                taking: dict[str, Callable[[Stream], dict[str, float]]]
                taking = {"pileup": by_pileup, way.peer.name: by_xrdcp if way.peer is XRDCP else by_curl}
                for who in taking if number % 2 == 0 else reversed(taking):
                    found = taking[who](way)
                    runs.setdefault(f"{way.name}, {who}", []).append(found)
                    progress(f"{way.name}, {who} {found['bytes_per_second'] / 1e6:.0f} MB/s")
        commands = {f"{way.name}, {who}": words() for way in ways for who, words in commands_of(way).items()}
        return Report(
            about=" ".join((__doc__ or "").split()),
            figures={name: figure for way in ways for name, figure in figures_of(way, runs).items()},
            levels={name: levels(of) for name, of in runs.items()},
            runs=runs,
            commands=commands,
            versions=versions([*peers, *([XRDCP] if any(way.peer is XRDCP for way in ways) else [])]),
        )


def commands_of(way: Stream) -> dict[str, Callable[[], list[str]]]:
    """Return the commands of both sides."""
    return {"pileup": way.ours, way.peer.name: way.theirs}


def figures_of(way: Stream, runs: dict[str, list[dict[str, float]]]) -> dict[str, dict[str, Any]]:
    """Return the ratios of speed and of CPU time."""

    def both(field: str) -> tuple[list[float], list[float]]:
        ours, theirs = runs[f"{way.name}, pileup"], runs[f"{way.name}, {way.peer.name}"]
        return [one[field] for one in ours], [one[field] for one in theirs]

    cheap = Bar(most=0.6) if way.peer is XRDCP else None
    between = f"pileup / {way.peer.name}"
    return {
        f"{way.name}: speed, {between}": ratio(*both("bytes_per_second"), BARS[way.protocol]),
        f"{way.name}: CPU time, {between}": ratio(*both("cpu_seconds"), cheap),
    }


def levels(runs: list[dict[str, float]]) -> dict[str, float]:
    """Return medians of the runs of one side."""
    return {
        "MB/s": statistics.median(one["bytes_per_second"] for one in runs) / 1e6,
        "CPU seconds": statistics.median(one["cpu_seconds"] for one in runs),
    }
