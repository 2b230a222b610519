"""The `process` monitor against processes of known behaviour, and against ones that refuse."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import psutil
import pytest

from pileup.builtin.monitors import process as module
from pileup.builtin.monitors.process import Process
from pileup.model.record import Sample

PARENT = """
import subprocess, sys, time
while time.process_time() < 0.1: pass
child = subprocess.Popen([sys.executable, "-c", "print('up', flush=True); input()", sys.argv[1]], stdin=sys.stdin)
child.wait()
"""
Spawn = Callable[[str], subprocess.Popen[str]]


def values(samples: Iterable[Sample]) -> dict[str, float]:
    return {f"{each.metric}[{each.labels}]" if each.labels else each.metric: each.value for each in samples}


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    """Start a parent with one child, both with a word in their command line; they end when their input does."""
    started: list[subprocess.Popen[str]] = []

    def start(word: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", PARENT, word]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        return process

    yield start
    for process in started:
        process.communicate(timeout=10)


def end(process: subprocess.Popen[str]) -> None:
    process.communicate("\n", timeout=10)


def test_own_process_by_pid() -> None:
    monitor = Process(pid=os.getpid(), children=False)
    monitor.open()
    sum(range(2_000_000))
    found = values(monitor.sample())
    itself = psutil.Process()
    assert (found["number"], found["not_permitted"]) == (1, 0)
    assert found["threads"] == itself.num_threads()
    assert found["open_files"] == pytest.approx(itself.num_fds(), abs=3)
    assert found["rss[of=all]"] == pytest.approx(itself.memory_info().rss, rel=0.2)
    assert found["rss[of=all]"] == found["rss[of=mean]"] == found["rss[of=largest]"]
    assert found["cpu[of=all]"] >= 0


def test_chosen_by_command_line_with_children(spawn: Spawn) -> None:
    parent = spawn("hamster-7311")
    assert values(Process(match="hamster-7311").sample())["number"] == 2
    assert values(Process(pid=parent.pid).sample())["number"] == 2
    assert values(Process(pid=parent.pid, children=False).sample())["number"] == 1
    assert values(Process(match="hamster-[0-9]+$", pid=parent.pid, children=False).sample())["number"] == 1
    name = psutil.Process(parent.pid).name()
    assert values(Process(program=name, match="hamster-7311").sample())["number"] == 2
    assert values(Process(program="no-such-name", match="hamster-7311").sample())["number"] == 0


def test_units_and_sums(spawn: Spawn) -> None:
    spawn("hamster-7312")
    monitor = Process(match="hamster-7312")
    monitor.open()
    samples = list(monitor.sample())
    assert {each.metric: each.unit for each in samples} == {
        "number": "",
        "cpu": "%",
        "rss": "B",
        "threads": "",
        "open_files": "",
        "not_permitted": "",
    }
    found = values(samples)
    assert found["rss[of=mean]"] == found["rss[of=all]"] / 2
    assert found["rss[of=all]"] / 2 <= found["rss[of=largest]"] < found["rss[of=all]"]
    assert found["threads"] == 2


def test_processes_come_and_go(spawn: Spawn) -> None:
    monitor = Process(match="hamster-7313")
    monitor.open()
    assert values(monitor.sample()) == {
        "number": 0,
        "cpu[of=all]": 0,
        "rss[of=all]": 0,
        "threads": 0,
        "open_files": 0,
        "not_permitted": 0,
    }
    parent = spawn("hamster-7313")
    found = values(monitor.sample())
    assert found["number"] == 2
    assert found["cpu[of=all]"] > 0  # both were born since: all they used counts
    end(parent)
    found = values(monitor.sample())
    assert (found["number"], found["cpu[of=all]"]) == (0, 0)


def test_pileup_itself_is_not_chosen_by_match() -> None:
    found = values(Process(match=".", children=False).sample())
    own = values(Process(pid=os.getpid(), children=False).sample())
    assert own["number"] == 1
    assert found["number"] < len(psutil.pids()) + 1
    refused: set[int] = set()
    chosen = Process(match=".", children=False)._choose(refused)
    assert os.getpid() not in {process.pid for process in chosen}


class Fake:
    """A process that is told what it uses and what it refuses."""

    def __init__(self, pid: int, born: float, used: float, **refuse: type[psutil.Error]) -> None:
        self.pid = pid
        self.born = born
        self.used = used
        self.refuse = refuse

    def _give(self, name: str, value: Any) -> Any:
        if name in self.refuse:
            raise self.refuse[name](self.pid)
        return value

    def name(self) -> str:
        return str(self._give("name", "mariadbd"))

    def cmdline(self) -> list[str]:
        return list(self._give("cmdline", ["mariadbd"]))

    def ppid(self) -> int:
        return 1

    def create_time(self) -> float:
        return self.born

    def cpu_times(self) -> Any:
        return self._give("cpu_times", type("Times", (), {"user": self.used, "system": 0.0}))

    def memory_info(self) -> Any:
        return self._give("memory_info", type("Memory", (), {"rss": 100 * self.pid}))

    def num_threads(self) -> int:
        return int(self._give("num_threads", 3))

    def num_fds(self) -> int:
        return int(self._give("num_fds", 5))


class Table:
    """A table of processes and a clock that the test sets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 5000.0
        self.processes: list[Fake] = []
        monkeypatch.setattr(psutil, "process_iter", lambda: iter(self.processes))
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(module.time, "time", lambda: self.now)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Table:
    return Table(monkeypatch)


def cpu(samples: Iterable[Sample]) -> dict[str, float]:
    return {key: value for key, value in values(samples).items() if key.startswith("cpu")}


def test_cpu_of_one_core_over_the_interval(table: Table) -> None:
    table.processes = [Fake(11, 100.0, 50.0), Fake(12, 100.0, 70.0)]
    monitor = Process(program="mariadbd")
    monitor.open()
    table.now += 2
    table.processes[0].used = 51.0
    table.processes[1].used = 73.0
    assert cpu(monitor.sample()) == {"cpu[of=all]": 200.0, "cpu[of=mean]": 100.0, "cpu[of=largest]": 150.0}


def test_cpu_of_the_ended_the_born_and_a_number_given_again(table: Table) -> None:
    table.processes = [Fake(11, 100.0, 50.0), Fake(12, 100.0, 70.0)]
    monitor = Process(program="mariadbd")
    monitor.open()
    table.now += 1
    table.processes = [
        Fake(11, table.now - 0.5, 0.25),
        Fake(13, 200.0, 900.0),
    ]  # 11 is another one; 13 changed its name
    assert cpu(monitor.sample())["cpu[of=all]"] == 25.0
    table.now += 1
    table.processes[1].used += 0.5
    assert cpu(monitor.sample())["cpu[of=all]"] == 50.0


@pytest.mark.parametrize(
    ("refused", "lost"),
    [
        ({"num_fds": psutil.AccessDenied}, {"open_files"}),
        ({"memory_info": psutil.AccessDenied}, {"rss"}),
        ({"cpu_times": psutil.AccessDenied, "num_threads": psutil.AccessDenied}, {"cpu", "threads"}),
    ],
)
def test_a_sum_that_would_be_too_small_is_left_out(
    table: Table, refused: dict[str, type[psutil.Error]], lost: set[str]
) -> None:
    table.processes = [Fake(11, 100.0, 50.0), Fake(12, 100.0, 70.0, **refused)]
    monitor = Process(program="mariadbd")
    monitor.open()
    table.now += 1
    found = list(monitor.sample())
    metrics = {each.metric for each in found}
    assert metrics == {"number", "cpu", "rss", "threads", "open_files", "not_permitted"} - lost
    assert (values(found)["number"], values(found)["not_permitted"]) == (2, 1)


def test_a_command_line_that_is_hidden_counts_as_not_permitted(table: Table) -> None:
    table.processes = [
        Fake(11, 1.0, 1.0, cmdline=psutil.AccessDenied),
        Fake(12, 1.0, 1.0, cmdline=psutil.ZombieProcess),
    ]
    found = values(Process(match="wanted").sample())
    assert (found["number"], found["not_permitted"]) == (0, 1)


def test_a_process_that_ends_while_it_is_measured(table: Table) -> None:
    gone = dict.fromkeys(("cpu_times", "memory_info", "num_threads", "num_fds"), psutil.NoSuchProcess)
    table.processes = [Fake(11, 1.0, 1.0), Fake(12, 1.0, 1.0, **gone)]
    found = values(Process(program="mariadbd").sample())
    assert (found["threads"], found["open_files"], found["rss[of=all]"], found["not_permitted"]) == (3, 5, 1100, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [({}, "no process is chosen"), ({"match": "("}, "no regular expression"), ({"pid": 0}, "pid")],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Process(**options)
