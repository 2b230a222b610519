"""100,000 jobs open at once on the practice batch system, ended in bulk, each in the record exactly once."""

import contextlib
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
import pytest

from pileup.record import RunFolder
from tests.servers.practice_batch import TrueJob, truth

pytestmark = pytest.mark.timed  # 100,000 jobs in 25 s need the machine for themselves

JOBS = 100_000
MEGABYTE = 10**6
MOST = 220 * MEGABYTE
"""Some 203 were seen: 80 are the program, 1.2 kB are a job that is open."""
SUITE = """
pileup: 1
title: Detached
targets:
  ce: {kind: practice-batch, launch: {slots: 100000, cycle: 1 s, limit: 100000, checkpoint: 1 min}}
tests:
  - name: submit
    use: computing.submit
    target: ce
    options: {batch: 1000, duration: 25 s}
    load: {times: 100, clients: 4}
  - name: poll
    use: computing.poll
    target: ce
    with: [submit]
    load: {every: 1 s}
  - name: drain
    use: computing.poll
    target: ce
    after: [submit]
    options: {drain: true}
    timeout: 2 min
criteria:
  - {id: C1, says: "Every job ends well", check: count(submit.job.passed) == 100000}
"""


@dataclass(frozen=True)
class Done:
    """A run that is over: its folder, and the memory of pileup's process by time (ns since the epoch, bytes)."""

    folder: Path
    memory: list[tuple[int, int]]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """The run, watched from outside."""
    place = tmp_path_factory.mktemp("detached")
    (place / "suite.yaml").write_text(SUITE)
    command = [sys.executable, "-m", "pileup", "run", "suite.yaml", "--quiet", "--out", "runs"]
    memory = []
    with (place / "out.txt").open("w") as out, subprocess.Popen(command, cwd=place, stdout=out, stderr=out) as process:
        watched = psutil.Process(process.pid)
        while process.poll() is None:
            with contextlib.suppress(psutil.NoSuchProcess):
                memory.append((time.time_ns(), watched.memory_info().rss))
            time.sleep(0.05)
    said = (place / "out.txt").read_text()
    assert process.returncode == 0, said
    return Done(place / said.strip().splitlines()[-1], memory)


@pytest.fixture(scope="module")
def jobs(done: Done) -> dict[str, TrueJob]:
    """What the journal of the batch system says, by name."""
    (journal,) = done.folder.rglob("jobs.csv")
    found = truth(journal)
    named = {job.name: job for job in found}
    assert len(named) == len(found) == JOBS
    return named


def test_all_were_open_at_once(jobs: dict[str, TrueJob]) -> None:
    last = max(job.times["acknowledged"] for job in jobs.values())
    first = min(job.times["ended"] for job in jobs.values())
    assert last < first, "the last was submitted before the first had ended"


def test_the_memory_is_bounded_while_they_are_open_and_end(done: Done) -> None:
    """What follows, the conversion of the record and the report, has bounds of its own."""
    drained = RunFolder.open(done.folder).operations().arrays("end", where="\"case\" = 'drain'")
    over = int(drained["end"].max())
    most = max(size for moment, size in done.memory if moment < over)
    assert most < MOST, f"{most / MEGABYTE:.0f} MB"


def test_each_is_in_the_record_once_as_it_was(done: Done, jobs: dict[str, TrueJob]) -> None:
    job, queue, run = (rows_of(done.folder, operation) for operation in ("job", "queue", "run"))
    assert set(job) == set(queue) == set(run) == set(jobs)
    wrong = [name for name, true in jobs.items() if not agrees(true, job[name], queue[name], run[name])]
    assert not wrong, [(jobs[name], job[name], queue[name], run[name]) for name in wrong[:3]]


Row = tuple[int, int, int]
"""Iteration it belongs to, start, end (ns)."""


def rows_of(folder: Path, operation: str) -> dict[str, Row]:
    """The rows of a detached operation by the name of the job; each name comes once."""
    asked = f"operation = '{operation}' and outcome = 'passed' and \"case\" = 'submit'"
    rows = RunFolder.open(folder).operations().arrays("key", "parent", "start", "end", where=asked)
    assert len(rows["key"]) == JOBS
    assert len(np.unique(rows["parent"])) == JOBS // 1000, "iterations that submitted a thousand each"
    columns = (rows[name].tolist() for name in ("parent", "start", "end"))
    return dict(zip(rows["key"].tolist(), zip(*columns, strict=True), strict=True))


def agrees(true: TrueJob, job: Row, queue: Row, run: Row) -> bool:
    """Whether the rows of a job are what the batch system did, exactly; it may begin before the answer is here."""
    begun = max(true.times["started"], queue[1])
    return (
        job[0] == queue[0] == run[0]
        and true.times["acknowledged"] <= queue[1] <= job[1]
        and (queue[2], run[1]) == (begun, begun)
        and run[2] == job[2] == true.times["ended"]
    )
