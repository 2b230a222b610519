"""The `node` monitor: names and units that checks rely on, and arithmetic on counters."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psutil
import pytest

from pileup.builtin.monitors import node as module
from pileup.builtin.monitors.node import Node
from pileup.model.record import Sample

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


class Machine:
    """A machine whose counters the test sets; `step` moves its clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.cpu = Cpu(*[0.0] * 9)
        self.net = {"lo": Net(0, 0), "eth0": Net(0, 0)}
        self.disks = {"sda": Disk(0, 0, 0, 0, 0)}
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(psutil, "cpu_times", lambda: self.cpu)
        monkeypatch.setattr(psutil, "net_io_counters", lambda pernic: dict(self.net))
        monkeypatch.setattr(psutil, "disk_io_counters", lambda perdisk: dict(self.disks))


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


def test_names_and_units_of_a_real_machine() -> None:
    node = Node()
    node.open()
    module.time.sleep(0.05)
    found = {(each.metric, each.labels, each.unit) for each in node.sample()}
    assert found >= LEVELS
    rates = {(each, f"direction={way}", "B/s") for each in ("network", "loopback") for way in ("in", "out")}
    assert found >= rates
    measured = values(node.sample())
    truth = psutil.virtual_memory()
    assert measured["memory[kind=total]"] == truth.total
    assert abs(measured["memory[kind=available]"] - truth.available) < 0.2 * truth.total
    assert 0 < measured["processes"] <= 10 * len(psutil.pids())


def test_without_open_the_first_sample_has_levels_only(machine: Machine) -> None:
    assert {(each.metric, each.labels, each.unit) for each in Node().sample()} == LEVELS


def test_cpu_in_percent_of_all_cores_since_the_last_sample(machine: Machine) -> None:
    node = Node()
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


def test_rates_are_per_second_and_loopback_is_apart(machine: Machine) -> None:
    node = Node()
    node.open()
    machine.now += 2
    machine.net = {"lo": Net(10, 20), "eth0": Net(1000, 200), "eth1": Net(5, 5)}
    machine.disks = {"sda": Disk(4000, 800, 10, 4, 500)}
    found = values(node.sample())
    assert {key: value for key, value in found.items() if key.startswith(("network", "loopback", "disk"))} == {
        "network[direction=in]": 500,
        "network[direction=out]": 100,
        "loopback[direction=in]": 5,
        "loopback[direction=out]": 10,
        "disk[direction=read]": 2000,
        "disk[direction=write]": 400,
        "disk_operations[direction=read]": 5,
        "disk_operations[direction=write]": 2,
        "disk_busy": 25,
    }


def test_what_is_made_of_other_devices_does_not_count_twice(tmp_path: Path) -> None:
    for name in ("eth0/device", "br0", "sda/device", "sda1"):
        (tmp_path / name).mkdir(parents=True)
    assert module._hardware(["br0", "eth0", "eth9"], tmp_path) == ["eth0"]
    assert module._hardware(["dm-0", "sda", "sda1"], tmp_path) == ["sda"]


def test_each_interface_and_disk_apart(machine: Machine) -> None:
    machine.disks["sdb"] = Disk(0, 0, 0, 0, 0)
    node = Node(each=True)
    node.open()
    machine.now += 1
    machine.net["eth0"] = Net(7, 8)
    machine.disks["sdb"] = Disk(5, 6, 0, 0, 100)
    found = values(node.sample())
    assert found["interface[direction=in,name=eth0]"] == 7
    assert found["device[direction=write,name=sdb]"] == 6
    assert (found["device_busy[name=sda]"], found["device_busy[name=sdb]"], found["disk_busy"]) == (0, 10, 10)


def test_counters_that_were_set_back_or_are_gone_give_nothing_negative(machine: Machine) -> None:
    machine.net["eth0"] = Net(10**9, 10**9)
    node = Node(each=True)
    node.open()
    machine.now += 1
    machine.net = {"eth0": Net(0, 0)}
    machine.disks = {}
    found = values(node.sample())
    assert min(found.values()) >= 0
    assert found["network[direction=in]"] == 0


def test_two_samples_at_the_same_moment_divide_by_nothing(machine: Machine) -> None:
    node = Node()
    node.open()
    assert {each.metric for each in node.sample()} == {name for name, _, _ in LEVELS}


@pytest.mark.parametrize("missing", ["net_io_counters", "disk_io_counters"])
def test_what_a_system_does_not_tell_is_left_out(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    def nothing(**_: Any) -> None:
        return None

    monkeypatch.setattr(psutil, missing, nothing)
    node = Node()
    node.open()
    machine.now += 1
    machine.cpu = machine.cpu._replace(idle=1.0)
    assert "cpu[mode=idle]" in values(node.sample())
