"""A pileup that is killed: the next start ends its servers and restores settings, `clean` removes what it has made."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from pileup.model.journal import JournalEntry
from pileup.record import RunFolder
from pileup.run.servers.processes import Identity
from tests.support import FIGURES, pileup

SUITE = """
pileup: 1
title: crash
targets:
  se: {kind: practice-storage, launch: {threads: 8, service: 1 ms}}
  disk: {kind: posix}
  tuned:
    kind: posix
    url: FOLDER
    settings: {level: {set: "FOLDER/../set {value}", get: cat FOLDER/../level}}
scan: {tuned.level: [5]}
tests:
  - {name: fill, use: storage.write, target: tuned, options: {files: 4, size: 4 KiB}}
  - {name: keep, use: storage.write, target: tuned, cleanup: never, options: {files: 1, size: 1 B, folder: kept}}
  - {name: scratch, use: storage.write, target: disk, options: {files: 4, size: 4 KiB}}
  - {name: list, use: storage.list, target: se, options: {folder: ""}, load: {clients: 2, for: 1 h}}
faults:
  - {at: 100 ms, do: pause, target: se, for: 1 h}
  - {at: 100 ms, do: command, run: "sleep 1234"}
"""
OTHER = """
pileup: 1
title: other
tests: [{name: nothing, use: noop}]
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "theirs").write_text("not ours")
    (tmp_path / "tmp").mkdir()
    (tmp_path / "level").write_text("1")
    (tmp_path / "set").write_text(f"#!/bin/sh\nprintf %s $1 > {tmp_path}/level\n")
    (tmp_path / "set").chmod(0o755)
    (tmp_path / "suite.yaml").write_text(SUITE.replace("FOLDER", str(tmp_path / "data")))
    (tmp_path / "other.yaml").write_text(OTHER)
    return tmp_path


def run(here: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return pileup(*arguments, cwd=here, TMPDIR=str(here / "tmp"), PILEUP_RUNS=str(here / "runs"))


def until(holds: Callable[[], bool], said: Path) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, said.read_text()
        time.sleep(0.02)


def entries(folder: Path, what: str) -> list[JournalEntry]:
    return [entry for entry in RunFolder(folder).journal_entries() if entry.what == what]


@pytest.fixture
def crashed(here: Path) -> Path:
    """A run folder whose pileup was killed while its server was paused and a command of a fault ran."""
    command = [sys.executable, "-m", "pileup", "run", "suite.yaml", "--quiet", *FIGURES]
    environment = {**os.environ, "PILEUP_RUNS": str(here / "runs"), "TMPDIR": str(here / "tmp")}
    with (here / "out").open("wb") as out:
        process = subprocess.Popen(command, cwd=here, env=environment, stdout=out, stderr=out, start_new_session=True)
    try:
        until(lambda: any((here / "runs").glob("*/journal.jsonl")) or process.poll() is not None, here / "out")
        (journal,) = (here / "runs").glob("*/journal.jsonl")
        until(lambda: len(entries(journal.parent, "fault")) == 2 and bool(sleeping(journal.parent)), here / "out")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    return journal.parent


def sleeping(folder: Path) -> list[psutil.Process]:
    """Return the commands of the fault that run."""
    marks = {entry.mark for entry in entries(folder, "fault")}
    return [each for each in psutil.process_iter() if mark_of(each) in marks]


def mark_of(process: psutil.Process) -> str:
    try:
        return process.environ().get("PILEUP_SERVER", "none")
    except psutil.Error:
        return "none"


def server(folder: Path) -> psutil.Process | None:
    """Return the server of a run if it runs; one that is dead, and that nobody has reaped, does not."""
    started = next(entry for entry in entries(folder, "server") if entry.state == "started")
    identity = Identity(started.pid, started.ticks, started.boot, started.namespace)
    return psutil.Process(identity.pid) if identity.alive else None


@pytest.mark.long
def test_the_next_start_puts_right_what_a_crash_left_but_for_data_and_settings(here: Path, crashed: Path) -> None:
    left = server(crashed)
    assert left is not None
    assert left.status() == psutil.STATUS_STOPPED
    assert (here / "level").read_text() == "5"
    done = run(here, "run", "other.yaml", "--quiet")
    assert done.returncode == 0, done.stderr
    assert server(crashed) is None
    assert sleeping(crashed) == []
    assert (here / "level").read_text() == "5", "S5: nothing of its suite is executed"
    assert list((here / "tmp").iterdir()) == []
    assert len(list((here / "data").glob("pileup-*/pileup/*"))) == 4, "data may be wanted"
    setting = "the setting level of target tuned is set back to 1: could not be done: the next start executes nothing"
    for told in (setting, f"`pileup clean {crashed}` does it", "the server of target se (pid", "is removed"):
        assert f"left by {crashed.name}: " in done.stderr
        assert told in done.stderr
    again = run(here, "run", "other.yaml", "--quiet")
    assert again.stderr.startswith(f"left by {crashed.name}: {setting}")
    assert again.stderr.count("\n") == 1, "what was cleaned up is reported once"
    cleaned = run(here, "clean", str(crashed))
    assert f"note: executes {here}/data/../set 1\n" in cleaned.stderr
    assert (here / "level").read_text() == "1"
    assert "left by" not in run(here, "run", "other.yaml", "--quiet").stderr


@pytest.mark.long
def test_clean_says_what_it_would_do_then_does_it_once(here: Path, crashed: Path) -> None:
    would = run(here, "clean", str(crashed), "--dry-run")
    assert would.returncode == 0, would.stderr
    assert "what fill[tuned.level=5] has made on target tuned is removed\n" in would.stdout
    assert "what keep[tuned.level=5] has made on target tuned is kept: its clean-up is `never`\n" in would.stdout
    assert server(crashed) is not None
    assert (here / "level").read_text() == "5"
    done = run(here, "clean", str(crashed))
    executed = [f"loads the suite {here}/suite.yaml", f"executes {here}/data/../set 1"]
    assert (done.returncode, done.stderr) == (0, "".join(f"note: {each}\n" for each in executed)), "shown first"
    assert done.stdout == would.stdout
    assert server(crashed) is None
    assert (here / "level").read_text() == "1"
    assert list((here / "tmp").iterdir()) == []
    (own,) = (here / "data").glob("pileup-*")
    left = sorted(str(path.relative_to(own)) for path in own.rglob("*"))
    assert left == [".pileup-owner", "kept", "kept/f000000"]
    assert f"the folder /{own.name} on target tuned is kept: the suite keeps what is in it\n" in would.stdout
    assert sorted(path.name for path in (here / "data").iterdir()) == [own.name, "theirs"]
    again = run(here, "clean", str(crashed))
    assert (again.returncode, again.stdout) == (0, "nothing to clean up\n")


@pytest.mark.long
def test_a_setting_that_cannot_be_set_back_stays_until_it_can(here: Path, crashed: Path) -> None:
    (here / "set").rename(here / "away")
    done = run(here, "clean", str(crashed))
    assert done.returncode == 5
    assert "the setting level of target tuned is set back to 1: could not be done: " in done.stderr
    assert (here / "level").read_text() == "5"
    (here / "away").rename(here / "set")
    assert (
        run(here, "clean", str(crashed), "--dry-run").stdout == "the setting level of target tuned is set back to 1\n"
    )
    assert run(here, "clean", str(crashed)).returncode == 0
    assert (here / "level").read_text() == "1"


@pytest.mark.long
def test_clean_refuses_a_run_that_goes_on(here: Path) -> None:
    (here / "suite.yaml").write_text(OTHER.replace("use: noop", "use: noop, load: {clients: 1, for: 1 h}"))
    command = [sys.executable, "-m", "pileup", "run", "suite.yaml", "--quiet", *FIGURES]
    environment = {**os.environ, "PILEUP_RUNS": str(here / "runs")}
    with (here / "out").open("wb") as out:
        process = subprocess.Popen(command, cwd=here, env=environment, stdout=out, stderr=out)
    try:
        until(lambda: any((here / "runs").glob("*/journal.jsonl")), here / "out")
        (folder,) = (here / "runs").iterdir()
        done = run(here, "clean", str(folder))
        assert done.returncode == 2
        assert f"is still running: its process is active (pid {process.pid})" in done.stderr
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)
    assert json.loads((folder / "run.json").read_text())["state"] == "ended"
    assert run(here, "clean", str(folder)).stdout == "nothing to clean up\n"


@pytest.mark.long
def test_s5_another_user_of_the_folder_ends_nothing(here: Path, crashed: Path) -> None:
    (here / "state").mkdir()
    environment = {"XDG_STATE_HOME": str(here / "state"), "TMPDIR": str(here / "tmp")}
    for arguments in (("run", "other.yaml", "--quiet"), ("clean", str(crashed)), ("resume", str(crashed), "--quiet")):
        done = pileup(*arguments, cwd=here, **environment)
        assert done.returncode == (0 if arguments[0] == "run" else 2), done.stderr
        assert server(crashed) is not None
        assert (here / "level").read_text() == "5"
    assert f"{crashed} is not in your registry of runs: nothing of its suite is executed" in done.stderr
    trusted = pileup("clean", str(crashed), "--trust", cwd=here, **environment)
    assert trusted.returncode == 0, trusted.stderr
    assert server(crashed) is None
    assert (here / "level").read_text() == "1"


@pytest.mark.long
def test_s12_a_clean_and_a_start_at_once_do_everything_once(here: Path, crashed: Path) -> None:
    command = [sys.executable, "-m", "pileup"]
    environment = {**os.environ, "PILEUP_RUNS": str(here / "runs"), "TMPDIR": str(here / "tmp")}
    starts = [["run", "other.yaml", "--quiet"], ["clean", str(crashed)], ["run", "other.yaml", "--quiet"]]
    at_once = [
        subprocess.Popen([*command, *start], cwd=here, env=environment, stderr=subprocess.PIPE, text=True)
        for start in starts
    ]
    said = "".join(each.communicate(timeout=60)[1] for each in at_once)
    assert "Traceback" not in said
    run(here, "clean", str(crashed))
    closed = [entry.of for entry in RunFolder(crashed).journal_entries() if entry.by == "undo"]
    assert len(closed) == len(set(closed)), "nobody does what another one does"
    assert server(crashed) is None
    assert (here / "level").read_text() == "1"
