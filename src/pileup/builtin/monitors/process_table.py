"""The kernel's table of processes, read at once: who there is, whose child, and what each has used.

One look costs about 20 us a process (one file each), so that monitors may look at a thousand of them each second; those
that look at the same moment share one look. Who knows its processes, and wants no children, looks at these alone.
Fields of /proc/PID/stat: proc(5).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

PROC = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")
"""Ticks of the kernel's accounting per second."""
PAGE = os.sysconf("SC_PAGE_SIZE")
SHARED_FOR = 0.05
"""Seconds for which a look serves another monitor too."""
LONGEST_NAME = 15
"""Characters of a program's name that the kernel keeps."""

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
        """What it is known by for ever."""
        return self.pid, self.born


@dataclass(frozen=True, slots=True)
class Table:
    """Processes, all or some, at one moment: `moment` by the monotonic clock (s), `boot` in ticks since the boot."""

    moment: float
    boot: int
    processes: dict[int, ProcessRow]
    hidden: frozenset[int] = frozenset()
    """Those that this user may not look at."""
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
    """Reads the table below a folder like /proc. May be used from any thread."""

    def __init__(self, root: Path = PROC) -> None:
        self._root = str(root)
        self._lock = threading.Lock()
        self._last: Table | None = None

    def look(self, after: float | None = None) -> Table:
        """Return the table as it is now; one that another caller has just read will do if it is newer than `after`."""
        with self._lock:
            last = self._last
            if last is None or time.monotonic() - last.moment > SHARED_FOR or (after or 0.0) >= last.moment:
                last = self._last = self._read(filter(str.isdigit, os.listdir(self._root)))  # noqa: PTH208
            return last

    def look_at(self, pids: Iterable[int]) -> Table:
        """Return a table of these processes alone, as they are now: one file for each."""
        return self._read(map(str, pids))

    def command_line(self, pid: int) -> list[str]:
        """Return the words that a process was started with; none of a zombie. Raises OSError."""
        words = self._content(f"{pid}/cmdline", 1 << 20).decode(errors="replace").split("\0")
        return words[:-1] if words and not words[-1] else words

    def name(self, seen: ProcessRow) -> str:
        """Return the name of a program in full, as far as its command line tells it."""
        if len(seen.name) >= LONGEST_NAME:
            with suppress(OSError, IndexError):
                longer = os.path.basename(self.command_line(seen.pid)[0])  # noqa: PTH119  not a path: a word
                return longer if longer.startswith(seen.name) else seen.name
        return seen.name

    def open_files(self, pid: int) -> int:
        """Return how many file descriptors a process has open. Raises OSError."""
        return len(os.listdir(f"{self._root}/{pid}/fd"))  # noqa: PTH208  a Path for each would cost more than the look

    def _read(self, names: Iterable[str]) -> Table:
        moment, boot = time.monotonic(), int(time.clock_gettime(time.CLOCK_BOOTTIME) * TICKS)
        processes: dict[int, ProcessRow] = {}
        hidden = set()
        for name in names:
            try:
                processes[int(name)] = seen_in(self._content(f"{name}/stat", 4096))
            except PermissionError:
                hidden.add(int(name))
            except (OSError, ValueError, IndexError):  # it has just ended
                continue
        return Table(moment, boot, processes, frozenset(hidden))

    def _content(self, path: str, most: int) -> bytes:
        number = os.open(f"{self._root}/{path}", os.O_RDONLY)
        try:
            return os.read(number, most)
        finally:
            os.close(number)


def seen_in(line: bytes) -> ProcessRow:
    """Return what a line of /proc/PID/stat says. Raises ValueError, IndexError for one that is none.

    The name stands in brackets and may hold brackets and blanks itself: what counts is the last one.
    """
    begin, _, rest = line.rpartition(b")")
    number, _, name = begin.partition(b"(")
    words = rest.split()
    return ProcessRow(
        pid=int(number),
        parent=int(words[1]),
        born=int(words[19]),
        name=name.decode(errors="replace"),
        zombie=words[0] in {b"Z", b"X"},
        threads=int(words[17]),
        rss=int(words[21]) * PAGE,
        user=int(words[11]),
        system=int(words[12]),
        reaped_user=int(words[13]),
        reaped_system=int(words[14]),
    )


PROCESSES = Processes()
"""Those of this machine."""
