"""The `process` monitor on daemons of a launched server: real ones, over a restart, with children that are short."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pileup.builtin.monitors.process import Process
from pileup.model.errors import TargetError
from pileup.plugin import Daemon, Launcher, Line, Task
from pileup.run.servers.supervisor import Supervisor

WAITS = "echo ready; exec sleep 100"
SPAWNS = "echo ready; while :; do /bin/sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done'; done"
"""Starts one child after the other; each takes some ms."""


def until(holds: Callable[[], bool]) -> None:
    """Wait for something that must come, not for a time."""
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[Supervisor]:
    """Supervise a server of two daemons."""
    supervisor = Supervisor()
    daemons = [Daemon(("sh", "-c", text), Line("ready"), name=name) for name, text in (("a", WAITS), ("b", SPAWNS))]
    supervisor.launch("ce", Launcher((Task(("true",)), *daemons), url="http://127.0.0.1:1/"), tmp_path / "ce")
    yield supervisor
    supervisor.end_all()


def watching(supervisor: Supervisor, target: str) -> Process:
    monitor = Process(target=target)
    monitor.attach(lambda: pytest.fail("nobody asks for it"), lambda: supervisor.running(target))
    monitor.open()
    return monitor


def measured(monitor: Process) -> dict[str, float]:
    return {f"{each.metric}[{each.labels}]": each.value for each in monitor.sample()}


def test_running_names_what_runs(supervisor: Supervisor) -> None:
    assert list(supervisor.running("ce").items()) == list(zip("ab", supervisor.pids("ce"), strict=True))
    supervisor.kill("ce.a")
    assert list(supervisor.running("ce")) == ["b"]
    assert supervisor.running("ce.a") == {}
    with pytest.raises(TargetError, match="has no process 'c'"):
        supervisor.running("ce.c")
    with pytest.raises(TargetError, match="target se has no server of pileup's"):
        supervisor.running("se")


def test_one_daemon_is_watched_over_its_restart(supervisor: Supervisor) -> None:
    monitor = watching(supervisor, "ce.a")
    assert measured(monitor)["number[]"] == 1
    (before,) = supervisor.running("ce.a").values()
    supervisor.kill("ce.a")
    assert measured(monitor)["number[]"] == 0
    supervisor.restart("ce.a")
    assert before not in supervisor.running("ce.a").values()
    assert measured(monitor)["number[]"] == 1
    until(lambda: measured(monitor)["rss[of=all]"] > 0)  # a process has no memory of its own for a moment


def test_children_that_live_for_less_than_an_interval_are_counted(supervisor: Supervisor) -> None:
    everything, quiet = watching(supervisor, "ce"), watching(supervisor, "ce.a")
    of_parent = Process(pid=supervisor.running("ce.b")["b"], children=False)
    of_parent.open()

    def shares() -> tuple[float, float, float]:
        return tuple(measured(each)["cpu[of=all]"] for each in (everything, of_parent, quiet))  # type: ignore[return-value]

    seen: list[tuple[float, float, float]] = []

    def enough() -> bool:
        seen.append(shares())
        return sum(each[0] for each in seen) > 100

    until(enough)
    whole, parent, waiting = (sum(each) for each in zip(*seen, strict=True))
    assert whole > 2 * parent  # nearly all of it is the children's
    assert waiting < whole / 4
    assert measured(everything)["number[]"] >= 2
