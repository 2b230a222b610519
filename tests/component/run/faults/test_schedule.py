"""Faults: at their time while a load goes on, mended when they last a while, told when they did not happen."""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from pileup.model.errors import TargetError
from pileup.model.suite import FaultSpec
from pileup.plugin import Launcher
from pileup.record import RunFolder
from pileup.run.faults import injection
from pileup.run.faults.schedule import Faults
from pileup.run.recovery.intents import open_intents
from pileup.run.servers.disks import FILLING
from pileup.run.servers.supervisor import Supervisor
from pileup.suite import load
from tests.component.run.servers.test_supervisor import READY, launcher, until

SUITE = """
pileup: 1
title: faults
targets: {{se: {{kind: practice-storage, launch: {{}}}}}}
tests:
  - {{name: once, use: storage.list, options: {{folder: ""}}}}
  - {{name: held, use: storage.list, options: {{folder: ""}}, load: {{clients: 1, for: 1 s}}}}
  - {{name: role, use: storage.list, options: {{folder: ""}}, with: [held], load: {{clients: 1}}}}
  - {{name: more, use: storage.list, options: {{folder: ""}}, load: {{clients: 1, for: 1 s}}}}
faults:
  - {fault}
"""
Make = Callable[[str], Faults]


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "runs", "t", 0)


@pytest.fixture
def supervisor(folder: RunFolder, tmp_path: Path) -> Iterator[Supervisor]:
    supervisor = Supervisor(folder)
    supervisor.launch("se", launcher(READY), tmp_path / "se")
    yield supervisor
    supervisor.end_all()


@pytest.fixture
def make(tmp_path: Path, folder: RunFolder, supervisor: Supervisor) -> Make:
    def make(fault: str) -> Faults:
        (tmp_path / "suite.yaml").write_text(SUITE.format(fault=fault))
        return Faults(load(tmp_path / "suite.yaml"), supervisor, folder)

    return make


def done(folder: RunFolder) -> Callable[[], bool]:
    return lambda: any(event.kind == "fault" for event in folder.events())


def told(folder: RunFolder) -> list[tuple[object, object, str]]:
    return [
        (event.words["do"], event.words["test"], event.outcome) for event in folder.events() if event.kind == "fault"
    ]


def test_a_restart_happens_at_its_time_and_is_told(make: Make, folder: RunFolder, supervisor: Supervisor) -> None:
    before = supervisor.pids("se")
    faults = make("{at: 100 ms, do: restart, target: se, signal: KILL}")
    begin = time.time_ns()
    faults.begin("held")
    until(done(folder))
    faults.end("held")
    faults.close()
    assert supervisor.pids("se") != before
    assert supervisor.alive("se")
    assert faults.problems == []
    (event,) = [event for event in folder.events() if event.kind == "fault"]
    assert (event.words["do"], event.target, event.words["test"], event.outcome) == ("restart", "se", "held", "done")
    assert begin + 10**8 <= event.begin < event.gone < event.end
    assert event.says == "restart of se at 100 ms of held"
    assert event.lasted is not None
    assert 0 < event.lasted <= event.end - event.begin
    assert [entry.state for entry in folder.journal_entries() if entry.what == "fault"] == ["begun", "ended"]


def test_without_during_it_happens_once_under_the_first_sustained_load(make: Make, folder: RunFolder) -> None:
    faults = make("{at: 0 s, do: command, run: 'true'}")
    for test in ("once", "role", "more", "held", "more"):
        faults.begin(test)
        if test == "more" and not told(folder):
            until(done(folder))
        faults.end(test)
    faults.close()
    assert told(folder) == [("command", "more", "done")]


def test_with_during_it_happens_in_every_load_of_those(make: Make, folder: RunFolder) -> None:
    faults = make("{at: 0 s, do: command, run: 'true', during: [once]}")
    for number in range(2):
        faults.begin("once")
        until(lambda wanted=number + 1: len(told(folder)) == wanted)
        faults.end("once")
    faults.close()
    assert told(folder) == [("command", "once", "done")] * 2


def test_a_pause_ends_after_its_time(make: Make, folder: RunFolder, supervisor: Supervisor) -> None:
    faults = make("{at: 0 s, do: pause, target: se, for: 200 ms}")
    faults.begin("held")
    until(lambda: supervisor.paused("se"))
    until(lambda: not supervisor.paused("se"))
    faults.end("held")
    assert told(folder) == [("pause", "held", "done")]


@pytest.mark.parametrize("lasting", ["", ", for: 1 h"])
def test_a_pause_ends_with_the_load_at_the_latest(make: Make, supervisor: Supervisor, lasting: str) -> None:
    faults = make(f"{{at: 0 s, do: pause, target: se{lasting}}}")
    faults.begin("held")
    (pid,) = supervisor.pids("se")
    until(lambda: psutil.Process(pid).status() == psutil.STATUS_STOPPED)
    faults.end("held")
    assert not supervisor.paused("se")
    assert psutil.Process(pid).status() != psutil.STATUS_STOPPED


def test_a_killed_server_is_started_again_after_its_time(make: Make, supervisor: Supervisor) -> None:
    before = supervisor.pids("se")
    faults = make("{at: 0 s, do: kill, target: se, for: 1 h}")
    faults.begin("held")
    until(lambda: not supervisor.alive("se"))
    faults.end("held")
    assert supervisor.alive("se")
    assert supervisor.pids("se") != before


def test_a_server_that_is_killed_for_good_stays_dead(make: Make, supervisor: Supervisor, folder: RunFolder) -> None:
    faults = make("{at: 0 s, do: kill, target: se, during: [held]}")
    faults.begin("held")
    until(done(folder))
    faults.end("held")
    assert not supervisor.alive("se")
    faults.begin("held")
    until(lambda: len(told(folder)) == 2)
    faults.end("held")
    assert faults.problems == [
        "kill of se at 0 s of held failed: the server of se does not run; expected one to be killed "
        "(`for` starts it again)"
    ]


def test_a_paused_server_may_be_continued_by_another_fault(make: Make, supervisor: Supervisor) -> None:
    faults = make("{at: 0 s, do: pause, target: se}\n  - {at: 300 ms, do: continue, target: se, during: [held]}")
    faults.begin("held")
    until(lambda: supervisor.paused("se"))
    until(lambda: not supervisor.paused("se"))
    faults.end("held")
    assert faults.problems == []


def test_what_did_not_happen_is_told(make: Make, folder: RunFolder) -> None:
    faults = make("{at: 1 h, do: command, run: 'true'}\n  - {at: 0 s, do: command, run: 'true', during: [more]}")
    faults.begin("held")
    faults.end("held")
    faults.close()
    assert faults.problems == [
        "command of true at 1 h of held did not happen: the load of held was over before",
        "command of true at 0 s did not happen: the load of more never began",
    ]
    assert told(folder) == [("command", "held", "did not happen")]


def test_a_command_that_fails_is_told_with_what_it_said(make: Make, folder: RunFolder) -> None:
    faults = make("{at: 0 s, do: command, run: \"sh -c 'echo no such switch; exit 4'\"}")
    faults.begin("held")
    until(done(folder))
    faults.end("held")
    assert "sh ended with code 4 and said: no such switch" in faults.problems[0]


@pytest.mark.parametrize("fault", ["do: command, run: 'false'", "do: command, run: /no/such", "do: kill, target: se"])
def test_one_that_fails_leaves_nothing_to_clean_up(
    make: Make, folder: RunFolder, supervisor: Supervisor, fault: str
) -> None:
    supervisor.end("se")
    faults = make(f"{{at: 0 s, {fault}}}")
    faults.begin("held")
    until(done(folder))
    faults.end("held")
    assert [outcome for *_, outcome in told(folder)] == ["failed"]
    assert [entry.state for entry in folder.journal_entries() if entry.what == "fault"] == ["begun", "ended"]
    assert [intent for intent in open_intents(folder) if intent.what == "fault"] == []


def test_a_command_that_outlives_the_load_is_ended(
    make: Make, folder: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(injection, "GRACE", 0.1)
    faults = make(f"{{at: 0 s, do: command, run: \"sh -c 'echo $$$$ > {tmp_path}/pid; exec sleep 600'\"}}")
    faults.begin("held")
    until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().endswith("\n"))
    faults.end("held")
    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))
    assert "did not end in time" in faults.problems[0]


def test_a_fault_on_what_is_not_launched_is_told(make: Make, folder: RunFolder, supervisor: Supervisor) -> None:
    supervisor.end("se")
    faults = make("{at: 0 s, do: restart, target: se}")
    faults.begin("held")
    until(done(folder))
    faults.end("held")
    assert "target se has no server of pileup's" in faults.problems[0]


def test_another_session_does_again_what_is_pressed_again_and_nothing_else(make: Make, folder: RunFolder) -> None:
    fault = "{at: 0 s, do: command, run: 'true'}"
    first = make(fault)
    first.begin("held")
    until(done(folder))
    first.end("held")
    second = make(fault)
    second.begin("more")
    second.end("more")
    second.close()
    assert second.problems == []
    assert told(folder) == [("command", "held", "done")]
    third = make(fault)
    third.begin("held")
    until(lambda: len(told(folder)) == 2)
    third.end("held")


@pytest.mark.parametrize("lasting", ["", ", for: 300 ms"])
def test_open_files_are_limited_as_long_as_it_says(make: Make, supervisor: Supervisor, lasting: str) -> None:
    (pid,) = supervisor.pids("se")
    before = psutil.Process(pid).rlimit(psutil.RLIMIT_NOFILE)
    faults = make(f"{{at: 0 s, do: limit, target: se, files: 40{lasting}}}")
    faults.begin("held")
    until(lambda: psutil.Process(pid).rlimit(psutil.RLIMIT_NOFILE)[0] == 40)
    if lasting:
        until(lambda: psutil.Process(pid).rlimit(psutil.RLIMIT_NOFILE) == before)
    faults.end("held")
    assert psutil.Process(pid).rlimit(psutil.RLIMIT_NOFILE) == before
    assert faults.problems == []


@pytest.mark.parametrize("lasting", ["", ", for: 1200 ms"])
def test_a_slow_server_is_stopped_again_and_again(
    make: Make, folder: RunFolder, supervisor: Supervisor, lasting: str
) -> None:
    faults = make(f"{{at: 0 s, do: slow, speed: 20 %, target: se{lasting}}}")
    faults.begin("held")
    for _ in range(2):
        until(lambda: supervisor.paused("se"))
        until(lambda: not supervisor.paused("se"))
    if lasting:
        until(done(folder))
    faults.end("held")
    assert not supervisor.paused("se")
    assert told(folder) == [("slow", "held", "done")]
    assert faults.problems == []


def test_a_dead_server_cannot_be_slow(make: Make, supervisor: Supervisor) -> None:
    supervisor.kill("se")
    faults = make("{at: 0 s, do: slow, speed: 20 %, target: se}")
    faults.begin("held")
    faults.end("held")
    assert "the server of se does not run" in faults.problems[0]


def test_a_command_finds_the_server_of_its_target(supervisor: Supervisor, folder: RunFolder, tmp_path: Path) -> None:
    first = replace(launcher(READY).processes[0], name="first", environment={"WHERE": "{folder}"})
    second = replace(first, name="second", environment={"WHERE": "elsewhere", "ELSE": "1"})
    supervisor.launch("two", Launcher((first, second)), tmp_path / "two")
    (tmp_path / "suite.yaml").write_text(SUITE.format(fault="{at: 0 s, do: command, run: 'true'}"))
    plan = load(tmp_path / "suite.yaml")
    run = f"sh -c 'echo $WHERE $ELSE > {tmp_path}/said'"
    fault = FaultSpec.model_validate({"at": "0 s", "do": "command", "target": "two.first", "run": run})
    plan = replace(plan, suite=plan.suite.model_copy(update={"faults": (fault,)}))
    faults = Faults(plan, supervisor, folder)
    faults.begin("held")
    until(done(folder))
    faults.end("held")
    assert faults.problems == []
    assert (tmp_path / "said").read_text().strip() == str(tmp_path / "two")
    assert supervisor.environment("nobody") == {}


@pytest.mark.parametrize("lasting", [{}, {"for": "300 ms"}])
def test_the_disk_is_full_as_long_as_it_says(
    supervisor: Supervisor, folder: RunFolder, tmp_path: Path, lasting: dict[str, str]
) -> None:
    supervisor.end("se")
    own = Launcher(launcher(READY).processes, disk="{short}/state")
    try:
        supervisor.launch("se", own, tmp_path / "other", 2 << 20)
    except TargetError as problem:
        pytest.skip(str(problem))
    filling = supervisor.disk("se") / FILLING
    (tmp_path / "suite.yaml").write_text(SUITE.format(fault="{at: 0 s, do: pause, target: se}"))
    plan = load(tmp_path / "suite.yaml")  # no kind that needs nothing installed has a disk
    fault = FaultSpec.model_validate({"at": "0 s", "do": "fill", "target": "se"} | lasting)
    plan = replace(plan, suite=plan.suite.model_copy(update={"faults": (fault,)}))
    faults = Faults(plan, supervisor, folder)
    faults.begin("held")
    until(lambda: os.statvfs(supervisor.disk("se")).f_bavail == 0)
    if lasting:
        until(lambda: not filling.exists())
    faults.end("held")
    assert not filling.exists()
    assert faults.problems == []


def test_what_is_over_is_told_by_number_and_test(tmp_path: Path, supervisor: Supervisor, folder: RunFolder) -> None:
    over: list[tuple[int, str]] = []
    both = "{at: 1 h, do: restart, target: se}\n  - {at: 0 s, do: restart, target: se}"
    (tmp_path / "suite.yaml").write_text(SUITE.format(fault=both))
    faults = Faults(load(tmp_path / "suite.yaml"), supervisor, folder, lambda number, test: over.append((number, test)))
    faults.begin("held")
    until(lambda: bool(over))
    faults.end("held")
    assert over == [(1, "held")], "one that did not happen has left nothing to look for"
