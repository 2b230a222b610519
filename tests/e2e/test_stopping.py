"""One Ctrl-C ends what only waits, a drain or a cool-down, at once; what was submitted is audited all the same."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.http.webdav_target import WebDavTarget
from pileup.model.errors import RecordError
from pileup.model.journal import EventEntry
from pileup.record import RunFolder
from tests.servers.storages import closing
from tests.support import pileup

DRAIN = """
pileup: 1
title: drain
targets: {ce: {kind: practice-batch, url: URL}}
tests:
  - {name: submit, use: computing.submit, target: ce, options: {duration: 1 h}, load: {times: 20}}
  - {name: drain, use: computing.poll, target: ce, after: [submit], options: {drain: true}, timeout: 30 min}
"""
REST = """
pileup: 1
title: rest
tests: [{name: load, use: noop, load: {times: 5}}]
monitors: [{use: node, every: 100 ms}]
cooldown: {until: "last(node.load1) < 0", at_most: 30 min}
"""
HUNG = """
pileup: 1
title: hung
targets: {se: {kind: webdav, url: URL}}
tests:
  - {name: fill, use: storage.write, target: se, options: {files: 4, size: 1 KiB}}
  - {name: here, use: storage.write, target: se, options: {folder: /here, files: 4, size: 1 KiB}}
  - name: read
    use: storage.read
    target: se
    after: [fill]
    options: {files: 4, size: 1 KiB}
    timeout: 1 s
    load: {clients: 2, for: 1 min}
    fail_when: never
"""
RATE = """
pileup: 1
title: rate
tests: [{name: load, use: noop, load: {rate: 1e12 /s, for: 1 min}}]
"""
QUICKLY = 6.0
"""Seconds in which a run is over that nothing holds any more, on a busy machine."""
AT_ONCE = 15.0
"""The same after a second Ctrl-C, with all that is made of the record; a target that hangs holds who waits for 30."""


@pytest.fixture
def system() -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A batch system that pileup did not start: its process and its url."""
    words = [sys.executable, "-m", "pileup", "practice", "batch", "--slots", "5"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().split()[-1]
        finally:
            process.send_signal(signal.SIGCONT)
            process.kill()


@pytest.fixture
def storage() -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A storage that pileup did not start: its process and its url."""
    words = [sys.executable, "-m", "pileup", "practice", "storage"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().split()[-1]
        finally:
            process.send_signal(signal.SIGCONT)
            process.kill()


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[[str], "subprocess.Popen[str]"]]:
    """Begins to run a suite in the folder of the test."""
    running: list[subprocess.Popen[str]] = []

    def begin(text: str) -> "subprocess.Popen[str]":
        (tmp_path / "s.yaml").write_text(text)
        words = [sys.executable, "-m", "pileup", "run", "s.yaml", "--quiet", "--out", "runs"]
        process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        running.append(process)
        return process

    yield begin
    for process in running:
        process.kill()
        process.communicate()


def await_event(runs: Path, found: Callable[[EventEntry], bool]) -> Path:
    """Wait until the only run below a folder tells an event; return its folder."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        for folder in runs.glob("20*"):
            with suppress(RecordError, OSError):
                if any(map(found, RunFolder.open(folder).events())):
                    return folder
        time.sleep(0.05)
    raise AssertionError("the event did not come")


def begins(case: str) -> Callable[[EventEntry], bool]:
    return lambda event: event.text == f"{case} begins"


def ended(case: str) -> Callable[[EventEntry], bool]:
    return lambda event: event.text.startswith(f"{case}: ")


def stopped(process: "subprocess.Popen[str]", folder: Path, times: int = 1) -> float:
    """Press Ctrl-C so many times, a second apart; return how long (s) the run went on from then, by its record."""
    begin = time.time_ns()
    for press in range(times):
        time.sleep(press)
        os.kill(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 6, told
    return float(info(folder)["ended"] - begin) / 1e9


def info(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "run.json").read_text())
    return found


@pytest.mark.long
def test_a4_one_interrupt_ends_a_drain_at_once_and_its_jobs_are_audited(
    tmp_path: Path, system: tuple["subprocess.Popen[str]", str], begin: Callable[[str], "subprocess.Popen[str]"]
) -> None:
    process = begin(DRAIN.replace("URL", system[1]))
    folder = await_event(tmp_path / "runs", begins("drain"))
    time.sleep(0.5)
    assert stopped(process, folder) < QUICKLY
    (audit,) = info(folder)["audits"]
    assert audit["problem"] == ""
    assert audit["looked"] == 20


@pytest.mark.long
def test_a4_a_system_that_hangs_holds_an_interrupted_run_for_the_time_of_its_audit_alone(
    tmp_path: Path, system: tuple["subprocess.Popen[str]", str], begin: Callable[[str], "subprocess.Popen[str]"]
) -> None:
    process = begin(DRAIN.replace("URL", system[1]))
    folder = await_event(tmp_path / "runs", begins("drain"))
    time.sleep(0.5)
    system[0].send_signal(signal.SIGSTOP)
    assert 9 < stopped(process, folder) < 10 + QUICKLY
    (audit,) = info(folder)["audits"]
    assert audit["problem"] == "it was stopped"
    assert audit["looked"] == 0


@pytest.mark.long
def test_a4_a_second_interrupt_ends_the_audit_at_once(
    tmp_path: Path, system: tuple["subprocess.Popen[str]", str], begin: Callable[[str], "subprocess.Popen[str]"]
) -> None:
    process = begin(DRAIN.replace("URL", system[1]))
    folder = await_event(tmp_path / "runs", begins("drain"))
    system[0].send_signal(signal.SIGSTOP)
    assert stopped(process, folder, times=2) < 2 + QUICKLY
    assert info(folder)["audits"][0]["problem"] == "it was stopped"


@pytest.mark.long
@pytest.mark.parametrize("later", [0.5, 4.0], ids=["in the load", "in the clean-up"])
def test_a_second_interrupt_ends_a_run_at_once_on_a_storage_that_hangs(
    tmp_path: Path,
    storage: tuple["subprocess.Popen[str]", str],
    begin: Callable[[str], "subprocess.Popen[str]"],
    later: float,
) -> None:
    server, url = storage
    process = begin(HUNG.replace("URL", url))
    folder = await_event(tmp_path / "runs", begins("read"))
    time.sleep(1)
    server.send_signal(signal.SIGSTOP)
    process.send_signal(signal.SIGINT)
    time.sleep(later)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    _, told = process.communicate(timeout=60)
    assert time.monotonic() - begun < AT_ONCE
    assert process.returncode == 6
    assert f"pileup clean {folder.relative_to(tmp_path)}" in told.replace(f"{tmp_path}/", "")
    results = json.loads((folder / "results.json").read_text())
    counts = {case["name"]: case["operations"][0]["counts"]["passed"] for case in results["cases"]}
    assert counts["read"] > 0, "what was measured is kept"
    server.send_signal(signal.SIGCONT)
    cleaned = pileup("clean", str(folder), cwd=tmp_path)
    assert cleaned.returncode == 0, cleaned.stderr
    with closing(WebDavTarget(url)) as target:
        assert target.list("") == []


@pytest.mark.long
def test_a_second_interrupt_ends_a_run_at_once_whose_server_never_answered(
    tmp_path: Path, begin: Callable[[str], "subprocess.Popen[str]"]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        process = begin(HUNG.replace("URL", f"http://127.0.0.1:{listening.getsockname()[1]}/"))
        with listening.accept()[0]:
            assert stopped(process, next((tmp_path / "runs").glob("20*")), times=2) < AT_ONCE


@pytest.mark.long
def test_a_rate_that_nobody_can_press_is_interrupted_and_counted(
    tmp_path: Path, begin: Callable[[str], "subprocess.Popen[str]"]
) -> None:
    process = begin(RATE)
    folder = await_event(tmp_path / "runs", begins("load"))
    time.sleep(1)
    assert stopped(process, folder) < AT_ONCE
    (case,) = json.loads((folder / "results.json").read_text())["cases"]
    assert case["operations"][0]["counts"]["missed"] > 0.5e12


@pytest.mark.long
def test_a4_one_interrupt_ends_a_cooldown_at_once(
    tmp_path: Path, begin: Callable[[str], "subprocess.Popen[str]"]
) -> None:
    process = begin(REST)
    folder = await_event(tmp_path / "runs", ended("load"))
    time.sleep(0.5)
    assert stopped(process, folder) < QUICKLY


def test_a_practice_system_that_was_paused_ends_by_sigterm_in_order(tmp_path: Path) -> None:
    journal = tmp_path / "jobs.csv"
    words = [sys.executable, "-m", "pileup", "practice", "batch", "--jobs", str(journal)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert "ready" in process.stdout.readline()
            for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGCONT):
                process.send_signal(number)
            assert process.wait(10) == 0
        finally:
            process.kill()
    assert journal.read_text().splitlines()[-1].split(",")[1] == "stop", "it has written out what it knows"
