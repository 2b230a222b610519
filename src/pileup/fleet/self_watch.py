"""Each place watches itself: its CPU, waits for a CPU, late wake-ups, and what the machine has left, each second.

Each minute it gives memory back that is free.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pileup._core._native import now
from pileup.fleet import child_cpu, loop_lag
from pileup.model import self_metrics
from pileup.model.record import Sample

BEAT = 10**9
"""Interval of samples, ns."""
GIVEN_BACK = 60 * BEAT
"""Interval at which free memory is given back, ns."""
TICK = 10**8
"""Interval of the wake-ups whose lateness is taken, ns."""
IDLE = 0.1
"""A process that used less CPU than this share of the time by which its watch came late did not run."""
MOST_THREADS = 512
"""Threads that are looked at each second, at most: those with the lowest numbers."""
PROC = Path("/proc")

_MALLOC_TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None)
"""Of glibc; other C libraries have none."""

Keep = Callable[[int, list[Sample]], None]
"""`keep(moment, samples)`: time in ns since the epoch."""


@dataclass(slots=True)
class CounterReading:
    """Counters as they are: what differs between two of them makes samples. Times in ns."""

    time: int
    cpu: int
    threads: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Thread -> time on a CPU, and time ready without one."""
    machine: tuple[int, int] | None = None
    """Ticks stolen, and all ticks."""
    waited: int | None = None
    """Time in which something waited for a CPU."""
    children: int = 0
    """CPU time of processes that were started here and have ended."""
    rss: int | None = None
    """Bytes of memory held."""
    anonymous: int | None = None
    """Those of them that belong to no file."""
    files: int | None = None
    """Descriptors open."""


def give_back() -> None:
    """Return the free memory of the C library to the system.

    glibc keeps it for each thread up to what was free at once: after a busy moment, such as a long answer, a process
    stays larger, and with one such moment after the other it looks like a leak.
    """
    if _MALLOC_TRIM is not None:
        _MALLOC_TRIM(0)


def read(proc: Path = PROC) -> CounterReading:
    """Return the counters of this process and its machine; those that the system lacks are left out."""
    moment, cpu, children = time.monotonic_ns(), time.process_time_ns(), child_cpu.children()
    rss, anonymous = _memory(proc)
    return CounterReading(
        moment, cpu, _threads(proc), _machine(proc), _waited(proc), children, rss, anonymous, _files(proc)
    )


def samples(before: CounterReading, after: CounterReading, place: int) -> list[Sample]:
    """Return what happened between two readings; times of waiting in % of that interval."""
    length = max(1, after.time - before.time)
    found = {self_metrics.CPU: (after.cpu - before.cpu) / length}
    ended = max(0, after.children - before.children)
    if after.children:
        found[self_metrics.CHILDREN] = ended / length
    found[self_metrics.TOTAL] = (after.cpu - before.cpu + ended) / length
    spent = [
        (on - before.threads.get(number, (0, 0))[0], ready - before.threads.get(number, (0, 0))[1])
        for number, (on, ready) in after.threads.items()
    ]
    if spent:
        found[self_metrics.THREAD] = max(on for on, _ in spent) / length
        found[self_metrics.RUN_QUEUE] = sum(ready for _, ready in spent) / length
    if before.machine and after.machine:
        stolen, ticks = (now - then for now, then in zip(after.machine, before.machine, strict=True))
        found[self_metrics.STEAL] = stolen / ticks if ticks > 0 else 0.0
    if before.waited is not None and after.waited is not None:
        found[self_metrics.PRESSURE] = (after.waited - before.waited) / length
    where = self_metrics.label(place)
    shares = [Sample(name, 100 * max(0.0, share), self_metrics.PERCENT, where) for name, share in found.items()]
    memory = {self_metrics.RSS: after.rss, self_metrics.RSS_ANON: after.anonymous}
    held = [Sample(name, size, self_metrics.BYTES, where) for name, size in memory.items() if size is not None]
    files = [] if after.files is None else [Sample(self_metrics.OPEN_FILES, after.files, "", where)]
    return [*shares, *held, *files]


@dataclass(slots=True)
class Stops:
    """Distinguishes a process that did not run from a late watch while other threads ran, which use CPU."""

    spent: int
    """CPU time of the process when the wait began, ns."""
    share: float = 0.0
    """Cores that the process took in the wait before."""

    def was_one(self, late: int, wait: int, spent: int) -> bool:
        """Return whether the process was stopped while a wait of `wait` ns ended `late` ns too late.

        `spent` is the CPU time of the process at its end. Before the stop it may have gone on as in the wait before.
        """
        used, self.spent = spent - self.spent, spent
        if late >= self_metrics.SHORTEST_STOP:
            return used < IDLE * late + self.share * wait
        self.share = used / max(1, wait + late)
        return False


class SelfWatch:
    """A thread that samples this process until it is closed, on whole seconds of the common time."""

    def __init__(self, place: int, keep: Keep) -> None:
        self._place = place
        self._keep = keep
        self._end = threading.Event()
        self._last = read()
        self._lag = 0
        self._thread = threading.Thread(target=self._run, name="self-watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the watch."""
        self._end.set()
        self._thread.join(2)

    def _run(self) -> None:
        """Wake up each tick and note how late; a sample that is overdue is taken at once.

        A stop of the whole process is a sample of its own, at the moment at which it went on.
        """
        due, full = _following(now(), BEAT), _following(now(), GIVEN_BACK)
        loop_lag.take()
        begin, wait, stops = time.monotonic_ns(), TICK, Stops(time.process_time_ns())
        while not self._end.wait(wait / 1e9):
            late, moment = time.monotonic_ns() - begin - wait, now()
            self._lag = max(self._lag, late)
            if stops.was_one(late, wait, time.process_time_ns()):
                self._keep(
                    moment,
                    [Sample(self_metrics.STOPPED, late / 1e9, self_metrics.SECONDS, self_metrics.label(self._place))],
                )
            if moment >= due:
                self._sample(moment)
                due = _following(moment, BEAT)
            if moment >= full:
                give_back()
                full = _following(moment, GIVEN_BACK)
            begin, wait = time.monotonic_ns(), max(1, min(TICK, due - now()))

    def _sample(self, moment: int) -> None:
        reading = read()
        found = samples(self._last, reading, self._place)
        where = self_metrics.label(self._place)
        found.append(Sample(self_metrics.LAG, self._lag / 1e9, self_metrics.SECONDS, where))
        late = loop_lag.take()
        if late is not None:
            found.append(Sample(self_metrics.LOOP_LAG, late / 1e9, self_metrics.SECONDS, where))
        self._last, self._lag = reading, 0
        self._keep(moment, found)


def _following(moment: int, interval: int) -> int:
    return (moment // interval + 1) * interval


def _threads(proc: Path) -> dict[int, tuple[int, int]]:
    found = {}
    folder = f"{proc}/self/task"
    try:
        numbers = sorted(map(int, os.listdir(folder)))[:MOST_THREADS]  # noqa: PTH208  this is done each second
    except OSError:
        return {}
    for number in numbers:
        try:
            on, ready, _ = _content(f"{folder}/{number}/schedstat").split()
            found[number] = int(on), int(ready)
        except (OSError, ValueError):
            continue  # a thread that has just ended, or a kernel without such figures
    return found


def _machine(proc: Path) -> tuple[int, int] | None:
    """Return the ticks stolen and all ticks, by the first line of /proc/stat (user … steal guest guest_nice)."""
    try:
        ticks = [int(word) for word in _content(f"{proc}/stat").partition(b"\n")[0].split()[1:]]
    except (OSError, ValueError):
        return None
    return (ticks[7], sum(ticks[:8])) if len(ticks) >= 8 else None


def _waited(proc: Path) -> int | None:
    """Return `total` (us) of the line `some` of /proc/pressure/cpu, in ns; None if the kernel lacks it."""
    try:
        line = _content(f"{proc}/pressure/cpu").partition(b"\n")[0]
        return int(line.rpartition(b"total=")[2]) * 1000
    except (OSError, ValueError):
        return None


def _memory(proc: Path) -> tuple[int, int] | tuple[None, None]:
    """Return the bytes of memory that this process holds, and those that belong to no file.

    They are the second figure of /proc/self/statm (pages), and it less the third (pages of files and shared memory).
    """
    try:
        resident, shared = (int(figure) for figure in _content(f"{proc}/self/statm").split()[1:3])
    except (OSError, ValueError):
        return None, None
    page = os.sysconf("SC_PAGE_SIZE")
    return resident * page, (resident - shared) * page


def _files(proc: Path) -> int | None:
    """Return how many descriptors this process has open, the one that is needed to look included."""
    try:
        return len(os.listdir(f"{proc}/self/fd"))  # noqa: PTH208
    except OSError:
        return None


def _content(path: str) -> bytes:
    """Return the beginning of a file of the kernel, by one call: what is read each second should cost little."""
    number = os.open(path, os.O_RDONLY)
    try:
        return os.read(number, 4096)
    finally:
        os.close(number)
