"""Files on this machine's disk, around the system's cache: random reads of 4 KiB by 4 and by 16 clients, and sequential
reads of 1 MiB by one. Both programs use the plain system calls from threads (fio: psync); pileup records every read of
the first kind, every file of the second. With 4 clients the disk decides how many reads there are, with 16 what each
costs has its share in it. Runs one after the other differ by what the disk gives at that moment, by a factor of up to
three on virtual ones, so both programs also read at the same time, on two cores that they swap: bytes that the kernel
counts for each process, and its CPU time, between the same two moments."""

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
from together import Side, total, window

SIZE = 64 << 20
"""Of the file that is read, bytes."""
SECONDS = 2
FEW, MANY = "4 KiB random", "4 KiB random, 16 clients"
CLIENTS = {FEW: 4, MANY: 16}
WHOLE = "1 MiB sequential"
BESIDE = {f"{FEW}, at the same time": Bar(least=0.95), f"{MANY}, at the same time": Bar(least=0.97)}
ALONE = {FEW: Bar(least=0.95), MANY: Bar(least=0.97), WHOLE: Bar(least=0.95)}
CPU = Bar(most=1.1)
"""CPU time of a read at the same time, ours to fio's."""
FILE = "data"
STARTED = 4 * SIZE
"""Bytes after which a program is in its steady part: its start reads less."""
LONG = 30
"""Seconds that programs run which are ended when they have been looked at."""


def pileup(folder: Path, clients: int, step: dict[str, Any], seconds: int = SECONDS) -> list[str]:
    """Return the command of pileup's own engine."""
    load = {"clients": clients, "warm_up": 500_000_000, "for": seconds * 10**9, "timeout": 10**10}
    client = {"protocol": "posix", "settings": {"root": str(folder), "direct": True}}
    keys = {"names": [FILE]}
    order = {"load": load, "client": client, "step": {"verb": "read", "keys": keys, "verify": False} | step}
    return [sys.executable, str(Path(__file__).with_name("drive.py")), json.dumps(order | {"every": 0.1})]


def fio(folder: Path, clients: int, words: list[str], seconds: int = SECONDS) -> list[str]:
    """Return the command of fio: threads, as ours."""
    fixed = ["--name=bench", f"--filename={folder / FILE}", f"--size={SIZE}", "--direct=1", "--ioengine=psync"]
    timed = ["--time_based", f"--runtime={seconds}", "--ramp_time=0.5", f"--numjobs={clients}", "--thread"]
    return [str(FIO.path()), *fixed, *timed, *words, "--group_reporting", "--output-format=json"]


def commands(folder: Path) -> dict[str, list[str]]:
    """Return all commands, by figure and program; those that run at the same time are ended from outside."""
    step = {"length": 4096, "buffer": 4096, "span": SIZE, "keep": True}
    random = ["--rw=randread", "--bs=4k", "--norandommap", "--randrepeat=0"]
    found = {}
    for way, seconds in (("", SECONDS), (", at the same time", LONG)):
        for kind, clients in CLIENTS.items():
            found[f"{kind}{way}, pileup"] = pileup(folder, clients, step, seconds)
            found[f"{kind}{way}, fio"] = fio(folder, clients, random, seconds)
    return found | {
        f"{WHOLE}, pileup": pileup(folder, 1, {"buffer": 1 << 20}),
        f"{WHOLE}, fio": fio(folder, 1, ["--rw=read", "--bs=1m"]),
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


def beside(pair: dict[str, list[str]], folder: Path) -> dict[str, dict[str, float]]:
    """Run two at the same time, each on a core of its own, then with their cores swapped.

    Returns bytes per second and CPU µs per read of both, over both windows together.
    """
    cores = (meter.SERVER_CORE, meter.GENERATOR_CORE)
    windows = []
    for way in (cores, cores[::-1]):
        placed = zip(pair.items(), way, strict=True)
        windows.append(
            window({name: Side(words, core, fetched, STARTED) for (name, words), core in placed}, folder, SECONDS)
        )
    length, uses = total(windows)
    return {
        name: {"bytes_per_second": used.done / length, "cpu_us": 1e6 * used.cpu / (used.done / 4096)}
        for name, used in uses.items()
    }


def fetched(pid: int) -> int:
    """Return the bytes that a process has had read from a disk so far: proc(5), read_bytes of io."""
    try:
        lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    except OSError:
        return 0
    return next(int(line.split()[1]) for line in lines if line.startswith("read_bytes:"))


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
    meter.need_two_cores()
    peers: list[Peer] = here(FIO)
    if not peers:
        raise meter.Trouble(f"fio is not here; expected it to compare with (to get it: {FIO.get})")
    write(folder / FILE, SIZE)
    words = commands(folder)
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in words}
    alone = [name for name in words if "same time" not in name]
    for number in range(pairs):
        way = 1 if number % 2 == 0 else -1
        found = [(name, once(name, words[name])) for name in alone[::way]]
        for kind in BESIDE:
            pair = [f"{kind}, pileup", f"{kind}, fio"][::way]
            found += beside({name: words[name] for name in pair}, folder).items()
        for name, one in found:
            runs[name].append(one)
            progress(f"{name} {one['bytes_per_second'] / 1e6:.0f} MB/s, {one['cpu_us']:.2f} µs of CPU a read")

    def compared(kind: str, what: str, bar: Bar | None = None) -> dict[str, Any]:
        ours, theirs = ([one[what] for one in runs[f"{kind}, {program}"]] for program in ("pileup", "fio"))
        return ratio(ours, theirs, bar)

    figures = {f"{kind}, pileup / fio": compared(kind, "bytes_per_second", bar) for kind, bar in ALONE.items()}
    for kind, bar in BESIDE.items():
        figures[f"{kind}, pileup / fio"] = compared(kind, "bytes_per_second", bar)
        figures[f"CPU per read, {kind}, pileup / fio"] = compared(kind, "cpu_us", CPU)
    return Report(
        about=" ".join((__doc__ or "").split()),
        figures=figures,
        levels={
            name: {
                "MB/s": statistics.median(one["bytes_per_second"] for one in of) / 1e6,
                "CPU µs per read": statistics.median(one["cpu_us"] for one in of),
            }
            for name, of in runs.items()
        },
        runs=runs,
        commands=words,
        versions=versions(peers),
        notes=["Sequential direct reads of pileup go to huge pages: most of their ratio. fio's memory is its default."],
    )
