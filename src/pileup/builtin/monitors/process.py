"""Watches processes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from pileup.builtin.monitors.process_cpu import CpuUse, Share
from pileup.builtin.monitors.process_table import LONGEST_NAME, Processes, ProcessRow, Table, full_name, shared
from pileup.plugin import Monitor, Sample, option


class Process(Monitor):
    """Number, CPU, memory, threads and open files of chosen processes.

    `match`, `program` and `pid` choose the processes again at every sample, so processes may come and go; if several
    are given, all must match. pileup itself is chosen only by `pid`. `target` names the daemons of a server that pileup
    launched, all of them or one, over restarts too:

        monitors:
          - {use: process, name: slurmctld, target: ce.slurmctld, every: 5 s}
          - {use: process, name: daemons, target: ce, every: 5 s}

    If the target has a url, pileup does not know its daemons: the monitor and the criteria on it are *not covered*,
    unless one of the other options is combined with `target` to choose them, on this machine or on `host`. With
    `launch` these options are not used:

          - {use: process, name: slurmctld, target: ce.slurmctld, program: slurmctld, host: "ssh://root@ce01"}

    | metric | unit | what |
    |---|---|---|
    | `number` | | processes chosen, with their children |
    | `cpu[of=all]` `mean` `largest` | % | CPU time since the sample before, 100 % being one core |
    | `cpu[mode=user]` `system` | % | the same of all: time in the programs themselves, and in the kernel for them |
    | `rss[of=all]` `mean` `largest` | B | memory held (resident set size; shared pages count in each process) |
    | `threads` | | total number of threads |
    | `open_files[of=all]` `mean` `largest` | | open file descriptors; a limit (`ulimit -n`) is about the largest |
    | `not_permitted` | | processes that this user may not inspect |

    With `children` the CPU time of children that ended since the sample before is counted if a chosen process is their
    parent or grandparent and waits for them, so scripts that live for less than an interval are counted. Otherwise the
    time that a process used between the last sample and its end is not counted. Children that have detached from their
    parent (daemons) no longer count as its children.

    If this user may not inspect some processes, sums that would lack them are left out of the sample. Zombies count
    only in `number` and `cpu`. A sample costs about 20 µs for each process of the machine, once for all monitors that
    sample at the same moment, and nothing for daemons of a `target` without `children`.
    """

    name = "process"
    of_daemons = True
    reads_proc = True
    instead_of_target = ("match", "program", "pid")

    match: str | None = option(None, help="regular expression found in the name or the command line")
    program: str | None = option(None, help="exact name of the program, as `ps -o comm` shows it")
    pid: int | None = option(None, ge=1, help="number of the process")
    target: str | None = option(None, help="daemons of a target with `launch`: TARGET for all, TARGET.DAEMON for one")
    children: bool = option(True, help="count the children too, and their children")

    def check(self) -> None:
        """Refuse no choice at all, or an expression that is none."""
        if all(getattr(self, word) is None for word in (*self.instead_of_target, "target")):
            raise ValueError("no process is chosen; expected match, program, pid or target")
        try:
            self._pattern = re.compile(self.match) if self.match is not None else None
        except re.error as problem:
            raise ValueError(f"match {self.match!r} is not a regular expression: {problem}") from None
        self._spending = CpuUse(self.children)

    @cached_property
    def _processes(self) -> Processes:
        return shared(self.proc)

    def open(self) -> None:
        """Note the CPU time that was used before. Raises PluginError, TargetError when `target` has no daemons here."""
        self._measure_cpu(set())

    def sample(self) -> Iterator[Sample]:
        """Measure once. Raises PluginError, TargetError."""
        refused: set[int] = set()
        chosen, shares = self._measure_cpu(refused)
        alive = [each for each in chosen if not each.zombie]
        yield Sample("number", len(chosen))
        yield from _cpu(shares)
        yield from _summary("rss", [each.rss for each in alive], "B")
        yield Sample("threads", sum(each.threads for each in alive))
        files = self.proc.open_files(each.pid for each in alive)
        refused.update(pid for pid, number in files.items() if number is None)
        numbers = [number for number in files.values() if number is not None]
        if len(numbers) == len(files):
            yield from _summary("open_files", numbers, "")
        yield Sample("not_permitted", len(refused))

    def _measure_cpu(self, refused: set[int]) -> tuple[list[ProcessRow], list[Share] | None]:
        """Return the chosen processes, and what they used since the last call; None at the first."""
        known = self._known()
        if known is not None and not self.children:
            table = self._processes.look_at(known)
        else:
            table = self._processes.look(after=self._spending.moment)
        pids = self._choose(table, refused) if known is None else [pid for pid in known if pid in table.processes]
        chosen = table.with_offspring(pids) if self.children else {pid: table.processes[pid] for pid in pids}
        return list(chosen.values()), self._spending.since(table, chosen)

    def _known(self) -> list[int] | None:
        """Return the numbers of a server's daemons; None where processes are chosen by what they are."""
        return None if self.target is None else list(self.daemons().values())

    def _choose(self, table: Table, refused: set[int]) -> list[int]:
        """Return the numbers of the processes that are asked for."""
        own = self.proc.own
        asked = [self.pid] if self.pid is not None else [pid for pid in table.processes if pid not in own]
        refused.update(table.hidden if self.pid is None else table.hidden & {self.pid})
        rows = [table.processes[pid] for pid in asked if pid in table.processes]
        if self.program is None and self._pattern is None:
            return [each.pid for each in rows]
        rows = [each for each in rows if self._may_be(each)]
        lines = self._processes.command_lines(each.pid for each in rows if self._must_be_read(each))
        return [each.pid for each in rows if self._fits(each, lines, refused)]

    def _may_be(self, seen: ProcessRow) -> bool:
        """Whether a process can be the one that is asked for, by what the kernel keeps of its name."""
        longest = len(seen.name) >= LONGEST_NAME
        return self.program in (None, seen.name) or (longest and (self.program or "").startswith(seen.name))

    def _must_be_read(self, seen: ProcessRow) -> bool:
        """Whether the command line decides: the name is not whole, or does not fit the pattern."""
        if len(seen.name) >= LONGEST_NAME:
            return True
        return self._pattern is not None and not self._pattern.search(seen.name)

    def _fits(self, seen: ProcessRow, lines: Mapping[int, list[str] | None], refused: set[int]) -> bool:
        words = lines.get(seen.pid, [])
        name = full_name(seen, words or ())
        if self.program is not None and self.program not in (name, seen.name):
            return False
        if self._pattern is None or self._pattern.search(name):
            return True
        if words is None:
            refused.add(seen.pid)
        return bool(words and self._pattern.search(" ".join(words)))


def _cpu(shares: Sequence[Share] | None) -> Iterator[Sample]:
    """Yield CPU of all, on average and of the largest, then by mode; nothing where it is not known yet."""
    if shares is None:
        return
    yield from _summary("cpu", [each.whole for each in shares], "%")
    yield Sample("cpu", sum(each.user for each in shares), "%", "mode=user")
    yield Sample("cpu", sum(each.system for each in shares), "%", "mode=system")


def _summary(metric: str, values: Sequence[float], unit: str) -> Iterator[Sample]:
    """Yield the sum, and mean and largest where there are processes."""
    yield Sample(metric, sum(values), unit, "of=all")
    if values:
        yield Sample(metric, sum(values) / len(values), unit, "of=mean")
        yield Sample(metric, max(values), unit, "of=largest")
