"""A queue that is held, and its pileup killed meanwhile: `pileup resume` holds the same queue again."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pileup.plugin.batch import JobState
from pileup.record import RunFolder
from tests.servers.practice_batch import RunningBatch, practice_batch, truth
from tests.support import pileup, until

SUITE = """
pileup: 1
title: held
targets: {ce: {kind: practice-batch, url: "URL"}}
tests:
  - name: submit
    use: computing.submit
    target: ce
    options: {duration: {uniform: [1 s, 3 s]}}
    load:
      hold: {metric: poll.queued, at: 60, band: 25 %, by: rate, between: [0, 60 /s], start: 20 /s, settle: 10 s}
      for: 22 s
  - {name: poll, use: computing.poll, target: ce, with: [submit], load: {every: 250 ms}}
  - {name: drain, use: computing.poll, target: ce, after: [submit], options: {drain: true, interval: 200 ms}}
"""
LOW, HIGH = 45, 75
LATEST, GRACE = 2 * 10**9, 10**8
"""A killed run may not have written the claims of its last second; a request may just have been on its way. In ns."""


def queued(batch: RunningBatch) -> int:
    return batch.target.counts().get(JobState.QUEUED, 0)


def case(folder: Path, name: str) -> dict[str, Any]:
    results = json.loads((folder / "results.json").read_text())
    (found,) = [each for each in results["cases"] if each["name"] == name]
    return dict(found)


@pytest.mark.long
def test_a_run_killed_while_it_holds_a_queue_holds_it_again_when_it_is_resumed(tmp_path: Path) -> None:
    with practice_batch(tmp_path, slots=20, cycle="200 ms", seed=5) as batch:
        (tmp_path / "suite.yaml").write_text(SUITE.replace("URL", batch.target.url))
        command = [sys.executable, "-m", "pileup", "run", "suite.yaml", "--quiet", "--out", "runs"]
        with (
            (tmp_path / "said").open("wb") as said,
            subprocess.Popen(command, cwd=tmp_path, stdout=said, stderr=said) as process,
        ):
            until(lambda: process.poll() is not None or LOW <= queued(batch) <= HIGH, within=30)
            assert process.poll() is None, (tmp_path / "said").read_text()
            time.sleep(1)
            process.send_signal(signal.SIGKILL)
            moment = time.time_ns()
        assert process.returncode == -signal.SIGKILL
        (folder,) = (tmp_path / "runs").iterdir()
        before = {claim.name for claim in RunFolder.open(folder).claims()}
        left = queued(batch)
        assert left > 0, "the queue of the killed run is still there"
        done = pileup("resume", str(folder), "--quiet", cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        until(lambda: queued(batch) == 0, within=30)
    outcomes = {each["name"]: each["outcome"] for each in json.loads((folder / "run.json").read_text())["cases"]}
    assert outcomes == {"submit": "passed", "poll": "passed", "drain": "passed"}
    held = case(folder, "submit")["held"]
    assert (held["set_point"], held["low"], held["high"]) == (60, LOW, HIGH)
    assert held["looks"] >= 15
    assert held["share"] >= 0.9, held
    record = RunFolder.open(folder)
    claims = {claim.name for claim in record.claims()}
    after = claims - before
    jobs = truth(batch.journal)
    unknown = [job for job in jobs if job.name not in claims]
    assert all(moment - LATEST < job.times["submitted"] <= moment + GRACE for job in unknown), (
        "claims of the last second"
    )
    assert len(jobs) == len({job.name for job in jobs}), "no submission was made twice"
    assert len(after) > 100
    assert len(before) > 20
    assert {job.state for job in jobs} == {"completed"}
    assert all(finding.fate == "ran once" for finding in record.findings() if finding.claim.id)
