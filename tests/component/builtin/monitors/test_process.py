"""The `process` monitor against processes of known behaviour, and against ones that refuse."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from pileup.builtin.monitors import process_table
from pileup.builtin.monitors.process import Process
from pileup.builtin.monitors.process_table import TICKS, Processes, seen_in
from pileup.model.errors import PluginError
from pileup.model.record import Sample
from pileup.plugin.proc import LocalProc

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
    assert found["open_files[of=all]"] == pytest.approx(itself.num_fds(), abs=3)
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
        "cpu[mode=user]": 0,
        "cpu[mode=system]": 0,
        "rss[of=all]": 0,
        "threads": 0,
        "open_files[of=all]": 0,
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
    own = values(Process(pid=os.getpid(), children=False).sample())
    assert own["number"] == 1
    monitor = Process(match=".", children=False)
    assert os.getpid() not in monitor._choose(monitor._processes.look(), set())


class Proc:
    """A folder like /proc, and a clock, that the test sets; times in seconds."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.now = 5000.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(time, "clock_gettime", lambda _clock: self.now)

    def put(self, pid: int, born: float, used: float, **more: Any) -> None:
        """Let a process be as told: `used` and `reaped` in user mode, `system` beside."""
        told: dict[str, Any] = {"parent": 1, "state": "S", "name": "mariadbd", "system": 0.0, "reaped": 0.0}
        told |= {"words": "mariadbd"} | more
        ticks = [round(each * TICKS) for each in (used, told["system"], told["reaped"], 0.0)]
        times = " ".join(map(str, ticks))
        line = f"{pid} ({told['name']}) {told['state']} {told['parent']} 0 0 0 0 0 0 0 0 0 {times} 20 0 3 0 "
        line += f"{round(born * TICKS)} 4096 {pid} 18446744073709551615 0"
        folder = self.root / str(pid)
        (folder / "fd").mkdir(parents=True, exist_ok=True)
        for number in range(5):
            (folder / "fd" / str(number)).touch()
        (folder / "stat").write_text(line)
        (folder / "cmdline").write_text(told["words"].replace(" ", "\0") + "\0")

    def remove(self, pid: int) -> None:
        shutil.rmtree(self.root / str(pid))

    def watch(self, **options: Any) -> Process:
        """Return a monitor of these processes."""
        monitor = Process(**options)
        monitor.proc = LocalProc(self.root)
        return monitor


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Proc:
    return Proc(tmp_path, monkeypatch)


def cpu(samples: Iterable[Sample]) -> dict[str, float]:
    found = {key: value for key, value in values(samples).items() if key.startswith("cpu")}
    assert found["cpu[mode=user]"] + found["cpu[mode=system]"] == pytest.approx(found["cpu[of=all]"])
    return {key.removeprefix("cpu[of=").rstrip("]"): value for key, value in found.items() if "of=" in key}


def test_cpu_of_one_core_over_the_interval(proc: Proc) -> None:
    proc.put(11, 100.0, 50.0)
    proc.put(12, 100.0, 70.0)
    monitor = proc.watch(program="mariadbd")
    monitor.open()
    proc.now += 2
    proc.put(11, 100.0, 51.0)
    proc.put(12, 100.0, 72.0, system=1.0)
    found = list(monitor.sample())
    assert cpu(found) == {"all": 200.0, "mean": 100.0, "largest": 150.0}
    assert (values(found)["cpu[mode=user]"], values(found)["cpu[mode=system]"]) == (150.0, 50.0)


def test_cpu_of_the_ended_the_born_and_a_number_given_again(proc: Proc) -> None:
    proc.put(11, 100.0, 50.0)
    proc.put(12, 100.0, 70.0)
    monitor = proc.watch(program="mariadbd")
    monitor.open()
    proc.now += 1
    proc.put(11, proc.now - 0.5, 0.25)  # another one
    proc.remove(12)
    proc.put(13, 200.0, 900.0)  # it changed its name
    assert cpu(monitor.sample())["all"] == 25.0
    proc.now += 1
    proc.put(13, 200.0, 900.5)
    assert cpu(monitor.sample())["all"] == 50.0


def test_children_that_end_between_two_samples_are_counted_once(proc: Proc) -> None:
    proc.put(11, 100.0, 50.0, reaped=10.0)
    proc.put(12, 4999.0, 0.5, parent=11, name="script")
    proc.put(13, 4999.0, 0.25, parent=12, name="script")
    monitor = proc.watch(program="mariadbd")
    monitor.open()
    proc.now += 1
    proc.remove(12)  # with 13 it leaves 1 s to its parent, 0.75 s of which was before; and 0.5 s of one never seen
    proc.remove(13)
    proc.put(11, 100.0, 50.1, reaped=11.5)
    assert cpu(monitor.sample()) == {
        "all": pytest.approx(85.0),
        "mean": pytest.approx(85.0),
        "largest": pytest.approx(85.0),
    }
    proc.now += 1
    assert cpu(monitor.sample())["all"] == 0.0


def test_a_child_that_nobody_waits_for_takes_nothing_away(proc: Proc) -> None:
    proc.put(11, 100.0, 50.0)
    proc.put(12, 4999.0, 5.0, parent=11)
    monitor = proc.watch(pid=11)
    monitor.open()
    proc.now += 1
    proc.remove(12)
    proc.put(11, 100.0, 50.5)
    assert cpu(monitor.sample())["all"] == 50.0


def test_without_children_only_its_own_time_counts(proc: Proc) -> None:
    proc.put(11, 100.0, 50.0)
    monitor = proc.watch(pid=11, children=False)
    monitor.open()
    proc.now += 1
    proc.put(11, 100.0, 50.5, reaped=3.0)
    assert cpu(monitor.sample())["all"] == 50.0


class Closed(LocalProc):
    """A /proc in which some files of some processes may not be read."""

    def __init__(self, root: Path, files: int = 0, words: int = 0, stat: int = 0) -> None:
        super().__init__(root)
        self.closed = {f"{words}/cmdline", f"{stat}/stat"}
        self.files = files

    def _descriptors(self, pid: int) -> int:
        if pid == self.files:
            raise PermissionError
        return super()._descriptors(pid)

    def _content(self, name: str) -> bytes:
        if name in self.closed:
            raise PermissionError
        return super()._content(name)


@pytest.mark.parametrize(
    ("closed", "number", "lost"),
    [({"files": 12}, 2, {"open_files"}), ({"stat": 12}, 1, set()), ({"words": 12}, 1, set())],
)
def test_what_may_not_be_looked_into_is_told(proc: Proc, closed: dict[str, int], number: int, lost: set[str]) -> None:
    proc.put(11, 100.0, 50.0, words="srv hamster")
    proc.put(12, 100.0, 70.0, words="srv hamster")
    monitor = proc.watch(match="hamster")
    monitor.proc = Closed(proc.root, **closed)
    monitor.open()
    proc.now += 1
    found = list(monitor.sample())
    assert {each.metric for each in found} == {"number", "cpu", "rss", "threads", "open_files", "not_permitted"} - lost
    assert (values(found)["number"], values(found)["not_permitted"]) == (number, 1)


def test_the_largest_number_of_open_files_of_a_process_is_told(proc: Proc) -> None:
    """One process near its limit is not hidden by the sum of those that have few."""
    for pid, files in {11: 3, 12: 40, 13: 5}.items():
        proc.put(pid, 100.0, 50.0)
        for number in range(files):
            (proc.root / str(pid) / "fd" / str(100 + number)).touch()
    before = len(list((proc.root / "11" / "fd").iterdir())) - 3
    found = values(proc.watch(program="mariadbd").sample())
    assert found["open_files[of=largest]"] == 40 + before
    assert found["open_files[of=all]"] == 48 + 3 * before
    assert found["open_files[of=mean]"] == 16 + before


def test_a_zombie_counts_in_number_and_cpu_alone(proc: Proc) -> None:
    proc.put(11, 100.0, 50.0)
    proc.put(12, 100.0, 70.0)
    monitor = proc.watch(program="mariadbd")
    monitor.open()
    proc.now += 1
    proc.put(12, 100.0, 70.5, state="Z")
    found = list(monitor.sample())
    assert cpu(found)["all"] == 50.0
    told = values(found)
    assert (told["number"], told["threads"], told["open_files[of=all]"], told["rss[of=all]"]) == (
        2,
        3,
        5,
        11 * process_table.PAGE,
    )


def test_a_process_that_ends_while_it_is_measured(proc: Proc) -> None:
    proc.put(11, 1.0, 1.0)
    proc.put(12, 1.0, 1.0)
    (proc.root / "12" / "stat").write_text("")
    shutil.rmtree(proc.root / "11" / "fd")
    found = values(proc.watch(program="mariadbd").sample())
    assert (found["number"], found["open_files[of=all]"], found["not_permitted"]) == (1, 0, 0)


def test_names_longer_than_the_kernel_keeps(proc: Proc) -> None:
    proc.put(11, 1.0, 1.0, name="slurmstepd-of-a", words="/usr/sbin/slurmstepd-of-a-job x")
    proc.put(12, 1.0, 1.0, name="slurmstepd-of-a", words="slurmstepd: [7.batch]")
    assert values(proc.watch(program="slurmstepd-of-a-job").sample())["number"] == 1
    assert values(proc.watch(program="slurmstepd-of-a").sample())["number"] == 2
    assert values(proc.watch(match="^slurmstepd-of-a-job$").sample())["number"] == 1


def test_names_with_brackets_and_blanks() -> None:
    seen = seen_in(b"7 (a) b (c) R 3 0 0 0 0 0 0 0 0 0 1 2 3 4 20 0 9 0 77 4096 2 0")
    assert (seen.pid, seen.name, seen.parent, seen.identity, seen.threads) == (7, "a) b (c", 3, (7, 77), 9)
    assert (seen.user, seen.system, seen.reaped_user, seen.reaped_system) == (1, 2, 3, 4)


def test_monitors_of_one_moment_share_a_look(proc: Proc) -> None:
    table = Processes(LocalProc(proc.root))
    proc.put(11, 1.0, 1.0)
    first = table.look()
    assert table.look() is first
    assert table.look(after=first.moment) is not first  # nobody measures between a look and itself
    proc.now += 1
    assert table.look() is not first


def test_daemons_of_a_target_come_and_go(proc: Proc) -> None:
    running = {"slurmctld": 11}
    monitor = proc.watch(target="ce.slurmctld")
    monitor.attach(lambda: pytest.fail("not asked"), lambda: running)
    proc.put(11, 100.0, 5.0)
    proc.put(12, 100.0, 6.0, parent=11)
    proc.put(13, 100.0, 6.0)
    monitor.open()
    proc.now += 1
    assert values(monitor.sample())["number"] == 2
    running.clear()
    proc.now += 1
    assert values(monitor.sample())["number"] == 0
    running["slurmctld"] = 21
    proc.put(21, proc.now, 0.5)
    proc.now += 1
    found = list(monitor.sample())
    assert (values(found)["number"], cpu(found)["all"]) == (1, 50.0)


def test_daemons_without_children_are_looked_at_alone(proc: Proc) -> None:
    monitor = proc.watch(target="ce", children=False)
    monitor.attach(lambda: pytest.fail("not asked"), lambda: {"slurmctld": 11, "gone": 14})
    for pid, parent in ((11, 1), (12, 11), (13, 1)):
        proc.put(pid, 100.0, 5.0, parent=parent)
    monitor.open()
    proc.now += 1
    proc.put(11, 100.0, 5.25, reaped=3.0)
    found = list(monitor.sample())
    assert (values(found)["number"], cpu(found)["all"]) == (1, 25.0)
    assert monitor._processes._last is None, "nobody looked at all of them"


def test_without_a_suite_there_are_no_daemons(proc: Proc) -> None:
    with pytest.raises(PluginError, match="the daemons of `target` are not known here"):
        proc.watch(target="ce").open()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "no process is chosen; expected match, program, pid or target"),
        ({"match": "("}, "not a regular expression"),
        ({"pid": 0}, "pid"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Process(**options)
