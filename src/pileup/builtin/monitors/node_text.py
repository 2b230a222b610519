"""What files below /proc say of a machine: proc(5), and iostats.rst of the kernel. Numbers are taken strictly."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from pileup.plugin import PluginError

LISTENING = ("net/tcp", "net/tcp6")
"""Sockets, the listening ones first."""
FILES = ("loadavg", "stat", "meminfo", "net/dev", "diskstats", "net/netstat")
MODES = {"user": (0, 1), "system": (2, 5, 6), "iowait": (4,), "idle": (3,), "steal": (7,)}
"""Our modes of CPU time as sums of the kernel's columns. Guests are counted under user by the kernel."""
LISTEN = b"0A"
"""State of a socket that listens."""
SECTOR = 512
"""Bytes in which disks are counted, whatever their own sectors are."""
_COUNT = re.compile(rb"[0-9]{1,20}")
_NAME = re.compile(r"[^\s,=\[\]\x00-\x1f\x7f]{1,64}")
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Card:
    """Bytes of a network interface since the boot."""

    received: int
    sent: int


@dataclass(frozen=True, slots=True)
class Disk:
    """Counters of a disk since the boot; `busy` in ms, None where it is not counted."""

    read: int
    written: int
    reads: int
    writes: int
    busy: int | None


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of main memory and swap space. What is neither available nor free is used."""

    total: int
    available: int
    swap_total: int
    swap_free: int


def loads(files: Mapping[str, bytes]) -> tuple[float, ...]:
    """Return the load averages of 1, 5 and 15 minutes; nothing where they are not there. Raises PluginError."""
    return _parse("loadavg", files, lambda text: tuple(_decimal(word) for word in _first(text.split(), 3)), ())


def cpu(files: Mapping[str, bytes]) -> dict[str, int]:
    """Return ticks by our mode since the boot, of all cores together. Raises PluginError."""
    return _parse("stat", files, _cpu, {})


def memory(files: Mapping[str, bytes]) -> Memory | None:
    """Return what there is of memory. Raises PluginError."""
    return _parse("meminfo", files, _memory, None)


def cards(files: Mapping[str, bytes]) -> dict[str, Card]:
    """Return network interfaces by name. Raises PluginError."""
    return _parse("net/dev", files, _cards, {})


@dataclass(frozen=True, slots=True)
class Refused:
    """Connections that a full queue of a listening socket did not take since the boot."""

    overflows: int
    """The queue of connections to be accepted was full."""
    drops: int
    """Dropped for this or any other reason."""


def refused(files: Mapping[str, bytes]) -> Refused | None:
    """Return what listening sockets did not take; None where it is not counted. Raises PluginError."""
    return _parse("net/netstat", files, _refused, None)


def queues(files: Mapping[str, bytes]) -> dict[int, int]:
    """Return port -> connections that wait to be accepted, of all listening TCP sockets. Raises PluginError."""
    found: dict[int, int] = {}
    nothing: list[tuple[int, int]] = []
    for name in LISTENING:
        for port, waiting in _parse(name, files, _queues, nothing):
            found[port] = found.get(port, 0) + waiting
    return found


def disks(files: Mapping[str, bytes]) -> dict[str, Disk]:
    """Return disks and their partitions by name. Raises PluginError."""
    return _parse("diskstats", files, lambda text: dict(map(_disk, text.splitlines())), {})


def _parse(name: str, files: Mapping[str, bytes], read: Callable[[bytes], Found], nothing: Found) -> Found:
    text = files.get(name)
    if text is None:
        return nothing
    try:
        return read(text)
    except (ValueError, IndexError, KeyError) as problem:
        raise PluginError(f"/proc/{name} begins with {text[:60]!r}", "what proc(5) says of it") from problem


def _cpu(text: bytes) -> dict[str, int]:
    words = text.split(b"\n", 1)[0].split()
    if words[0] != b"cpu":
        raise ValueError(words[0])
    columns = [_count(word) for word in words[1:]]
    return {mode: sum(columns[at] for at in places if at < len(columns)) for mode, places in MODES.items()}


def _memory(text: bytes) -> Memory:
    lines = (line.split() for line in text.splitlines() if line)
    found = {words[0].rstrip(b":").decode("ascii"): _count(words[1]) * 1024 for words in lines}
    total, free = found["MemTotal"], found["MemFree"]
    guess = free + found.get("Buffers", 0) + found.get("Cached", 0) + found.get("SReclaimable", 0)
    available = found.get("MemAvailable") or min(guess, total)  # kernels before 3.14 do not say
    if available > total:  # in some containers
        available = free
    return Memory(total, available, found.get("SwapTotal", 0), found.get("SwapFree", 0))


def _cards(text: bytes) -> dict[str, Card]:
    found = {}
    for line in text.splitlines()[2:]:
        name, _, rest = line.rpartition(b":")
        words = rest.split()
        found[_name(name.strip())] = Card(_count(words[0]), _count(words[8]))
    return found


def _refused(text: bytes) -> Refused | None:
    rows = [line.split() for line in text.splitlines() if line.startswith(b"TcpExt:")]
    if not rows:
        return None
    names, counts = rows
    found = dict(zip(names, counts, strict=True))
    if b"ListenOverflows" not in found:
        return None
    return Refused(_count(found[b"ListenOverflows"]), _count(found[b"ListenDrops"]))


def _queues(text: bytes) -> list[tuple[int, int]]:
    """A listening socket has the state 0A; its receive queue counts connections (proc_net_tcp.txt of the kernel)."""
    found = []
    for line in text.splitlines()[1:]:
        words = line.split()
        if words[3] != LISTEN:
            break  # those that listen come first
        found.append((int(words[1].rpartition(b":")[2], 16), int(words[4].partition(b":")[2], 16)))
    return found


def _disk(line: bytes) -> tuple[str, Disk]:
    words = line.split()
    columns = [_count(word) for word in words[3:]]
    if len(columns) == 4:  # a partition, of kernels before 2.6.25
        reads, read, writes, written = columns
        return _name(words[2]), Disk(read * SECTOR, written * SECTOR, reads, writes, None)
    reads, read, writes, written, busy = (columns[at] for at in (0, 2, 4, 6, 9))
    return _name(words[2]), Disk(read * SECTOR, written * SECTOR, reads, writes, busy)


def _first(words: list[bytes], count: int) -> list[bytes]:
    if len(words) < count:
        raise ValueError(f"{len(words)} words")
    return words[:count]


def _count(word: bytes) -> int:
    if _COUNT.fullmatch(word) is None:
        raise ValueError(f"{word[:40]!r} is not a counter")
    return int(word)


def _decimal(word: bytes) -> float:
    whole, _, part = word.partition(b".")
    return _count(whole) + _count(part or b"0") / 10.0 ** len(part or b"0")


def _name(word: bytes) -> str:
    name = word.decode("ascii", errors="replace")
    if _NAME.fullmatch(name) is None:
        raise ValueError(f"{name[:40]!r} is not a name of a device")
    return name
