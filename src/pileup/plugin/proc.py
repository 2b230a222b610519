"""Reads /proc of Linux as raw text, of this machine or of another one through the same interface.

A monitor that reads only through `Monitor.proc` can measure hosts without pileup.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pileup.plugin import listening

LONGEST = 4 << 20
"""Most bytes read of one file."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Contents of files at one moment (s, by the monotonic clock of the machine that pileup runs on).

    By name relative to /proc. Files that do not exist, or may not be read, are left out.
    """

    moment: float
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Stats:
    """Text of /proc/PID/stat by PID. `moment` as in `Texts`, `boot` in ticks since the machine was booted."""

    moment: float
    boot: int
    lines: Mapping[int, bytes]
    hidden: frozenset[int] = frozenset()
    """Processes that exist but may not be inspected."""


@dataclass(frozen=True, slots=True)
class Machine:
    """How many processes there are, and the physical devices: `net/eth0`, `block/sda`."""

    processes: int
    devices: frozenset[str]


class Proc(Protocol):
    """The /proc of one machine. May be used from any thread. All raise TargetError when the machine is lost."""

    @property
    def ticks(self) -> int:
        """Ticks of the kernel's accounting per second."""

    @property
    def page(self) -> int:
        """Bytes of a page of memory."""

    @property
    def own(self) -> frozenset[int]:
        """Processes there that are pileup itself."""

    def texts(self, names: Iterable[str]) -> Texts:
        """Return files, named relative to /proc: `stat`, `net/dev`."""

    def machine(self) -> Machine:
        """Count processes, and list devices."""

    def queues(self) -> dict[int, int] | None:
        """Return port -> connections that wait to be accepted; None where only `net/tcp` and `net/tcp6` say it."""

    def stats(self, pids: Iterable[int] | None = None) -> Stats:
        """Return the text of /proc/PID/stat of these processes, or of all."""

    def command_lines(self, pids: Iterable[int]) -> dict[int, bytes | None]:
        """Return arguments, each ended by NUL; None if they may not be read. Ended processes are left out."""

    def open_files(self, pids: Iterable[int]) -> dict[int, int | None]:
        """Return how many descriptors processes have open; None if they may not be counted. Ended ones are left out."""


class LocalProc:
    """/proc and /sys of this machine, or similar folders."""

    ticks = os.sysconf("SC_CLK_TCK")
    page = os.sysconf("SC_PAGE_SIZE")

    def __init__(self, root: Path = Path("/proc"), system: Path = Path("/sys")) -> None:
        self._root = str(root)
        self._system = system

    @property
    def own(self) -> frozenset[int]:
        """This process."""
        return frozenset({os.getpid()})

    def texts(self, names: Iterable[str]) -> Texts:
        """Read files."""
        moment, found = time.monotonic(), {}
        for name in names:
            with suppress(OSError):
                found[name] = self._content(name)
        return Texts(moment, found)

    def machine(self) -> Machine:
        """List both folders."""
        kinds = {"net": self._system / "class" / "net", "block": self._system / "block"}
        devices = {f"{kind}/{path.parent.name}" for kind, folder in kinds.items() for path in folder.glob("*/device")}
        return Machine(len(self._pids()), frozenset(devices))

    def queues(self) -> dict[int, int] | None:
        """Ask the kernel, unless the folder is another one."""
        if self._root != "/proc":
            return None
        try:
            return listening.waiting()
        except OSError:  # a kernel without sock_diag, or one that does not let us
            return None

    def stats(self, pids: Iterable[int] | None = None) -> Stats:
        """Read a file for each process."""
        moment, boot = time.monotonic(), int(time.clock_gettime(time.CLOCK_BOOTTIME) * self.ticks)
        lines, hidden = {}, set()
        for pid in self._pids() if pids is None else pids:
            try:
                lines[pid] = self._content(f"{pid}/stat")
            except PermissionError:
                hidden.add(pid)
            except OSError:  # it has just ended
                continue
        return Stats(moment, boot, lines, frozenset(hidden))

    def command_lines(self, pids: Iterable[int]) -> dict[int, bytes | None]:
        """Read a file for each process."""
        found: dict[int, bytes | None] = {}
        for pid in pids:
            try:
                found[pid] = self._content(f"{pid}/cmdline")
            except PermissionError:
                found[pid] = None
            except OSError:
                continue
        return found

    def open_files(self, pids: Iterable[int]) -> dict[int, int | None]:
        """List a folder for each process."""
        found: dict[int, int | None] = {}
        for pid in pids:
            try:
                found[pid] = self._descriptors(pid)
            except PermissionError:
                found[pid] = None
            except OSError:
                continue
        return found

    def _pids(self) -> list[int]:
        return [int(name) for name in os.listdir(self._root) if name.isdigit()]  # noqa: PTH208

    def _descriptors(self, pid: int) -> int:
        return len(os.listdir(f"{self._root}/{pid}/fd"))  # noqa: PTH208  a Path for each would cost more than the look

    def _content(self, name: str) -> bytes:
        """Read a short file by one call, so that its content is of one moment."""
        number = os.open(f"{self._root}/{name}", os.O_RDONLY)
        try:
            parts = [os.read(number, 1 << 16)]
            while parts[-1] and sum(map(len, parts)) < LONGEST:
                parts.append(os.read(number, 1 << 16))
            return b"".join(parts)
        finally:
            os.close(number)


LOCAL = LocalProc()
"""This machine."""
