"""Studies on real stagers: both sides of the trade-off, faults that mend themselves, nothing left after kill -9."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
import pytest

from pileup.record import RunFolder
from pileup.run.servers import processes
from tests.support import FIGURES, pileup, require_program, run_folder

SMALL = ("projects=6", "nodes=4", "files=3", "speed_up=2000", "work=30 ms")
TAPE: dict[str, Any] = {
    "nodes": 2,
    "max_transfers": 3,
    "drives": 2,
    "arms": 2,
    "cartridges": 40,
    "seek": "30 s",
    "speed": "20 MB/s",
    "speed_up": 1000,
}
PROJECT: dict[str, Any] = {
    "name": "project",
    "use": "tape.project",
    "options": {"files": 6, "work": "10 ms", "ahead": 6, "together": 2},
    "load": {"clients": 4, "times": 4},
    "timeout": "1 min",
    "fail_when": "never",
}


@pytest.fixture(autouse=True)
def program() -> None:
    require_program("frm_xfrd", "apt-get install xrootd-server")


def suite(folder: Path, launch: dict[str, Any], **words: Any) -> None:
    targets = {"tape": {"kind": "xrootd-tape", "launch": {**TAPE, **launch}}}
    monitors = [{"use": "xrootd-tape", "target": "tape", "every": "500 ms"}]
    made = {"pileup": 1, "title": "staging", "targets": targets, "tests": [PROJECT], "monitors": monitors, **words}
    (folder / "suite.yaml").write_text(json.dumps(made))


def results(folder: Path, *words: str) -> tuple[dict[str, Any], str]:
    done = pileup("run", *words, "--quiet", cwd=folder)
    said = done.stdout + done.stderr
    found: dict[str, Any] = json.loads((folder / run_folder(done) / "results.json").read_text())
    return found, said


def operations(case: dict[str, Any]) -> dict[str, Any]:
    return {each["operation"]: each for each in case["operations"]}


def mean(case: dict[str, Any], operation: str) -> float:
    found: float = operations(case)[operation]["response"]["mean"]
    return found


@pytest.mark.long
def test_both_sides_of_the_trade_off(tmp_path: Path) -> None:
    found, said = results(tmp_path, "suite:stager-tuning", *(f"--set={each}" for each in SMALL))
    assert [each["verdict"] for each in found["criteria"]] == ["met", "met"], said
    one, five = found["cases"]
    assert mean(one, "iteration") > mean(five, "iteration"), "with 1 projects are longer"
    assert mean(one, "queue_wait") < mean(five, "queue_wait") / 1.5, "but the wait in the tape queue is shorter"
    assert mean(one, "stager_queue") > mean(five, "stager_queue")
    for case in (one, five):  # what clients saw, and what the copy commands noted
        seen, noted = mean(case, "queue_wait") + mean(case, "transfer"), mean(case, "xrootd-tape.copy")
        assert noted * 0.9 < seen < noted + 2e8
        assert operations(case)["xrootd-tape.copy"]["counts"]["passed"] == 18


@pytest.mark.long
def test_files_are_late_failed_and_lost_and_the_rest_comes(tmp_path: Path) -> None:
    """A killed stager, a drive that is down, bad cartridges, and a library that never serves two of its requests."""
    faults = [{"name": "stager", "at": "600 ms", "do": "kill", "target": "tape.frm-0", "for": "1 s"}]
    launch = {
        "unreadable": [3, 5, 11, 17, 20, 28, 31],
        "silent": [2, 15],
        "patience": "40 min",
        "down": [{"drive": 0, "at": "10 min", "for": "20 min"}],
    }
    criteria = [
        {"id": "late", "says": "Files were late", "check": "max(project.file.response) > 1.5 s"},
        {"id": "away", "says": "A drive was down", "check": "max(xrootd-tape.drive[drive=d0]) == 3"},
    ]
    suite(tmp_path, launch, faults=faults, criteria=criteria)
    found, said = results(tmp_path, "suite.yaml")
    assert [each["verdict"] for each in found["criteria"]] == ["met", "met"], said
    (case,) = found["cases"]
    errors = Counter({each["message"]: each["count"] for each in found["errors"] if each["operation"] == "file"})
    counts = operations(case)["file"]["counts"]
    assert counts["passed"] + sum(errors.values()) == 24, "each file is counted"
    assert set(errors) == {"its cartridge cannot be read", "the library gave no answer"}
    assert 1 <= errors["the library gave no answer"] <= 2, "a copy that frm_xfrd has begun again may be served"
    (fault,) = found["faults"]
    assert fault["times"] == 1
    broken = operations(case)["xrootd-tape.copy"]["counts"]["failed"] - sum(errors.values())
    assert 0 <= broken <= 3, "copies that ended with frm_xfrd were begun again"


@pytest.mark.long
def test_the_next_start_ends_what_kill_9_left(tmp_path: Path) -> None:
    suite(tmp_path, {"speed_up": 1, "nodes": 1})
    (tmp_path / "other.yaml").write_text(
        json.dumps({"pileup": 1, "title": "o", "tests": [{"name": "n", "use": "noop"}]})
    )
    runs = tmp_path / "runs"
    command = [sys.executable, "-m", "pileup", "run", "suite.yaml", "--quiet", *FIGURES]
    environment = {**os.environ, "PILEUP_RUNS": str(runs)}

    def ours() -> list[psutil.Process]:
        entries = [entry for folder in runs.glob("*-staging") for entry in RunFolder(folder).journal_entries()]
        marks = {entry.mark for entry in entries if entry.what == "server" and entry.mark}
        return [each for mark in marks for each in processes.marked(mark)]

    with (tmp_path / "out").open("wb") as out:
        process = subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdout=out, stderr=out, start_new_session=True
        )
    try:
        for _ in range(200):
            if sum(each.name() == "copy" for each in ours()) == 3:
                break
            time.sleep(0.1)
        process.kill()
        process.wait()
        names = Counter(each.name() for each in ours())
        assert (names["frm_xfrd"], names["xrootd"], names["copy"]) == (1, 1, 3), "all of it goes on, as after a crash"
        done = pileup("run", "other.yaml", "--quiet", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert ours() == []
    finally:
        process.kill()
        process.wait()
        processes.kill(ours())
