"""Watches the machine."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from pileup.plugin import Monitor, Sample, option

MODES = {
    "user": ("user", "nice"),
    "system": ("system", "irq", "softirq"),
    "iowait": ("iowait",),
    "idle": ("idle",),
    "steal": ("steal",),
}
"""Our modes of CPU time as sums of the kernel's. Guests are counted under user by the kernel."""


@dataclass(frozen=True, slots=True)
class _Counters:
    """Everything that only grows, at one moment (s, monotonic)."""

    moment: float
    cpu: Any
    network: Mapping[str, object]
    disks: Mapping[str, object]


class Node(Monitor):
    """Load, processes, CPU, memory, network and disks of this machine.

    | metric | unit | what |
    |---|---|---|
    | `load1` `load5` `load15` | | processes that run or wait for a disk, averaged over 1, 5, 15 minutes |
    | `processes` | | processes there are |
    | `cpu[mode=user]` `system` `iowait` `idle` `steal` | % | share of the time of all cores |
    | `memory[kind=used]` `available` `total` | B | main memory |
    | `swap[kind=used]` `total` | B | swap space |
    | `network[direction=in]` `out` | B/s | all network cards, or where none are seen all interfaces but the loopback |
    | `loopback[direction=in]` `out` | B/s | within this machine |
    | `disk[direction=read]` `write` | B/s | over all disks |
    | `disk_operations[direction=read]` `write` | /s | over all disks |
    | `disk_busy` | % | share of the time in which the busiest disk had something to do |

    Shares and rates are those since the sample before. With `each`, also `interface[direction=…,name=eth0]` and
    `device[direction=…,name=sda]` in B/s and `device_busy[name=sda]` in %. What a system does not tell is left out.
    In a check: `max(node.cpu[mode=iowait]) < 20`, `last(node.load1) < 1`.
    """

    name = "node"

    each: bool = option(False, help="also every network interface and disk apart")

    _before: _Counters | None = None

    def open(self) -> None:
        """Take the first counters, which the first sample is measured from."""
        self._before = _count()

    def sample(self) -> Iterator[Sample]:
        """Measure once."""
        counters, before = _count(), self._before
        self._before = counters
        yield from _levels()
        if before is not None and counters.moment > before.moment:
            yield from _cpu(before.cpu, counters.cpu)
            yield from self._network(before, counters)
            yield from self._disks(before, counters)

    def _network(self, before: _Counters, after: _Counters) -> Iterator[Sample]:
        rates = {
            name: [_rate(before, after, "network", name, field) for field in ("bytes_recv", "bytes_sent")]
            for name in before.network.keys() & after.network.keys()
        }
        outside = _hardware(rates, Path("/sys/class/net")) or [name for name in rates if name != "lo"]
        for place, direction in enumerate(("in", "out")):
            label = f"direction={direction}"
            yield Sample("network", sum(rates[name][place] for name in outside), "B/s", label)
            yield Sample("loopback", rates["lo"][place] if "lo" in rates else 0.0, "B/s", label)
            for name in sorted(rates) if self.each else ():
                yield Sample("interface", rates[name][place], "B/s", f"{label},name={name}")

    def _disks(self, before: _Counters, after: _Counters) -> Iterator[Sample]:
        names = sorted(before.disks.keys() & after.disks.keys())
        for direction in ("read", "write"):
            label = f"direction={direction}"
            rates = {name: _rate(before, after, "disks", name, f"{direction}_bytes") for name in names}
            yield Sample("disk", sum(rates.values()), "B/s", label)
            operations = sum(_rate(before, after, "disks", name, f"{direction}_count") for name in names)
            yield Sample("disk_operations", operations, "/s", label)
            for name in names if self.each else ():
                yield Sample("device", rates[name], "B/s", f"{label},name={name}")
        busy = {name: _busy(before, after, name) for name in names if hasattr(after.disks[name], "busy_time")}
        if busy:
            yield Sample("disk_busy", max(busy.values()), "%")
        for name, share in busy.items() if self.each else ():
            yield Sample("device_busy", share, "%", f"name={name}")


def _count() -> _Counters:
    return _Counters(time.monotonic(), psutil.cpu_times(), psutil.net_io_counters(pernic=True) or {}, _disk_counters())


def _disk_counters() -> Mapping[str, object]:
    """Return the counters of whole disks; in a container, which may see none, those of all volumes."""
    found = psutil.disk_io_counters(perdisk=True) or {}
    real = _hardware(found, Path("/sys/block")) or [
        name for name in found if not name.startswith(("loop", "ram", "zram"))
    ]
    return {name: found[name] for name in real}


def _hardware(names: Iterable[str], folder: Path) -> list[str]:
    """Return those that are devices of their own, not made of others (bridges, tunnels, partitions, volumes)."""
    return [name for name in names if (folder / name / "device").exists()]


def _levels() -> Iterator[Sample]:
    for minutes, load in zip((1, 5, 15), psutil.getloadavg(), strict=True):
        yield Sample(f"load{minutes}", load)
    yield Sample("processes", len(psutil.pids()))
    memory, swap = psutil.virtual_memory(), psutil.swap_memory()
    for kind in ("used", "available", "total"):
        yield Sample("memory", getattr(memory, kind), "B", f"kind={kind}")
    for kind in ("used", "total"):
        yield Sample("swap", getattr(swap, kind), "B", f"kind={kind}")


def _cpu(before: Any, after: Any) -> Iterator[Sample]:
    spent = {
        mode: sum(max(0.0, getattr(after, field, 0.0) - getattr(before, field, 0.0)) for field in fields)
        for mode, fields in MODES.items()
    }
    total = sum(spent.values())
    for mode, seconds in spent.items() if total > 0 else ():
        yield Sample("cpu", 100 * seconds / total, "%", f"mode={mode}")


def _rate(before: _Counters, after: _Counters, table: str, name: str, field: str) -> float:
    """Return the growth of a counter per second; a counter that was set back counts as still."""
    grown = getattr(getattr(after, table)[name], field) - getattr(getattr(before, table)[name], field)
    return float(max(0, grown)) / (after.moment - before.moment)


def _busy(before: _Counters, after: _Counters, name: str) -> float:
    """Return the share of the time in which a disk was busy, %; the kernel counts it in ms."""
    return min(100.0, _rate(before, after, "disks", name, "busy_time") / 10)
