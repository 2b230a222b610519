"""The highest load that a storage of known capacity has, from the suite to the verdict."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support import EXAMPLES, check_passed, code_of, pileup, run_folder

CAPACITY = 4 / 0.020
"""Requests per second that 4 threads of 20 ms each serve: the settings of the example."""
QUICK = ("--quiet", "--set", "length=2 s", "--set", "trial=1 s", "--set", "settle=300 ms")
SUITE = """
pileup: 1
title: Clients
targets: {se: {kind: practice-storage, launch: {threads: 4, service: 20 ms}}}
tests:
  - {name: fill, use: storage.write, scope: run, options: {files: 20, size: 4 KiB}}
  - name: read
    use: storage.read
    after: [fill]
    options: {files: 20, size: 4 KiB}
    load: {find: {raise: clients, while: CHECK, between: [1, 32], settle: 300 ms, trial: 1 s, at_most: 20}, for: 1 s}
"""


def _read_case(folder: Path) -> dict[str, Any]:
    results = json.loads((folder / "results.json").read_text())
    return next(case for case in results["cases"] if case["name"] == "read")


@pytest.mark.timed
@pytest.mark.idle
@pytest.mark.parametrize(("fleet", "within", "far"), [("local", "15 %", 0.2), ("processes:2", "30 %", 0.3)])
def test_the_example_finds_what_the_storage_bears(fleet: str, within: str, far: float, tmp_path: Path) -> None:
    done = pileup("run", "suite:find", *QUICK, "--set", f"within={within}", "--fleet", fleet, cwd=tmp_path, drawn=True)
    results = json.loads((tmp_path / run_folder(done) / "results.json").read_text())
    assert done.returncode == code_of(results), done.stdout + done.stderr
    check_passed(results)
    case = _read_case(tmp_path / run_folder(done))
    found = case["found"]
    # a machine with other work holds the storage up, nothing speeds it up but for what a queue of 30 ms takes in
    assert (1 - far) * CAPACITY < found["limit"] < (1 + far) * CAPACITY, found
    assert found["low"] <= found["limit"] <= found["high"]
    # it is pressed where it is known to be sustained, and what is reported was sustained there
    assert found["level"] == found["measured"] == found["measurements"][-1]["level"] <= found["high"]
    assert {trial["passed"] for trial in found["trials"]} >= {True, False}
    # what trials pressed is not part of the figures
    assert case["operations"][0]["counts"]["passed"] == pytest.approx(2 * found["measured"], rel=0.1)
    told = "p90(read.response) < 50 ms, at most 1 % not passed: the limit is "
    assert any(note.startswith(told) and "where it holds" in note for note in case["notes"]), case["notes"]
    assert "trials_0" in (tmp_path / run_folder(done) / "report.html").read_text()


@pytest.mark.timed
@pytest.mark.idle
def test_clients_that_wait_for_a_thread_are_one_too_many(tmp_path: Path) -> None:
    """Four threads of 20 ms: a fifth client waits for 5 ms in the mean, so a mean of 23 ms has four."""
    (tmp_path / "s.yaml").write_text(SUITE.replace("CHECK", "mean(read.response) < 23 ms"))
    done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
    found = _read_case(tmp_path / run_folder(done))["found"]
    assert found["limit"] == 4, (found, done.stdout)
    assert found["level"] in (3, 4)


@pytest.mark.timed
@pytest.mark.idle
def test_a_criterion_that_never_holds_fails_the_case(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SUITE.replace("CHECK", "p50(read.response) < 10 ms"))
    done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
    assert done.returncode == 1, done.stdout
    case = _read_case(tmp_path / run_folder(done))
    assert case["outcome"] == "failed"
    assert "no level was found: even the lowest level, 1 client, does not meet" in case["reason"]
    assert case["found"]["beyond"] == "below"


@pytest.mark.timed
@pytest.mark.idle
def test_a_search_whose_trials_tell_nothing_is_unknown(tmp_path: Path) -> None:
    """Of a p99.9 a trial of a second tells too little at any level."""
    suite = SUITE.replace("CHECK", "p99.9(read.response) < 50 ms").replace("[1, 32]", "[1, 2]")
    (tmp_path / "s.yaml").write_text(suite)
    done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
    assert done.returncode == 8, done.stdout + done.stderr
    case = _read_case(tmp_path / run_folder(done))
    assert case["outcome"] == "unknown"
    assert (
        "no trial showed whether p99.9(read.response) < 50 ms, at most 1 % not passed holds: too few" in case["reason"]
    )


@pytest.mark.long
def test_why_no_level_was_found_is_told(tmp_path: Path) -> None:
    files = "  - {name: fill, use: storage.write, scope: run, options: {files: 20, size: 4 KiB}}\n"
    suite = SUITE.replace("CHECK", "p90(read.response) < 50 ms").replace(files, "").replace("    after: [fill]\n", "")
    (tmp_path / "s.yaml").write_text(suite)
    done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    reason = _read_case(tmp_path / run_folder(done))["reason"]
    assert re.search(r"at most 1 % not passed: nothing passed \(\d+ failed\)$", reason), reason


@pytest.mark.long
def test_what_was_found_is_kept_when_the_user_stops_it(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pileup", "run", str(EXAMPLES / "find.yaml"), "--quiet"]
    with subprocess.Popen(command, cwd=tmp_path, env=os.environ, stdout=subprocess.PIPE, text=True) as process:
        _wait_for_trials(tmp_path, 2)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    folder = next((tmp_path / "runs").iterdir())
    case = _read_case(folder)
    assert len(case["found"]["trials"]) >= 2
    assert case["found"]["measured"] is None
    if case["found"]["limit"] is not None:
        told = "the search was not ended"
    else:  # trials on a machine without CPU time for them
        told = "does not hold even at" if case["found"]["beyond"] == "below" else "nothing is known of where"
    assert any(told in note for note in case["notes"]), case["notes"]
    assert process.returncode == 6


def _wait_for_trials(folder: Path, number: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        for info in folder.glob("runs/*/run.json"):
            cases = json.loads(info.read_text())["cases"]
            if any(len(case.get("find", {}).get("trials", [])) >= number for case in cases):
                return
        time.sleep(0.1)
    raise AssertionError("no trial was made")
