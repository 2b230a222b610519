"""A disk that is full: the run ends in order and says so, and what was recorded is read."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from pileup.record import RunFolder
from pileup.run.servers.processes import Identity
from tests.support import pileup

SUITE = """
pileup: 1
title: full
variables: {lasting: 1 h}
targets:
  se: {kind: practice-storage, launch: {threads: 8, service: 500 us}}
  tuned: {kind: posix, url: FOLDER, settings: {level: {set: "FOLDER/set {value}", get: cat FOLDER/level}}}
scan: {tuned.level: [5]}
tests:
  - {name: fill, use: storage.write, target: tuned, options: {files: 4, size: 4 KiB}}
  - {name: read, use: storage.list, target: se, options: {folder: ""}, load: {clients: 16, for: $lasting}}
  - {name: later, use: storage.list, target: se, options: {folder: ""}, after: [read]}
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    data = tmp_path / "data"
    data.mkdir()
    (data / "level").write_text("1\n")
    (data / "set").write_text(f"#!/bin/sh\necho $1 > {data}/level\n")
    (data / "set").chmod(0o755)
    (tmp_path / "suite.yaml").write_text(SUITE.replace("FOLDER", str(data)))
    return tmp_path


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if mount is None or os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a small file system can only be mounted by root, on a machine that lets it")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def nothing_is_left(here: Path, folder: Path) -> None:
    assert (here / "data" / "level").read_text() == "1\n", "the setting is restored"
    assert list((here / "data").glob("pileup*")) == [], "what was made is removed"
    started = [entry for entry in RunFolder(folder).journal_entries() if entry.state == "started"]
    assert started
    for entry in started:
        gone = not psutil.pid_exists(entry.pid) or psutil.Process(entry.pid).status() == psutil.STATUS_ZOMBIE
        assert gone or Identity.of(entry.pid) != Identity(entry.pid, entry.ticks, entry.boot, entry.namespace)


@pytest.mark.long
def test_a_full_file_system(here: Path, small: Path) -> None:
    done = pileup("run", "suite.yaml", "--quiet", "--out", str(small), cwd=here)
    assert done.returncode == 70
    assert "Traceback" not in done.stderr
    (folder,) = small.iterdir()
    if done.stdout:  # a large frame did not fit, and what ends a record did
        stopped = json.loads((folder / "run.json").read_text())["stopped"]
        assert stopped.startswith("internal: cannot write the record ")
        assert done.stdout.splitlines()[-1] == str(folder)
    else:
        assert "the run was ended, its record is not finished: " in done.stderr
        assert "No space left on device" in done.stderr
        assert f"`pileup show {folder}`" in done.stderr
    nothing_is_left(here, folder)
    assert len(RunFolder.open(folder).operations().arrays("id")["id"]) > 1000
    shown = pileup("show", str(folder), cwd=here)
    assert "read[tuned.level=5]" in shown.stdout, shown.stderr
    assert "Traceback" not in shown.stderr


@pytest.mark.long
def test_a_file_that_cannot_grow_ends_the_run_in_order_with_its_reports(here: Path) -> None:
    limited = f"ulimit -f 1500; exec {sys.executable} -m pileup run suite.yaml --quiet"
    environment = {**os.environ, "PILEUP_RUNS": str(here / "runs")}
    done = subprocess.run(
        ["bash", "-c", limited], cwd=here, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 70, done.stderr
    assert "Traceback" not in done.stderr
    folder = Path(done.stdout.splitlines()[-1])
    info = json.loads((folder / "run.json").read_text())
    assert info["stopped"].startswith("internal: cannot write the record ")
    assert "expected room on the disk" in info["stopped"]
    assert {case["test"]: case["outcome"] for case in info["cases"]}["later"] == "not run"
    assert (folder / "report.html").exists()
    nothing_is_left(here, folder)


def test_a_load_whose_rows_are_lost_has_not_passed_and_is_done_again(here: Path) -> None:
    """Its rows are lost in its last moment, when nothing else that is written is large."""
    suite = here / "suite.yaml"
    suite.write_text(suite.read_text().replace("for: $lasting", "times: 6000").replace("500 us", "1 us"))
    limited = f"ulimit -f 300; exec {sys.executable} -m pileup run suite.yaml"
    environment = {**os.environ, "PILEUP_RUNS": str(here / "runs")}
    done = subprocess.run(
        ["bash", "-c", limited], cwd=here, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 70, done.stderr
    folder = next((here / "runs").iterdir())
    outcomes = {case["test"]: case["outcome"] for case in json.loads((folder / "run.json").read_text())["cases"]}
    assert (outcomes["fill"], outcomes["read"], outcomes["later"]) == ("passed", "error", "not run")
    assert f"next: pileup resume {folder}\n" in done.stdout
    resumed = pileup("resume", str(folder), cwd=here)
    assert resumed.returncode == 0, resumed.stderr
    outcomes = {case["test"]: case["outcome"] for case in json.loads((folder / "run.json").read_text())["cases"]}
    assert set(outcomes.values()) == {"passed"}
