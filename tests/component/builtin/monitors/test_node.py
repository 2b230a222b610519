"""The `node` monitor: names and units that checks rely on, and arithmetic on counters."""

from __future__ import annotations

import time
from collections import namedtuple
from collections.abc import Iterable
from pathlib import Path

import psutil
import pytest

from pileup.builtin.monitors.node import Node
from pileup.model.errors import PluginError
from pileup.model.record import Sample
from pileup.plugin.proc import LocalProc, Machine, Texts

Cpu = namedtuple("Cpu", "user nice system irq softirq iowait idle steal guest")
Net = namedtuple("Net", "bytes_recv bytes_sent")
Disk = namedtuple("Disk", "read_bytes write_bytes read_count write_count busy_time")

LEVELS = {
    ("load1", "", ""),
    ("load5", "", ""),
    ("load15", "", ""),
    ("processes", "", ""),
    ("memory", "kind=used", "B"),
    ("memory", "kind=available", "B"),
    ("memory", "kind=total", "B"),
    ("swap", "kind=used", "B"),
    ("swap", "kind=total", "B"),
}


def values(samples: Iterable[Sample]) -> dict[str, float]:
    return {f"{each.metric}[{each.labels}]" if each.labels else each.metric: each.value for each in samples}


MEMINFO = b"MemTotal: 1000 kB\nMemFree: 200 kB\nMemAvailable: 600 kB\nSwapTotal: 50 kB\nSwapFree: 20 kB\n"


class Simulated(LocalProc):
    """A machine whose counters the test sets, written as the kernel writes them; `step` moves its clock."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0
        self.cpu = Cpu(*[0.0] * 9)
        self.net = {"lo": Net(0, 0), "eth0": Net(0, 0)}
        self.disks = {"sda": Disk(0, 0, 0, 0, 0)}
        self.missing: set[str] = set()
        self.wrong: dict[str, bytes] = {}

    def queues(self) -> None:
        """Leave them to the files."""

    def texts(self, names: Iterable[str]) -> Texts:
        """Write the files."""
        columns = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest"]
        cpu = " ".join(str(round(100 * getattr(self.cpu, name))) for name in columns)
        net = "".join(
            f"{name}: {each.bytes_recv} 1 2 3 4 5 6 7 {each.bytes_sent} 8\n" for name, each in self.net.items()
        )
        disks = "".join(
            f"   8  0 {name} {each.read_count} 9 {each.read_bytes // 512} 9 "
            f"{each.write_count} 9 {each.write_bytes // 512} 9 0 {each.busy_time} 9\n"
            for name, each in self.disks.items()
        )
        files = {
            "loadavg": b"0.50 1.25 2.00 3/400 12345\n",
            "stat": f"cpu  {cpu}\ncpu0 {cpu}\n".encode(),
            "meminfo": MEMINFO,
            "net/dev": b"Inter-|   Receive\n face |bytes\n" + net.encode(),
            "diskstats": disks.encode(),
        }
        there = {name: files[name] for name in names if name in files and name not in self.missing}
        return Texts(self.now, there | self.wrong)

    def machine(self) -> Machine:
        """No device of its own is seen."""
        return Machine(77, frozenset())


def watch(machine: Simulated, each: bool = False) -> Node:
    node = Node(each=each)
    node.proc = machine
    return node


@pytest.fixture
def machine() -> Simulated:
    return Simulated()


def test_names_and_units_of_a_real_machine() -> None:
    node = Node()
    node.open()
    time.sleep(0.05)
    found = {(each.metric, each.labels, each.unit) for each in node.sample()}
    assert found >= LEVELS
    rates = {(each, f"direction={way}", "B/s") for each in ("network", "loopback") for way in ("in", "out")}
    assert found >= rates
    measured = values(node.sample())
    truth = psutil.virtual_memory()
    assert measured["memory[kind=total]"] == truth.total
    assert abs(measured["memory[kind=available]"] - truth.available) < 0.2 * truth.total
    assert 0 < measured["processes"] <= 10 * len(psutil.pids())


def test_without_open_the_first_sample_has_levels_only(machine: Simulated) -> None:
    assert {(each.metric, each.labels, each.unit) for each in watch(machine).sample()} == LEVELS


def test_cpu_in_percent_of_all_cores_since_the_last_sample(machine: Simulated) -> None:
    node = watch(machine)
    node.open()
    machine.now += 1
    machine.cpu = Cpu(
        user=0.5, nice=0.1, system=0.2, irq=0.05, softirq=0.05, iowait=0.2, idle=0.8, steal=0.1, guest=0.4
    )
    found = values(node.sample())
    shares = {"user": 30.0, "system": 15.0, "iowait": 10.0, "idle": 40.0, "steal": 5.0}
    assert {mode: found[f"cpu[mode={mode}]"] for mode in shares} == pytest.approx(shares)
    machine.now += 1
    machine.cpu = machine.cpu._replace(idle=1.8, iowait=0.1)  # the kernel may take iowait back
    found = values(node.sample())
    assert (found["cpu[mode=idle]"], found["cpu[mode=iowait]"]) == (100.0, 0.0)


def test_rates_are_per_second_and_loopback_is_apart(machine: Simulated) -> None:
    node = watch(machine)
    node.open()
    machine.now += 2
    machine.net = {"lo": Net(10, 20), "eth0": Net(1000, 200), "eth1": Net(5, 5)}
    machine.disks = {"sda": Disk(4096, 1024, 10, 4, 500)}
    found = values(node.sample())
    assert {key: value for key, value in found.items() if key.startswith(("network", "loopback", "disk"))} == {
        "network[direction=in]": 500,
        "network[direction=out]": 100,
        "loopback[direction=in]": 5,
        "loopback[direction=out]": 10,
        "disk[direction=read]": 2048,
        "disk[direction=write]": 512,
        "disk_operations[direction=read]": 5,
        "disk_operations[direction=write]": 2,
        "disk_busy": 25,
    }


def test_what_is_made_of_other_devices_does_not_count_twice(tmp_path: Path) -> None:
    for name in ("class/net/eth0/device", "class/net/br0", "block/sda/device", "block/dm-0", "block/sda/sda1"):
        (tmp_path / name).mkdir(parents=True)
    seen = LocalProc(tmp_path, tmp_path).machine()
    assert seen.devices == {"net/eth0", "block/sda"}
    node = Node()
    node._devices = seen.devices
    assert node._hardware("net", ["br0", "eth0", "eth9"]) == ["eth0"]
    assert node._hardware("block", ["dm-0", "sda", "sda1"]) == ["sda"]


def test_each_interface_and_disk_apart(machine: Simulated) -> None:
    machine.disks["sdb"] = Disk(0, 0, 0, 0, 0)
    node = watch(machine, each=True)
    node.open()
    machine.now += 1
    machine.net["eth0"] = Net(7, 8)
    machine.disks["sdb"] = Disk(512, 1024, 0, 0, 100)
    found = values(node.sample())
    assert found["interface[direction=in,name=eth0]"] == 7
    assert found["device[direction=write,name=sdb]"] == 1024
    assert (found["device_busy[name=sda]"], found["device_busy[name=sdb]"], found["disk_busy"]) == (0, 10, 10)


def test_counters_that_were_set_back_or_are_gone_give_nothing_negative(machine: Simulated) -> None:
    machine.net["eth0"] = Net(10**9, 10**9)
    node = watch(machine, each=True)
    node.open()
    machine.now += 1
    machine.net = {"eth0": Net(0, 0)}
    machine.disks = {}
    found = values(node.sample())
    assert min(found.values()) >= 0
    assert found["network[direction=in]"] == 0


def test_two_samples_at_the_same_moment_divide_by_nothing(machine: Simulated) -> None:
    node = watch(machine)
    node.open()
    assert {each.metric for each in node.sample()} == {name for name, _, _ in LEVELS}


@pytest.mark.parametrize("missing", ["net/dev", "diskstats", "meminfo", "loadavg"])
def test_what_a_system_does_not_tell_is_left_out(machine: Simulated, missing: str) -> None:
    machine.missing = {missing}
    node = watch(machine)
    node.open()
    machine.now += 1
    machine.cpu = machine.cpu._replace(idle=1.0)
    assert "cpu[mode=idle]" in values(node.sample())


def test_levels_are_what_the_kernel_says(machine: Simulated) -> None:
    assert values(watch(machine).sample()) == {
        "load1": 0.5,
        "load5": 1.25,
        "load15": 2.0,
        "processes": 77,
        "memory[kind=used]": 400 * 1024,
        "memory[kind=available]": 600 * 1024,
        "memory[kind=total]": 1000 * 1024,
        "swap[kind=used]": 30 * 1024,
        "swap[kind=total]": 50 * 1024,
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("stat", b"intr 1 2 3\n"),
        ("stat", b"cpu 1 2 x 4\n"),
        ("stat", b"cpu " + b"9" * 5000),
        ("stat", b""),
        ("meminfo", b"MemTotal: 1 kB\n"),
        ("meminfo", b"MemTotal: -1 kB\nMemFree: 1 kB\n"),
        ("loadavg", b"inf nan 1\n"),
        ("loadavg", b"0.5\n"),
        ("net/dev", b"a\nb\neth0: 1 2 3\n"),
        ("net/dev", b"a\nb\neth0,x=[y]: 1 2 3 4 5 6 7 8 9 10\n"),
        ("diskstats", b"<html>\n"),
        ("diskstats", b" 8 0 sda 1 2 3\n"),
    ],
)
def test_what_is_no_file_of_the_kernel_is_a_clear_error(machine: Simulated, name: str, text: bytes) -> None:
    machine.wrong = {name: text}
    with pytest.raises(PluginError, match=f"/proc/{name} begins with .*expected what proc"):
        list(watch(machine).sample())
