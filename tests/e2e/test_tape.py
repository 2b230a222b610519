"""Tape systems in suites, as users run them: a project in real time and in virtual time, and a storm."""

import csv
import json
import subprocess
from pathlib import Path

import pytest

from pileup.record import RunFolder
from tests.support import pileup, run_folder

PROJECT = """pileup: 1
title: Tape
targets:
  tape:
    kind: practice-tape
    options: {poll: 20 ms}
    launch: {nodes: 2, max_transfers: 1, drives: 2, speed_up: 500, together: 3, files: 100, seek: 5 s}
tests:
  - name: project
    use: tape.project
    target: tape
    options: {files: 3, together: 3, ahead: 3, work: 10 ms, size: 1 GB, prefix: /tape}
    load: {clients: 2, times: 2}
    timeout: 1 d
criteria:
  - {id: C1, says: Every file comes, check: count(project.transfer) == 6}
"""
SMALL = {"requests": "20", "speed_up": "5000", "waits": "3 s", "interval": "500 ms", "lost": "0.5 %"}
SILENT = ("17", "200", "3999")


def transfers(done: "subprocess.CompletedProcess[str]", base: Path) -> list[int]:
    """Return how long the files of a run were read, ns."""
    assert done.returncode == 0, done.stdout + done.stderr
    told = """SELECT "end" - start FROM operations WHERE operation = 'transfer' ORDER BY 1"""
    with RunFolder.open(base / run_folder(done)).operations().connect() as connection:
        return [each for (each,) in connection.execute(told).fetchall()]


@pytest.mark.long
def test_the_same_suite_runs_in_scaled_and_in_virtual_time(tmp_path: Path) -> None:
    (tmp_path / "tape.yaml").write_text(PROJECT)
    virtual = transfers(pileup("simulate", "tape.yaml", cwd=tmp_path), tmp_path)
    real = transfers(pileup("run", "tape.yaml", "--quiet", cwd=tmp_path), tmp_path)
    assert virtual == [10 * 10**9] * 6
    assert real == pytest.approx([20 * 10**6] * 6, abs=2)


@pytest.mark.long
def test_a_storm_names_what_a_library_has_lost(tmp_path: Path) -> None:
    events = tmp_path / "tape.csv"
    values = {**SMALL, "events": str(events), "targets.tape.launch.silent": f"[{','.join(SILENT)}]"}
    given = [word for name, value in values.items() for word in ("--set", f"{name}={value}")]
    done = pileup("run", "suite:tape-storm", "--quiet", *given, cwd=tmp_path, timeout=60)
    folder = tmp_path / run_folder(done)
    results = json.loads((folder / "results.json").read_text())
    verdicts = {each["id"]: each["verdict"] for each in results["criteria"]}
    assert verdicts == dict.fromkeys(("C1", "C2", "C3", "C5", "C6", "C7"), "met") | {"C4": "not met"}, done.stdout
    with events.open(newline="") as text:
        rows = list(csv.DictReader(text))
    lost = {row["path"] for row in rows if row["event"] == "lost"}
    silent = {row["path"] for row in rows if row["event"] == "queued" and row["value"] in SILENT}
    (named,) = folder.rglob("not-delivered.csv")
    with named.open(newline="") as text:
        fates = {row["path"]: row["fate"] for row in csv.DictReader(text)}
    assert fates == dict.fromkeys(lost, "lost") | dict.fromkeys(silent, "unanswered")
    states = results["jobs"][0]["states"]
    assert states["forgotten by the system"] == len(lost) > 0
    assert (states["completed"], states["not over at the end"]) == (4000 - len(lost) - 3, 3)
