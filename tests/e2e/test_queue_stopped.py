"""Jobs that pile up before a stopped queue, and jobs that the client cancels: do they begin, and do they really end?"""

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
import pytest

from pileup.plugin.batch import JobState
from pileup.record import RunFolder
from tests.servers.practice_batch import practice_batch, truth
from tests.servers.slurm import QUICK, RunningSlurm, slurm
from tests.support import pileup, run_folder, until

JOBS, SLOTS = 60, 8
SUITE = f"""
pileup: 1
title: stopped
targets: {{ce: {{kind: KIND, url: "URL"}}}}
tests:
  - {{name: ramp, use: computing.submit, target: ce, options: {{duration: 1 h}}, load: {{times: {JOBS}, clients: 5}}}}
  - name: wait
    use: computing.poll
    target: ce
    after: [ramp]
    load: {{every: 500 ms, for: LENGTH}}
  - {{name: cancel, use: computing.cancel, target: ce, after: [wait], options: {{jobs: {JOBS}}}}}
  - {{name: drain, use: computing.poll, target: ce, after: [cancel], options: {{drain: true, interval: 200 ms}}}}
criteria:
  - {{id: A, says: "All are taken", check: count(ramp.submit.passed) == {JOBS}}}
  - {{id: B, says: "All are cancelled", check: last(cancel.cancelled) == {JOBS}}}
  - {{id: C, says: "None goes on", check: count(ramp.job.unfinished) == 0}}
"""


def suite(here: Path, kind: str, url: str, length: str) -> None:
    (here / "suite.yaml").write_text(SUITE.replace("KIND", kind).replace("URL", url).replace("LENGTH", length))


def counts(folder: Path, operation: str) -> dict[str, int]:
    """Outcome -> how many operations of the ramp ended so."""
    results = json.loads((folder / "results.json").read_text())
    (case,) = [each for each in results["cases"] if each["name"] == "ramp"]
    return next(
        (
            {k: v for k, v in each["counts"].items() if v}
            for each in case["operations"]
            if each["operation"] == operation
        ),
        {},
    )


def fates(folder: Path) -> dict[str, Any]:
    (audit,) = json.loads((folder / "results.json").read_text())["audits"]
    return {fate: number for fate, number in audit["fates"].items() if number}


@pytest.mark.parametrize("slots", [0, SLOTS])
def test_what_is_cancelled_ends_and_what_waits_never_begins(tmp_path: Path, slots: int) -> None:
    with practice_batch(tmp_path, slots=slots, cycle="100 ms") as batch:
        suite(tmp_path, "practice-batch", batch.target.url, "1500 ms")
        done = pileup("run", "suite.yaml", "--quiet", cwd=tmp_path)
        left = batch.target.counts()
    assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path / run_folder(done)
    assert left.get(JobState.QUEUED, 0) == left.get(JobState.RUNNING, 0) == 0
    jobs = truth(batch.journal)
    assert Counter(job.state for job in jobs) == {"cancelled": JOBS}
    assert sum(bool(job.times["started"]) for job in jobs) == slots
    assert counts(folder, "job") == {"failed": JOBS}
    assert counts(folder, "run") == ({"failed": slots} if slots else {})
    assert sum(fates(folder).values()) == JOBS
    assert fates(folder).get("cancelled", 0) == JOBS - slots


def partition(server: RunningSlurm, state: str) -> None:
    name = server.command("sinfo", "-h", "-o", "%R").splitlines()[0]
    server.command("scontrol", "update", f"partitionname={name}", f"state={state}")


def sleepers(server: RunningSlurm) -> list[psutil.Process]:
    """Return the processes of jobs on the nodes."""
    return [each for each in server.processes() if each.name() == "sleep"]


@pytest.mark.long
def test_slurm_starts_nothing_while_its_queue_is_stopped_and_cancelled_jobs_leave_no_process(tmp_path: Path) -> None:
    with slurm(tmp_path / "slurm", slots=SLOTS, **QUICK) as server:
        target = server.target()
        partition(server, "DOWN")
        suite(tmp_path, "slurm", target.url, "15 s")
        command = [sys.executable, "-m", "pileup", "run", "suite.yaml", "--quiet", "--out", "runs"]
        with (tmp_path / "said").open("wb") as said:
            process = subprocess.Popen(command, cwd=tmp_path, stdout=said, stderr=said)
        until(lambda: process.poll() is not None or target.counts().get(JobState.QUEUED, 0) == JOBS)
        time.sleep(3)
        assert target.counts() == {JobState.QUEUED: JOBS}, (tmp_path / "said").read_text()
        assert sleepers(server) == []
        partition(server, "UP")
        until(lambda: len(sleepers(server)) == SLOTS)
        begun = sleepers(server)
        assert process.wait(120) == 0, (tmp_path / "said").read_text()
        until(lambda: not any(each.is_running() for each in begun), within=10)
        assert sleepers(server) == []
        left = target.counts()
        assert left.get(JobState.QUEUED, 0) == left.get(JobState.RUNNING, 0) == 0
    (folder,) = (tmp_path / "runs").iterdir()
    assert counts(folder, "job") == {"failed": JOBS}
    assert fates(folder) == {"ran once": SLOTS, "cancelled": JOBS - SLOTS}
    assert sum(1 for _ in RunFolder.open(folder).claims()) == JOBS
