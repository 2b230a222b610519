"""Processes pinned to a core, and what they cost: CPU time of a process and all it started, as the kernel counts it."""

from __future__ import annotations

import contextlib
import os
import platform
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "tools"))

import trained

SERVER_CORE, GENERATOR_CORE = sorted(os.sched_getaffinity(0))[0], sorted(os.sched_getaffinity(0))[-1]
TICK = os.sysconf("SC_CLK_TCK")


class Trouble(Exception):
    """A benchmark cannot be taken: what, what was expected, what to do."""


def need_two_cores() -> None:
    """Raise `Trouble` where server and generator would share a core."""
    if SERVER_CORE == GENERATOR_CORE:
        raise Trouble("one core is here; expected two, one for the server (run the benchmarks on a larger machine)")


def open_files() -> int:
    """Allow this process and its children as many open files as they may have at all; return that number."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most


def pinned(core: int, command: list[str]) -> list[str]:
    """Return the command so that it runs on this core alone."""
    return ["taskset", "-c", str(core), *command]


@dataclass(slots=True)
class Child:
    """A process that was started, pinned."""

    process: subprocess.Popen[str]
    output: Path

    def text(self) -> str:
        """Return what it has printed."""
        return self.output.read_text(errors="replace")


@contextlib.contextmanager
def running(core: int, command: list[str], output: Path, folder: Path | None = None) -> Iterator[Child]:
    """Run a command on a core in a session of its own; it is ended with all it started."""
    with output.open("w") as sink:
        process = subprocess.Popen(
            pinned(core, command), stdout=sink, stderr=subprocess.STDOUT, text=True, start_new_session=True, cwd=folder
        )
    try:
        yield Child(process, output)
    finally:
        end(process)


def end(process: subprocess.Popen[str]) -> None:
    """End a process and its session: first politely."""
    for number, patience in ((signal.SIGTERM, 3.0), (signal.SIGKILL, 3.0)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience)
            return


def tree(root: int) -> list[int]:
    """Return a process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found = [root]
    for pid in found:
        found.extend(children.get(pid, ()))
    return found


def cpu(root: int) -> float:
    """Return user and system time so far of a process, its threads, its children and those that have ended, seconds.

    The figures of getrusage (RUSAGE_SELF and RUSAGE_CHILDREN), read from outside: proc(5), fields 14 to 17 of stat.
    """
    return sum(sum(map(int, fields[11:15])) for pid in tree(root) if (fields := _stat(pid))) / TICK


def resident(root: int) -> int:
    """Return the resident memory of a process and its descendants in bytes."""
    pages = sum(int(fields[21]) for pid in tree(root) if (fields := _stat(pid)))
    return pages * os.sysconf("SC_PAGE_SIZE")


def _stat(pid: int) -> list[str]:
    """Return the fields of proc(5) stat from the third (state) on; nothing when the process has gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait for a condition; raise `Trouble` when it does not come."""
    last = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > last:
            raise Trouble(f"{what} did not come within {seconds:g} s (run it by hand and look)")
        time.sleep(0.02)


def machine() -> dict[str, str | int | float]:
    """Return what the figures depend on: processor, cores, memory, kernel, compiler of the engine, load by others."""
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return {
        "processor": names[0] if names else platform.processor(),
        "cores": os.cpu_count() or 1,
        "memory_gib": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1),
        "kernel": platform.release(),
        "system": platform.freedesktop_os_release().get("PRETTY_NAME", platform.system()),
        "python": platform.python_version(),
        "engine": f"rustc {trained.compiler()[0]}, {'with' if trained.settings() else 'without'} a profile",
        "load_before": round(os.getloadavg()[0], 2),
    }
