"""Batch systems that pileup launched, with jobs under way: nothing is left after Ctrl-C, nor after `kill -9`."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from pileup.model.journal import JournalEntry
from pileup.record import RunFolder
from pileup.run.servers import processes
from tests.servers.arc import PROGRAMS as ARC
from tests.servers.slurm import PROGRAMS as SLURM
from tests.support import FIGURES, pileup, require_programs

SUITE: dict[str, Any] = {
    "pileup": 1,
    "title": "left",
    "tests": [
        {
            "name": "submit",
            "use": "computing.submit",
            "target": "ce",
            "options": {"duration": "10 min"},
            "load": {"rate": "10 /s", "for": "1 h"},
        }
    ],
}
OTHER = {"pileup": 1, "title": "other", "tests": [{"name": "nothing", "use": "noop"}]}
LAUNCH: dict[str, Any] = {"slots": 6, "nodes": 2, "cycle": "0 s", "defer": False}
KINDS = {"slurm": SLURM, "arc": ARC}
DAEMONS = {"slurm": 5, "arc": 7}


@pytest.fixture
def kind() -> str:
    return "slurm"


@pytest.fixture
def here(tmp_path: Path, kind: str) -> Path:
    require_programs(KINDS[kind])
    suite = SUITE | {"targets": {"ce": {"kind": kind, "launch": LAUNCH}}}
    (tmp_path / "suite.yaml").write_text(json.dumps(suite))
    (tmp_path / "other.yaml").write_text(json.dumps(OTHER))
    return tmp_path


def until(holds: Callable[[], bool], said: Path) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, said.read_text()
        time.sleep(0.3)  # each look reads the environment of every process


def entries(here: Path) -> list[JournalEntry]:
    return [entry for folder in (here / "runs").glob("*-left") for entry in RunFolder(folder).journal_entries()]


def of(here: Path) -> list[psutil.Process]:
    """Return all processes of the run's Slurm, jobs included."""
    marks = {entry.mark for entry in entries(here) if entry.what == "server" and entry.mark}
    return [each for mark in marks for each in processes.with_children(processes.marked(mark))]


def names(found: list[psutil.Process]) -> list[str]:
    """Return the names of processes; slurmd and its steps share a name, whatever they call themselves."""
    kept = []
    for each in found:
        with suppress(psutil.Error):
            kept.append(each.name())
    return kept


@contextmanager
def started(here: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A pileup whose Slurm runs six jobs, in steps of their own sessions."""
    command = [sys.executable, "-m", "pileup", "run", "suite.yaml", "--quiet", *FIGURES]
    environment = {**os.environ, "PILEUP_RUNS": str(here / "runs")}
    said = here / "out"
    with said.open("wb") as out:
        process = subprocess.Popen(command, cwd=here, env=environment, stdout=out, stderr=out, start_new_session=True)
    try:
        until(lambda: names(of(here)).count("sleep") == 6, said)
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        processes.kill(of(here))


def scratch(here: Path) -> list[Path]:
    return [Path(entry.path) for entry in entries(here) if entry.what == "scratch" and entry.path]


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_the_next_start_ends_what_kill_9_left_with_its_jobs(here: Path, kind: str) -> None:
    with started(here) as process:
        found = of(here)
        assert names(found).count("slurmstepd") == 6
        process.kill()
        process.wait()
        assert len(of(here)) >= DAEMONS[kind] + 12, "all of it goes on, as after a crash"
        assert all(path.exists() for path in scratch(here))
        done = pileup("run", "other.yaml", "--quiet", cwd=here)
        assert done.returncode == 0, done.stderr
        assert "is ended" in done.stderr
        assert of(here) == []
        assert not any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in found)
        assert scratch(here) != []
        assert not any(path.exists() for path in scratch(here))
    again = pileup("run", "other.yaml", "--quiet", cwd=here)
    assert "left by" not in again.stderr


@pytest.mark.long
@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_leaves_nothing_of_it(here: Path, times: int) -> None:
    with started(here) as process:
        found = of(here)
        for _ in range(times):
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
        process.wait(60)
        said = (here / "out").read_text()
        if times == 2:  # at once: what is left then is said to be, and the next start ends it
            pileup("run", "other.yaml", "--quiet", cwd=here)
        assert of(here) == [], said
        assert not any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in found)
        assert not any(path.exists() for path in scratch(here))
