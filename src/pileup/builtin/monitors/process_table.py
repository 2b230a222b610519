"""The kernel's table of processes, read at once: who there is, whose child, and what each has used.

One look costs about 20 µs a process (one file each), so that monitors may look at a thousand of them each second; those
that look at the same moment share one look. Who knows its processes, and wants no children, looks at these alone.
Fields of /proc/PID/stat: proc(5).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from pileup.plugin.proc import LOCAL, Proc, Stats

TICKS = LOCAL.ticks
PAGE = LOCAL.page
SHARED_FOR = 0.05
"""Seconds for which a look serves another monitor too."""
LONGEST_NAME = 15
"""Characters of a program's name that the kernel keeps."""
LONGEST_COUNT = 20
"""Digits of the largest number of 64 bits."""

Identity = tuple[int, int]
"""Number and time of birth in ticks since the boot: numbers are given again, the pair is not."""


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """One process as it was at a look. CPU times in ticks, `rss` in bytes."""

    pid: int
    parent: int
    born: int
    name: str
    """At most 15 characters of it."""
    zombie: bool
    threads: int
    rss: int
    user: int
    system: int
    reaped_user: int
    """CPU time of children that have ended and were waited for, theirs included."""
    reaped_system: int

    @property
    def identity(self) -> Identity:
        """What it is known by forever."""
        return self.pid, self.born


@dataclass(frozen=True, slots=True)
class Table:
    """Processes, all or some, at one moment: `moment` by the monotonic clock (s), `boot` in ticks since the boot."""

    moment: float
    boot: int
    processes: dict[int, ProcessRow]
    hidden: frozenset[int] = frozenset()
    """Those that this user may not look at."""
    ticks: int = TICKS
    """Ticks per second there."""
    _children: dict[int, list[int]] = field(default_factory=dict, repr=False, compare=False)

    def with_offspring(self, pids: Iterable[int]) -> dict[int, ProcessRow]:
        """Return these processes, as far as they are there, with their children and children's children."""
        if not self._children:
            for each in self.processes.values():
                self._children.setdefault(each.parent, []).append(each.pid)
        found: dict[int, ProcessRow] = {}
        waiting = list(pids)
        while waiting:
            pid = waiting.pop()
            seen = self.processes.get(pid)
            if seen is not None and pid not in found:
                found[pid] = seen
                waiting += self._children.get(pid, ())
        return found


class Processes:
    """Reads the table of one machine. May be used from any thread."""

    def __init__(self, proc: Proc) -> None:
        self._proc = proc
        self._lock = threading.Lock()
        self._last: Table | None = None

    def look(self, after: float | None = None) -> Table:
        """Return the table as it is now; one that another caller has just read will do if it is newer than `after`."""
        with self._lock:
            last = self._last
            if last is None or time.monotonic() - last.moment > SHARED_FOR or (after or 0.0) >= last.moment:
                last = self._last = self._read(self._proc.stats())
            return last

    def look_at(self, pids: Iterable[int]) -> Table:
        """Return a table of these processes alone, as they are now: one file for each."""
        return self._read(self._proc.stats(pids))

    def command_lines(self, pids: Iterable[int]) -> dict[int, list[str] | None]:
        """Return the words that processes were started with: none of a zombie, None where they may not be read."""
        found = self._proc.command_lines(pids)
        return {pid: None if line is None else _words(line) for pid, line in found.items()}

    def _read(self, stats: Stats) -> Table:
        processes: dict[int, ProcessRow] = {}
        for pid, line in stats.lines.items():
            with suppress(ValueError, IndexError):  # it has just ended
                processes[pid] = seen_in(line, self._proc.page)
        return Table(stats.moment, stats.boot, processes, stats.hidden, self._proc.ticks)


_known: WeakValueDictionary[int, Processes] = WeakValueDictionary()
_knowing = threading.Lock()


def shared(proc: Proc) -> Processes:
    """Return the table of a machine that all monitors of it share, as long as there are any."""
    with _knowing:
        found = _known.get(id(proc)) or Processes(proc)
        _known[id(proc)] = found
    return found


def full_name(seen: ProcessRow, words: Sequence[str]) -> str:
    """Return the name of a program in full, as far as the words of its command line show it."""
    longer = os.path.basename(words[0]) if words else ""  # noqa: PTH119  not a path: a word
    return longer if len(seen.name) >= LONGEST_NAME and longer.startswith(seen.name) else seen.name


def _words(line: bytes) -> list[str]:
    words = line.decode(errors="replace").split("\0")
    return words[:-1] if words and not words[-1] else words


def seen_in(line: bytes, page: int = PAGE) -> ProcessRow:
    """Return what a line of /proc/PID/stat says. Raises ValueError, IndexError for one that is not valid.

    The name is in brackets and may hold brackets and blanks itself: what counts is the last one.
    """
    begin, _, rest = line.rpartition(b")")
    number, _, name = begin.partition(b"(")
    words = rest.split()
    return ProcessRow(
        pid=_count(number),
        parent=_count(words[1]),
        born=_count(words[19]),
        name=name.decode(errors="replace"),
        zombie=words[0] in {b"Z", b"X"},
        threads=_count(words[17]),
        rss=_count(words[21]) * page,
        user=_count(words[11]),
        system=_count(words[12]),
        reaped_user=_count(words[13]),
        reaped_system=_count(words[14]),
    )


def _count(word: bytes) -> int:
    """Return a counter of the kernel: 64 bits at most, whoever sends it. Raises ValueError."""
    if len(word) > LONGEST_COUNT:
        raise ValueError(f"{word[:40]!r} is not a number of 64 bits")
    return max(0, int(word))
