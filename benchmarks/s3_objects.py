"""GET and PUT of objects of 1 MiB and 4 KiB over S3, 16 at a time: CPU time of each.

Requests are signed, and over plain HTTP the content of what is put is signed, too: by the engine of pileup with its
full record, and by a loop of minio-go, the client library that warp is made of, which records nothing. The server is
versitygw. What is read is not compared with anything by either.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import meter
from figures import Report, progress
from peers import MINIO_LOOP, VERSITYGW, Peer, versions
from ratios import Bar, level, ratio
from storage_servers import answers, free_port

CLIENTS, OBJECTS = 16, 64
WARM, WINDOW = 1, 3
SIZES = {"1 MiB": 1 << 20, "4 KiB": 4096}
BARS = {"1 MiB": Bar(most=1 / 1.2), "4 KiB": Bar(most=1 / 3)}
BUCKET, KEY, SECRET = "bench", "bench", "open-sesame"
OPERATIONS = {"GET": ("read", "get"), "PUT": ("write", "put")}
"""Words of the engine and of the loop."""


def by_engine(port: int, operation: str, size: int, window: float = WINDOW) -> list[str]:
    """Return the command of pileup's own client."""
    settings = {
        "http": {"url": f"http://127.0.0.1:{port}"},
        "bucket": BUCKET,
        "region": "us-east-1",
        "credentials": {"access_key": KEY, "secret_key": SECRET, "session_token": None},
    }
    step: dict[str, Any] = {"verb": operation, "keys": {"names": [f"loop/f{k:06d}" for k in range(OBJECTS)]}}
    if operation == "write":
        step["content"] = {"seed": 7, "size": size}
    order = {
        "load": {"clients": CLIENTS, "warm_up": WARM * 10**9, "for": int(window * 1e9), "timeout": 30 * 10**9},
        "client": {"protocol": "s3", "settings": settings},
        "step": step,
        "every": 0.25,
    }
    return [sys.executable, str(Path(__file__).with_name("drive.py")), json.dumps(order)]


def by_loop(port: int, operation: str, size: int) -> list[str]:
    """Return the command of the loop of minio-go."""
    words = (f"127.0.0.1:{port}", BUCKET, KEY, SECRET, operation, size, OBJECTS, CLIENTS, WARM, WINDOW)
    return [there(MINIO_LOOP), *map(str, words)]


def there(peer: Peer) -> str:
    """Return the path of a program. Raises Trouble without it."""
    path = peer.path()
    if path is None:
        raise meter.Trouble(f"{peer.name} is not here; expected it (to get it: {peer.get})")
    return path


@contextmanager
def serving(folder: Path) -> Iterator[int]:
    """Serve a bucket with versitygw on the server's core while the block lasts; yield its port."""
    port = free_port()
    (folder / "data" / BUCKET).mkdir(parents=True)
    words = ["--access", KEY, "--secret", SECRET, "--port", f"127.0.0.1:{port}", "--quiet", "posix"]
    command = [there(VERSITYGW), *words, str(folder / "data")]
    with meter.running(meter.SERVER_CORE, command, folder / "versitygw.log"):
        meter.until(lambda: answers(port), 10, "versitygw")
        yield port


def once(command: list[str]) -> dict[str, Any]:
    """Run it on the generator's core; return what it printed. An operation that failed ends the benchmark."""
    words = meter.pinned(meter.GENERATOR_CORE, command)
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    try:
        told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        raise meter.Trouble(f"no figure came; expected one (it said: {done.stderr[-1000:]})") from None
    if told["failed"] or not told["window"]:
        raise meter.Trouble(f"{told['failed']} operations failed; expected none (it said: {done.stderr[-1000:]})")
    return told


def run(folder: Path, pairs: int) -> Report:
    """Take the figures."""
    meter.need_two_cores()
    runs: dict[str, list[dict[str, Any]]] = {}
    commands: dict[str, list[str]] = {}
    with serving(folder) as port:
        for size, number in SIZES.items():
            once(by_engine(port, "write", number, 1.5))  # every object is there
            for operation, (ours, theirs) in OPERATIONS.items():
                pair = {"engine": by_engine(port, ours, number), "minio-go": by_loop(port, theirs, number)}
                commands |= {f"{operation} {size}, {who}": command for who, command in pair.items()}
                for turn in range(pairs):
                    for who in pair if turn % 2 == 0 else reversed(pair):
                        name = f"{operation} {size}, {who}"
                        runs.setdefault(name, []).append(once(pair[who]))
                        told = runs[name][-1]["window"]
                        progress(f"{name} {told['us']:.1f} µs, {told['count'] / told['seconds']:,.0f} /s")
    return Report(
        about=" ".join((__doc__ or "").split()),
        figures=figures({name: [one["window"]["us"] for one in of] for name, of in runs.items()}),
        levels={name: _levels(of) for name, of in runs.items()},
        runs=runs,
        commands=commands,
        versions=versions([VERSITYGW]) | {"minio-go": "7.4.1"},
    )


def figures(us: dict[str, list[float]]) -> dict[str, Any]:
    """Return CPU times, and their ratios to those of minio-go."""
    found: dict[str, Any] = {}
    for size, bar in BARS.items():
        for operation in OPERATIONS:
            name = f"{operation} {size}"
            found[f"CPU of a {name}, engine / minio-go"] = ratio(us[f"{name}, engine"], us[f"{name}, minio-go"], bar)
    return found | {f"CPU µs of a {name}": level(of) for name, of in us.items()}


def _levels(runs: list[dict[str, Any]]) -> dict[str, float]:
    windows = [one["window"] for one in runs]
    return {
        "CPU µs": statistics.median(one["us"] for one in windows),
        "per second": statistics.median(one["count"] / one["seconds"] for one in windows),
    }
