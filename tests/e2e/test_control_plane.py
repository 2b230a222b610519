"""The suite control-plane: each figure is computed from the settings, and the kernel counts the same overflows."""

import csv
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from pileup.record import RunFolder
from tests.support import pileup, require_program, run_folder

REQUESTS, CLIENTS, SWITCH = 60, 500, 1.0
"""Of the suite; s."""
POINTS = ((70, 2.0, 4.0, 1), (20, 2.0, 4.0, 1), (70, 2.0, 2.0, 1), (70, 0.21, 4.0, 1), (70, 0.21, 4.0, 0))
"""Threads, slow operation in s, interval of polls in s, files of a folder (0: all), of each point."""


def ready(threads: int, slow: float, together: int) -> list[float]:
    """Return when each request is ready, s after all of them were made: in rounds of the threads, or one by one."""
    at_once = threads if together else 1
    return [SWITCH + (number // at_once + 1) * slow for number in range(REQUESTS)]


def prepared(log: Path, at_once: int) -> list[float]:
    """Return how long each slow operation took by the log, s, from when the first one on its thread began to wait."""
    with log.open(newline="") as text:
        rows = [row for row in csv.DictReader(text) if row["method"] == "PREPARE"]
    rows.sort(key=lambda row: int(row["arrived"]))
    return [(int(row["ended"]) - int(rows[number % at_once]["arrived"])) / 1e9 for number, row in enumerate(rows)]


def counted() -> tuple[int, int]:
    """Return how many overflows and drops the kernel has counted."""
    names, numbers = (
        line.split() for line in Path("/proc/net/netstat").read_text().splitlines() if line.startswith("TcpExt")
    )
    found = dict(zip(names, numbers, strict=True))
    return int(found["ListenOverflows"]), int(found["ListenDrops"])


def of_points(folder: RunFolder, operation: str) -> Iterator[tuple[int, float]]:
    """Yield how many operations a point has and the mean of their times, s, in the order of the suite."""
    told = """SELECT count(*), avg("end" - start) / 1e9 FROM operations WHERE operation = ? AND outcome = 'passed'
        GROUP BY "case" ORDER BY min(start)"""
    with folder.operations().connect() as connection:
        yield from connection.execute(told, [operation]).fetchall()


@pytest.mark.long
@pytest.mark.timed
@pytest.mark.idle
def test_figures_are_those_that_the_settings_give_and_overflows_those_of_the_kernel(tmp_path: Path) -> None:
    before = counted()
    done = pileup("run", "suite:control-plane", "--quiet", cwd=tmp_path, timeout=180)
    after = counted()
    assert done.returncode == 0, done.stdout + done.stderr
    folder = RunFolder.open(tmp_path / run_folder(done))
    waits, polls = list(of_points(folder, "wait")), list(of_points(folder, "poll"))
    for (threads, slow, interval, together), (number, wait), (asked, _) in zip(POINTS, waits, polls, strict=True):
        due = [math.ceil(each / interval) for each in ready(threads, slow, together)]
        assert number == REQUESTS
        assert wait == pytest.approx(interval * sum(due) / REQUESTS, rel=0.05), (threads, slow, interval, together)
        # in one folder one is ready every 0.21 s, some of them near a poll
        assert asked == (sum(due) if together else pytest.approx(sum(due), rel=0.05))
    logs = [log for log in (folder.path / "servers/se").glob("practice-storage*.csv") if "PREPARE" in log.read_text()]
    logs.sort(key=lambda log: log.stat().st_mtime)
    for (threads, slow, _, together), log in zip(POINTS, logs, strict=True):
        true = prepared(log, threads if together else 1)
        assert true == pytest.approx([each - SWITCH for each in ready(threads, slow, together)], rel=0.01)
    samples = [row.sample for row in folder.samples()]
    seen = tuple(
        sum(int(each.value) for each in samples if each.metric == name) for name in ("listen_overflows", "listen_drops")
    )
    assert seen == tuple(new - old for old, new in zip(before, after, strict=True))
    # a queue of 16 holds one more while its server is paused, and each other client is turned away at least once
    assert seen[0] >= CLIENTS - 16 - 1


REAL = """pileup: 1
title: Requests of a real XRootD
targets:
  tape: {kind: xrootd-tape, launch: {max_transfers: 5, drives: 5, mount: 5 s, dismount: 5 s, seek: 2 s, speed: 1 MB/s,
    size: 3 MB, speed_up: 100}}
tests:
  - {name: pretend, use: storage.pretend, target: tape, options: {together: 1, files: 2}, load: {times: 30}}
  - {name: follow, use: storage.follow, target: tape, after: [pretend], options: {drain: true, interval: 500 ms},
     timeout: 1 min}
criteria:
  - {id: C1, says: every file is ready, check: count(pretend.wait.passed) == 60}
  - {id: C2, says: every request is opened and ended, check: count(follow.done.passed) == 30}
"""


@pytest.mark.long
def test_requests_over_root_are_those_that_the_stager_has_copied(tmp_path: Path) -> None:
    require_program("frm_xfrd", "apt-get install xrootd-server")
    (tmp_path / "real.yaml").write_text(REAL)
    done = pileup("run", "real.yaml", "--quiet", cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = RunFolder.open(tmp_path / run_folder(done))
    ((number, wait),) = of_points(folder, "wait")
    ((opened, _),) = of_points(folder, "open")
    assert (number, opened) == (60, 30)
    (events,) = (folder.path / "servers").glob("*.logs/library*.csv")
    with events.open(newline="") as text:
        delivered = [row for row in csv.DictReader(text) if row["event"] == "delivered"]
    assert len({row["path"] for row in delivered}) == len(delivered) == 60, "by the library"
    assert not list(of_points(folder, "close")), "over root:// `open` closes"
    assert 0 < wait < 60
