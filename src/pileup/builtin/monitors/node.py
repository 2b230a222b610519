"""Watches the machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pileup.builtin.monitors import node_text as text
from pileup.plugin import Monitor, Sample, option


@dataclass(frozen=True, slots=True)
class _Counters:
    """Everything that only grows, at one moment (s, monotonic)."""

    moment: float
    cpu: Mapping[str, int]
    network: Mapping[str, text.Card]
    disks: Mapping[str, text.Disk]
    refused: text.Refused | None


class Node(Monitor):
    """Load, processes, CPU, memory, network and disks of this machine.

    | metric | unit | what |
    |---|---|---|
    | `load1` `load5` `load15` | | processes that run or wait for a disk, averaged over 1, 5, 15 minutes |
    | `processes` | | number of processes |
    | `cpu[mode=user]` `system` `iowait` `idle` `steal` | % | share of the time of all cores |
    | `memory[kind=used]` `available` `total` | B | main memory |
    | `swap[kind=used]` `total` | B | swap space |
    | `network[direction=in]` `out` | B/s | all network cards; if none are visible, all interfaces except the loopback |
    | `loopback[direction=in]` `out` | B/s | within this machine |
    | `disk[direction=read]` `write` | B/s | over all disks |
    | `disk_operations[direction=read]` `write` | /s | over all disks |
    | `disk_busy` | % | share of the time in which the busiest disk was busy |
    | `listen_overflows` | | connections that a full queue of a listening socket did not take, since the sample before |
    | `listen_drops` | | connections that listening sockets dropped for any reason, since the sample before |
    | `listen_queue` | | connections that wait to be accepted, at the port where most wait |

    Shares and rates are since the sample before. With `each`, also `interface[direction=…,name=eth0]` and
    `device[direction=…,name=sda]` in B/s, `device_busy[name=sda]` in %, and `port_queue[port=1094]`, the connections
    that wait at a port. The kernel counts overflows and drops (`ListenOverflows`, `ListenDrops`) of the whole machine,
    and one for each attempt: a client whose SYN was dropped tries again after 1 s, 3 s, … Metrics that a system does
    not provide are left out. In a check: `max(node.cpu[mode=iowait]) < 20`, `last(node.load1) < 1`,
    `sum(node.listen_overflows) == 0`.
    """

    name = "node"
    reads_proc = True

    each: bool = option(False, help="also each network interface, disk and listening port separately")

    _before: _Counters | None = None
    _devices: frozenset[str] = frozenset()

    def open(self) -> None:
        """Take the first counters, which the first sample is measured from. Raises PluginError, TargetError."""
        self._look()

    def sample(self) -> Iterator[Sample]:
        """Measure once. Raises PluginError, TargetError."""
        before = self._before
        files, counters, processes, queues = self._look()
        yield from _levels(files)
        yield Sample("processes", processes)
        yield from self._queues(queues)
        if before is not None and counters.moment > before.moment:
            yield from _cpu(before.cpu, counters.cpu)
            yield from self._network(before, counters)
            yield from self._disks(before, counters)
            yield from _refused(before.refused, counters.refused)

    def _look(self) -> tuple[Mapping[str, bytes], _Counters, int, Mapping[int, int]]:
        """Return files, counters, the number of processes, and what waits at each port."""
        machine, queues = self.proc.machine(), self.proc.queues()
        found = self.proc.texts(text.FILES if queues is not None else (*text.FILES, *text.LISTENING))
        self._devices = machine.devices
        disks = text.disks(found.files)
        whole = self._hardware("block", disks) or [
            name for name in disks if not name.startswith(("loop", "ram", "zram"))
        ]  # a container may see no disk: then all volumes
        disks = {name: disks[name] for name in whole}
        self._before = _Counters(
            found.moment, text.cpu(found.files), text.cards(found.files), disks, text.refused(found.files)
        )
        return found.files, self._before, machine.processes, text.queues(found.files) if queues is None else queues

    def _hardware(self, kind: str, names: Iterable[str]) -> list[str]:
        """Return those that are devices of their own, not made of others (bridges, tunnels, partitions, volumes)."""
        return [name for name in names if f"{kind}/{name}" in self._devices]

    def _queues(self, waiting: Mapping[int, int]) -> Iterator[Sample]:
        if waiting:
            yield Sample("listen_queue", max(waiting.values()))
        for port in sorted(waiting) if self.each else ():
            yield Sample("port_queue", waiting[port], "", f"port={port}")

    def _network(self, before: _Counters, after: _Counters) -> Iterator[Sample]:
        seconds = after.moment - before.moment
        pairs = {name: (before.network[name], after.network[name]) for name in before.network.keys() & after.network}
        rates = {
            name: (_rate(old.received, new.received, seconds), _rate(old.sent, new.sent, seconds))
            for name, (old, new) in pairs.items()
        }
        outside = self._hardware("net", rates) or [name for name in rates if name != "lo"]
        for place, direction in enumerate(("in", "out")):
            label = f"direction={direction}"
            yield Sample("network", sum(rates[name][place] for name in outside), "B/s", label)
            yield Sample("loopback", rates["lo"][place] if "lo" in rates else 0.0, "B/s", label)
            for name in sorted(rates) if self.each else ():
                yield Sample("interface", rates[name][place], "B/s", f"{label},name={name}")

    def _disks(self, before: _Counters, after: _Counters) -> Iterator[Sample]:
        seconds = after.moment - before.moment
        pairs = {name: (before.disks[name], after.disks[name]) for name in sorted(before.disks.keys() & after.disks)}
        bytes_read = {name: _rate(old.read, new.read, seconds) for name, (old, new) in pairs.items()}
        written = {name: _rate(old.written, new.written, seconds) for name, (old, new) in pairs.items()}
        operations = {
            "read": sum(_rate(old.reads, new.reads, seconds) for old, new in pairs.values()),
            "write": sum(_rate(old.writes, new.writes, seconds) for old, new in pairs.values()),
        }
        for direction, rates in (("read", bytes_read), ("write", written)):
            label = f"direction={direction}"
            yield Sample("disk", sum(rates.values()), "B/s", label)
            yield Sample("disk_operations", operations[direction], "/s", label)
            for name in rates if self.each else ():
                yield Sample("device", rates[name], "B/s", f"{label},name={name}")
        yield from self._busy(pairs, seconds)

    def _busy(self, pairs: Mapping[str, tuple[text.Disk, text.Disk]], seconds: float) -> Iterator[Sample]:
        """Yield the share of the time in which disks were busy; the kernel counts it in ms."""
        busy = {
            name: min(100.0, _rate(old.busy, new.busy, seconds) / 10)
            for name, (old, new) in pairs.items()
            if old.busy is not None and new.busy is not None
        }
        if busy:
            yield Sample("disk_busy", max(busy.values()), "%")
        for name, share in busy.items() if self.each else ():
            yield Sample("device_busy", share, "%", f"name={name}")


def _levels(files: Mapping[str, bytes]) -> Iterator[Sample]:
    for minutes, load in zip((1, 5, 15), text.loads(files), strict=False):
        yield Sample(f"load{minutes}", load)
    memory = text.memory(files)
    if memory is None:
        return
    main = {"used": memory.total - memory.available, "available": memory.available, "total": memory.total}
    for kind, size in main.items():
        yield Sample("memory", size, "B", f"kind={kind}")
    swap = {"used": max(0, memory.swap_total - memory.swap_free), "total": memory.swap_total}
    for kind, size in swap.items():
        yield Sample("swap", size, "B", f"kind={kind}")


def _refused(before: text.Refused | None, after: text.Refused | None) -> Iterator[Sample]:
    if before is not None and after is not None:
        yield Sample("listen_overflows", max(0, after.overflows - before.overflows))
        yield Sample("listen_drops", max(0, after.drops - before.drops))


def _cpu(before: Mapping[str, int], after: Mapping[str, int]) -> Iterator[Sample]:
    spent = {mode: max(0, after[mode] - before[mode]) for mode in before.keys() & after.keys()}
    total = sum(spent.values())
    for mode in before if total > 0 else ():
        yield Sample("cpu", 100 * spent.get(mode, 0) / total, "%", f"mode={mode}")


def _rate(before: int, after: int, seconds: float) -> float:
    """Return the growth of a counter per second; a counter that was set back counts as still."""
    return max(0, after - before) / seconds
