"""Runs killed at any time: the folder opens, little is missing, resume finishes, nothing is left behind."""

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from pileup.record import RunFolder
from tests.support import FIGURES, others_nightly, pileup

KILLS = int(os.environ.get("PILEUP_KILLS", "20"))
MISSING = 3 * 10**9
"""What may be missing before the moment of the kill, ns."""
SUITE = """
pileup: 1
title: killed
targets:
  se: {kind: practice-storage, launch: {threads: 8, service: 2 ms}}
  disk: {kind: posix}
  tuned:
    kind: posix
    url: FOLDER
    settings: {level: {set: "FOLDER/set {value}", get: cat FOLDER/level}}
scan: {se.threads: [2, 4], tuned.level: [5, 6]}
tests:
  - {name: disk-fill, use: storage.write, target: disk, scope: run, options: {files: 4, size: 4 KiB}}
  - {name: fill, use: storage.write, target: se, options: {files: 4, size: 4 KiB}}
  - {name: read, use: storage.read, target: se, after: [fill], options: {files: 4, size: 4 KiB},
     load: {clients: 4, for: 300 ms}}
  - {name: noise, use: storage.read, target: disk, with: [read], after: [disk-fill],
     options: {files: 4, size: 4 KiB}, load: {rate: 50 /s}}
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    folder = tmp_path / "tuned"
    folder.mkdir()
    (folder / "level").write_text("1\n")
    (folder / "set").write_text(f"#!/bin/sh\necho $1 > {folder}/level\n")
    (folder / "set").chmod(0o755)
    (tmp_path / "suite.yaml").write_text(SUITE.replace("FOLDER", str(folder)))
    return tmp_path


def begin(here: Path) -> "subprocess.Popen[bytes]":
    """Begin a run in a session of its own, as a shell does."""
    command = [sys.executable, "-m", "pileup", "run", "suite.yaml", "--quiet", *FIGURES]
    scratch = here / "tmp"
    scratch.mkdir(exist_ok=True)
    environment = {**os.environ, "PILEUP_RUNS": str(here / "runs"), "TMPDIR": str(scratch)}
    with (here / "out").open("wb") as out:
        return subprocess.Popen(command, cwd=here, env=environment, stdout=out, stderr=out, start_new_session=True)


def killed(here: Path, after: float) -> tuple[Path, int]:
    """Kill a run so many seconds after its folder is there; return the folder and when, ns since the epoch."""
    process = begin(here)
    deadline = time.monotonic() + 30
    while not (found := list((here / "runs").glob("*/run.json"))):
        assert process.poll() is None, (here / "out").read_text()
        assert time.monotonic() < deadline, (here / "out").read_text()
        time.sleep(0.005)
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    moment = time.time_ns()
    process.wait()
    return found[0].parent, moment


def begun_processes(folder: Path) -> list[psutil.Process]:
    """Return the processes that work for a run folder."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if any(str(folder) in word for word in process.info["cmdline"] or ()):
            found.append(process)
    return found


def served(folder: Path) -> dict[int, int]:
    """Return id of each operation that the servers of a run know -> when it began, ns since the epoch."""
    found = {}
    for path in (folder / "servers" / "se").glob("practice-storage*.csv"):
        with path.open(newline="") as file:
            found.update(
                {int(row["id"]): int(row["arrived"]) for row in csv.DictReader(file) if row["id"] not in ("", "0")}
            )
    return found


@pytest.mark.long
@pytest.mark.parametrize("number", others_nightly(range(10), range(KILLS)))
def test_a_killed_run_is_taken_up_again(here: Path, number: int) -> None:
    after = random.Random(number).uniform(0, 3.5)
    folder, moment = killed(here, after)
    shown = pileup("show", str(folder), cwd=here)
    assert "Traceback" not in shown.stderr, shown.stderr
    known = set(RunFolder.open(folder).operations().arrays("id")["id"].tolist())
    resumed = pileup("resume", str(folder), "--quiet", cwd=here, TMPDIR=str(here / "tmp"))
    if resumed.returncode == 2:
        assert "every case has an outcome" in resumed.stderr, resumed.stderr
    else:
        assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    info = json.loads((folder / "run.json").read_text())
    assert {case["outcome"] for case in info["cases"]} == {"passed"}
    assert (here / "tuned" / "level").read_text() == "1\n"
    assert begun_processes(folder) == []
    assert list((here / "tmp").iterdir()) == []
    missing = [begun for one, begun in served(folder).items() if begun < moment - MISSING and one not in known]
    assert missing == []
    rows = RunFolder.open(folder).operations().arrays("id", "phase")
    assert len(set(rows["id"].tolist())) == len(rows["id"]), "every row once"
    assert known <= set(rows["id"].tolist()), "nothing that was recorded is lost"
