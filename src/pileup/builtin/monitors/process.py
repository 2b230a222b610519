"""Watches processes."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence

import psutil

from pileup.plugin import Monitor, Sample, option

Identity = tuple[int, float]
"""Number and time of birth: numbers are given again, the pair is not."""
BIRTH_ERROR = 1.0
"""Seconds: times of birth follow from the time of boot, which the kernel tells in whole seconds."""
REFUSED = (psutil.AccessDenied, PermissionError)


class Process(Monitor):
    """Number, CPU, memory, threads and open files of chosen processes.

    Processes are chosen anew at every sample by `match`, `program` or `pid`, several of them together meaning all
    must hold; those that come and go are no matter. pileup itself is chosen by `pid` only.

    | metric | unit | what |
    |---|---|---|
    | `number` | | processes chosen, with their children |
    | `cpu[of=all]` `mean` `largest` | % | CPU time since the sample before, 100 % being one core |
    | `rss[of=all]` `mean` `largest` | B | memory held (resident set size; shared pages count in each process) |
    | `threads` | | threads in all |
    | `open_files` | | open file descriptors in all |
    | `not_permitted` | | processes that this user may not look into |

    A sum that would lack the processes that this user may not look into is left out of the sample rather than told
    too small. The CPU time that a process used between the last sample and its end is not seen. Zombies count in
    `number` alone.
    """

    name = "process"

    match: str | None = option(None, help="regular expression found in the name or the command line")
    program: str | None = option(None, help="exact name of the program, as `ps -o comm` shows it")
    pid: int | None = option(None, ge=1, help="number of the process")
    children: bool = option(True, help="count the children too, and their children")

    def check(self) -> None:
        """Refuse no choice at all, or an expression that is none."""
        if self.match is None and self.program is None and self.pid is None:
            raise ValueError("no process is chosen; expected match, program or pid")
        try:
            self._pattern = re.compile(self.match) if self.match is not None else None
        except re.error as problem:
            raise ValueError(f"match {self.match!r} is no regular expression: {problem}") from None
        self._cpu: dict[Identity, float] = {}
        self._moment: float | None = None
        self._wall = 0.0

    def open(self) -> None:
        """Note the CPU time that was used before."""
        list(self.sample())

    def sample(self) -> Iterator[Sample]:
        """Measure once."""
        refused: set[int] = set()
        chosen = self._choose(refused)
        moment, wall = time.monotonic(), time.time()
        shares = self._cpu_shares(chosen, moment, wall, refused)
        rss = _each(chosen, lambda process: process.memory_info().rss, refused)
        threads = _each(chosen, lambda process: process.num_threads(), refused)
        files = _each(chosen, lambda process: process.num_fds(), refused)
        yield Sample("number", len(chosen))
        yield from _summary("cpu", shares, "%")
        yield from _summary("rss", rss, "B")
        if threads is not None:
            yield Sample("threads", sum(threads))
        if files is not None:
            yield Sample("open_files", sum(files))
        yield Sample("not_permitted", len(refused))

    def _choose(self, refused: set[int]) -> list[psutil.Process]:
        """Return the chosen processes, each once, with their children."""
        everybody = [psutil.Process(self.pid)] if self.pid and psutil.pid_exists(self.pid) else []
        everybody = everybody if self.pid else list(psutil.process_iter())
        chosen = {process.pid: process for process in everybody if self._fits(process, refused)}
        if self.children and chosen:
            offspring = _offspring(set(chosen))
            chosen |= {process.pid: process for process in offspring if process.pid not in chosen}
        return list(chosen.values())

    def _fits(self, process: psutil.Process, refused: set[int]) -> bool:
        try:
            if self.program is not None and process.name() != self.program:
                return False
            if self._pattern is None:
                return process.pid != os.getpid() or self.pid is not None
            if process.pid == os.getpid() and self.pid is None:
                return False
            return bool(self._pattern.search(process.name()) or self._pattern.search(" ".join(process.cmdline())))
        except REFUSED:
            refused.add(process.pid)
        except psutil.Error:  # it is gone, or a zombie without a command line
            pass
        return False

    def _cpu_shares(
        self, chosen: list[psutil.Process], moment: float, wall: float, refused: set[int]
    ) -> Sequence[float] | None:
        """Return the share of a core that each process used since the last call; nothing at the first."""
        spent: dict[Identity, float] = {}

        def measure(process: psutil.Process) -> float:
            times = process.cpu_times()
            spent[process.pid, process.create_time()] = times.user + times.system
            return 0.0

        complete = _each(chosen, measure, refused) is not None
        before, passed, began = self._cpu, moment - (self._moment or moment), self._wall - BIRTH_ERROR
        first = self._moment is None
        self._cpu, self._moment, self._wall = spent, moment, wall
        if first or passed <= 0 or not complete:
            return None
        used = [
            max(0.0, seconds - before.get(who, 0.0 if who[1] >= began else seconds)) for who, seconds in spent.items()
        ]
        return [100 * seconds / passed for seconds in used]


def _offspring(roots: set[int]) -> list[psutil.Process]:
    """Return all descendants, from one look at the table of processes."""
    parents = {process.pid: (process, _parent(process)) for process in psutil.process_iter()}
    found: dict[int, psutil.Process] = {}
    grown = True
    while grown:
        grown = False
        for pid, (process, parent) in parents.items():
            if pid not in found and pid not in roots and (parent in roots or parent in found):
                found[pid] = process
                grown = True
    return list(found.values())


def _parent(process: psutil.Process) -> int:
    try:
        return process.ppid()
    except psutil.Error:
        return 0


def _each(chosen: list[psutil.Process], measure: object, refused: set[int]) -> list[float] | None:
    """Measure each process that still lives; None when one of them may not be looked into."""
    values, complete = [], True
    for process in chosen:
        try:
            values.append(measure(process))  # type: ignore[operator]
        except REFUSED:
            refused.add(process.pid)
            complete = False
        except psutil.Error:  # gone meanwhile
            continue
    return values if complete else None


def _summary(metric: str, values: Sequence[float] | None, unit: str) -> Iterator[Sample]:
    """Yield the sum, and mean and largest where there are processes."""
    if values is None:
        return
    yield Sample(metric, sum(values), unit, "of=all")
    if values:
        yield Sample(metric, sum(values) / len(values), unit, "of=mean")
        yield Sample(metric, max(values), unit, "of=largest")
