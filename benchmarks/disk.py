"""Files on this machine's disk, around the system's cache: random reads of 4 KiB by 4 and by 16 clients, and sequential
reads of 1 MiB by one. Both programs use the plain system calls from threads (fio: psync); pileup records every read of
the first kind, every file of the second. With 4 clients the disk decides how many reads there are, with 16 what each
costs has its share in it."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import meter
from figures import Report, progress
from peers import FIO, Peer, here, versions
from ratios import Bar, ratio

SIZE = 64 << 20
"""Of the file that is read, bytes."""
SECONDS = 2
DEEP = "4 KiB random, 16 clients"
BARS = {"4 KiB random": Bar(least=0.95), DEEP: Bar(least=0.97), "1 MiB sequential": Bar(least=0.95)}
CPU = Bar(most=1.1)
"""CPU time per read with 16 clients, ours to fio's."""
FILE = "data"


def pileup(folder: Path, clients: int, step: dict[str, Any]) -> list[str]:
    """Return the command of pileup's own engine."""
    load = {"clients": clients, "warm_up": 500_000_000, "for": SECONDS * 10**9, "timeout": 10**10}
    client = {"protocol": "posix", "settings": {"root": str(folder), "direct": True}}
    keys = {"names": [FILE]}
    order = {"load": load, "client": client, "step": {"verb": "read", "keys": keys, "verify": False} | step}
    return [sys.executable, str(Path(__file__).with_name("drive.py")), json.dumps(order | {"every": 0.1})]


def fio(folder: Path, clients: int, words: list[str]) -> list[str]:
    """Return the command of fio: threads, as ours."""
    fixed = ["--name=bench", f"--filename={folder / FILE}", f"--size={SIZE}", "--direct=1", "--ioengine=psync"]
    timed = ["--time_based", f"--runtime={SECONDS}", "--ramp_time=0.5", f"--numjobs={clients}", "--thread"]
    return [str(FIO.path()), *fixed, *timed, *words, "--group_reporting", "--output-format=json"]


def commands(folder: Path) -> dict[str, list[str]]:
    """Return all commands, by figure and program."""
    step = {"length": 4096, "buffer": 4096, "span": SIZE, "keep": True}
    random = ["--rw=randread", "--bs=4k", "--norandommap", "--randrepeat=0"]
    return {
        "4 KiB random, pileup": pileup(folder, 4, step),
        "4 KiB random, fio": fio(folder, 4, random),
        f"{DEEP}, pileup": pileup(folder, 16, step),
        f"{DEEP}, fio": fio(folder, 16, random),
        "1 MiB sequential, pileup": pileup(folder, 1, {"buffer": 1 << 20}),
        "1 MiB sequential, fio": fio(folder, 1, ["--rw=read", "--bs=1m"]),
    }


def once(name: str, command: list[str]) -> dict[str, float]:
    """Run one; return bytes per second and CPU µs per read, both of its steady part."""
    words = meter.pinned(meter.GENERATOR_CORE, command)
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    try:
        told = json.loads(done.stdout[done.stdout.index("{") :])
    except ValueError:
        raise meter.Trouble(f"no figure came; expected one (it said: {done.stderr[-1000:]})") from None
    reading: Callable[[dict[str, Any], str], dict[str, float]] = of_pileup if "pileup" in name else of_fio
    return reading(told, name)


def of_pileup(told: dict[str, Any], name: str) -> dict[str, float]:
    """Return what pileup reached and used; a file of 64 MiB is 64 reads."""
    window = told["window"]
    if told["failed"] or not window:
        raise meter.Trouble(f"{told['failed']} reads of pileup failed; expected none (has this disk direct i/o?)")
    size, reads = (4096, 1) if name.startswith("4 KiB") else (SIZE, SIZE >> 20)
    return {"bytes_per_second": window["count"] / window["seconds"] * size, "cpu_us": window["us"] / reads}


def of_fio(told: dict[str, Any], _name: str) -> dict[str, float]:
    """Return what fio reached and used: its shares of CPU are % of the run times of all its threads together (ms)."""
    (job,) = told["jobs"]
    cpu = (job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] * 1000
    return {"bytes_per_second": float(job["read"]["bw_bytes"]), "cpu_us": cpu / job["read"]["total_ios"]}


def write(file: Path, size: int) -> None:
    """Write a file of random bytes, and see that it can be read around the cache."""
    with file.open("wb") as sink:
        for _ in range(size >> 20):
            sink.write(os.urandom(1 << 20))
        sink.flush()
        os.fsync(sink.fileno())
    try:
        os.close(os.open(file, os.O_RDONLY | os.O_DIRECT))
    except OSError:
        raise meter.Trouble(f"{file} cannot be read around the cache; expected a disk (set TMPDIR to one)") from None


def run(folder: Path, pairs: int) -> Report:
    """Take the figures."""
    peers: list[Peer] = here(FIO)
    if not peers:
        raise meter.Trouble(f"fio is not here; expected it to compare with (to get it: {FIO.get})")
    write(folder / FILE, SIZE)
    words = commands(folder)
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in words}
    for number in range(pairs):
        for name in words if number % 2 == 0 else reversed(words):
            runs[name].append(once(name, words[name]))
            progress(f"{name} {runs[name][-1]['bytes_per_second'] / 1e6:.0f} MB/s")
    rates = {name: [one["bytes_per_second"] for one in of] for name, of in runs.items()}
    cpu = {name: [one["cpu_us"] for one in of] for name, of in runs.items()}
    figures = {
        f"{kind}, pileup / fio": ratio(rates[f"{kind}, pileup"], rates[f"{kind}, fio"], bar)
        for kind, bar in BARS.items()
    }
    figures[f"CPU per read, {DEEP}, pileup / fio"] = ratio(cpu[f"{DEEP}, pileup"], cpu[f"{DEEP}, fio"], CPU)
    return Report(
        about=" ".join((__doc__ or "").split()),
        figures=figures,
        levels={
            name: {"MB/s": statistics.median(rates[name]) / 1e6, "CPU µs per read": statistics.median(cpu[name])}
            for name in words
        },
        runs=runs,
        commands=words,
        versions=versions(peers),
        notes=["Large direct reads of pileup go to huge pages: most of the second ratio. fio's memory is its default."],
    )
