"""One suite from this process, from two processes and from two hosts by ssh: the same load, exactly one record."""

import contextlib
import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from pileup._core._native import Histogram
from pileup.model.record import Outcome
from pileup.record import RunFolder
from tests.manifests import plain
from tests.servers.sshd import Sshd, sshd
from tests.support import pileup, run_folder

__all__ = ["sshd"]

SUITE = """
pileup: 1
title: Fleet
seed: 11
targets:
  se: {kind: practice-storage, launch: {threads: 64, queue: 10000, service: {lognormal: [4 ms, 0.35]}}}
tests:
  - {name: fill, use: storage.write, target: se, options: {files: 16, size: 1 KiB}}
  - name: stat
    use: storage.stat
    target: se
    after: [fill]
    options: {files: 16}
    load: {rate: 200, warm_up: 1 s, for: 3 s}
  - {name: own, use: "./own.py:Own", load: {clients: 4, times: 60}, fail_when: fraction(own.failed) > 20 %}
"""
OWN = '''
"""A test of the user's."""
import helper
from pileup.plugin import Test


class Own(Test):
    """Print and report."""

    def run(self, op):
        with op("nap"):
            helper.nap()
        self.report("number", op.number)
        if op.number % 20 == 0:
            print("this is", op.number)
        self.expect(op.number % 10, "every tenth fails")
'''
HELPER = "import time\n\n\ndef nap():\n    time.sleep(0.002)\n"
LONG = """
pileup: 1
title: Long
tests:
  - {name: press, use: "./press.py:Press", load: {clients: 8, for: 6 s}}
"""
OPEN = """
pileup: 1
title: Open
tests:
  - {name: press, use: "./press.py:Press", load: {rate: 80, for: 5 s}}
"""
PRESS = '''
"""A test that takes its time."""
import time
from pileup.plugin import Test


class Press(Test):
    """Nap."""

    def run(self, op):
        time.sleep(0.05)
'''


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "own.py").write_text(OWN.replace("import helper\n", HELPER).replace("helper.nap", "nap"))
    (tmp_path / "long.yaml").write_text(LONG)
    (tmp_path / "open.yaml").write_text(OPEN)
    (tmp_path / "press.py").write_text(PRESS)
    return tmp_path


def folder_of(folder: Path, *arguments: str, **environment: str) -> RunFolder:
    """Run the suite on a fleet and return its record."""
    done = pileup("run", "suite.yaml", "--quiet", *arguments, cwd=folder, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return RunFolder.open(folder / run_folder(done))


def counts(run: RunFolder) -> list[tuple[object, ...]]:
    with run.operations().connect() as connection:
        return connection.execute(
            'select "case", operation, phase, outcome, count(*), sum(bytes) from operations group by all order by all'
        ).fetchall()


def in_frames(run: RunFolder) -> dict[tuple[int, str, int], tuple[int, ...]]:
    """Sums over the frames: (case, operation, phase) -> outcomes."""
    names = [each.name.lower() for each in Outcome]
    found: dict[tuple[int, str, int], np.ndarray] = {}
    for frame in run.frames():
        for row in frame.rows:
            key = (frame.case, row.operation, row.phase)
            found[key] = found.get(key, 0) + np.array([getattr(row, name) for name in names])
    return {key: tuple(each.tolist()) for key, each in found.items() if each.any()}


def in_log(run: RunFolder) -> dict[tuple[int, str, int], tuple[int, ...]]:
    """The same, counted from the log."""
    words = {"set-up": 0, "ramp": 1, "warm-up": 2, "measure": 3, "cool-down": 4, "clean-up": 5}
    outcomes = [each.name.lower() for each in Outcome]
    found: dict[tuple[int, str, int], list[int]] = {}
    with run.operations().connect() as connection:
        rows = connection.execute(
            "select case_id, operation, phase, outcome, count(*) from operations group by all"
        ).fetchall()
    for case, operation, phase, outcome, count in rows:
        sums = found.setdefault((case, operation, words[phase]), [0] * len(outcomes))
        sums[outcomes.index(outcome)] += count
    return {key: tuple(each) for key, each in found.items()}


def same_histograms(run: RunFolder) -> None:
    """The frames of all places, merged, are the histogram of the log, bin by bin."""
    merged: dict[int, Histogram] = {}
    for frame in run.frames():
        for row in frame.rows:
            if row.iteration and row.response:
                merged.setdefault(frame.case, Histogram()).merge(row.response)
    logged: dict[int, Histogram] = {}
    rows = run.operations().arrays("case_id", "intended", "end", where="parent = 0 and outcome = 'passed'")
    for case, intended, end in zip(rows["case_id"], rows["intended"], rows["end"], strict=True):
        logged.setdefault(int(case), Histogram()).record(int(end - intended))
    assert {case: each.bins() for case, each in merged.items()} == {case: each.bins() for case, each in logged.items()}


@pytest.mark.timed
@pytest.mark.idle
def test_the_same_load_comes_from_here_from_processes_and_by_ssh(suite: Path, sshd: Sshd) -> None:
    fleets = {"local": 1, "processes:2": 2, f"ssh:{sshd.host},{sshd.host}": 2}
    runs = {fleet: folder_of(suite, "--fleet", fleet, PILEUP_SSH=sshd.command) for fleet in fleets}
    told = {fleet: counts(run) for fleet, run in runs.items()}
    assert told["local"] == told["processes:2"] == list(told.values())[2]
    for fleet, run in runs.items():
        assert in_frames(run) == in_log(run), fleet
        same_histograms(run)
        every_request_is_in_the_servers_log(run)
        starts_are_on_the_common_clock(run, places=fleets[fleet])
        the_output_and_the_numbers_came_home(run)
        hosts = {place["name"] for place in plain(run)["places"]}
        assert len(plain(run)["places"]) == (1 if fleet == "local" else 3), hosts


def every_request_is_in_the_servers_log(run: RunFolder) -> None:
    ids = run.operations().arrays("id", where="\"case\" = 'stat'")["id"]
    with (run.path / "servers/se/practice-storage.csv").open() as log:
        served = {int(row["id"]) for row in csv.DictReader(log) if row["method"] == "HEAD"}
    assert set(map(int, ids)) == served
    assert len(ids) == 800


def starts_are_on_the_common_clock(run: RunFolder, places: int) -> None:
    """The shards make one exact grid, and half of the starts at each place are within 1 ms of it."""
    rows = run.operations().arrays("place", "intended", "start", where="\"case\" = 'stat' and parent = 0")
    steps = np.diff(np.sort(rows["intended"]))
    assert np.abs(steps - 5_000_000).max() <= 2
    numbers = np.unique(rows["place"])
    assert len(numbers) == places
    for number in numbers:
        own = rows["place"] == number
        assert np.median(rows["start"][own] - rows["intended"][own]) < 1_000_000, f"place {number}"


def the_output_and_the_numbers_came_home(run: RunFolder) -> None:
    printed = (run.path / "output/own/stdout.txt").read_text()
    assert sorted(line for line in printed.splitlines() if line.startswith("this")) == [
        "this is 0",
        "this is 20",
        "this is 40",
    ]
    reported = sorted(row.sample.value for row in run.samples() if row.monitor == "own")
    assert reported == list(range(60))


@contextlib.contextmanager
def pressing(
    folder: Path, fleet: str, suite: str = "long.yaml", **environment: str
) -> Iterator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    """Run the long suite; give its process and the places that it has started, once they press."""
    command = [sys.executable, "-m", "pileup", "run", suite, "--quiet", "--fleet", fleet, "--out", "runs"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
    ) as run:
        until = time.monotonic() + 60
        while len(list((folder / "runs").glob("*/frames/[12].table"))) < 2:
            assert time.monotonic() < until, "no place presses"
            time.sleep(0.1)
        places = sorted(psutil.Process(run.pid).children(), key=lambda each: each.create_time())
        yield run, places


def ended(run: subprocess.Popen[str], folder: Path) -> RunFolder:
    said, _ = run.communicate(timeout=60)
    return RunFolder.open(folder / said.strip().splitlines()[-1])


@pytest.mark.long
def test_a_killed_place_is_counted_as_lost_and_the_others_go_on(suite: Path) -> None:
    with pressing(suite, "processes:2") as (run, places):
        killed = time.time_ns()
        places[1].kill()
        record = ended(run, suite)
    assert in_frames(record) == in_log(record)
    rows = record.operations().arrays("place", "outcome", "start", "error", where="parent = 0")
    lost = rows["outcome"] == "lost"
    assert lost.sum() == 4, "its four clients were at work"
    assert set(rows["place"][lost]) == {2}
    assert "SIGKILL" in rows["error"][lost][0]
    assert (rows["start"][rows["place"] == 1] > killed + 10**9).sum() > 50, "the other place went on"
    assert [event.place for event in record.events() if event.kind == "place"] == [2]
    (case,) = plain(record)["cases"]
    assert case["outcome"] == "passed"
    assert "place 2 (process 2) was lost" in case["reason"]
    same_histograms(record)


@pytest.mark.long
def test_what_was_due_at_a_lost_place_is_lost_or_missed(suite: Path) -> None:
    with pressing(suite, "processes:2", "open.yaml") as (run, places):
        places[0].kill()
        record = ended(run, suite)
    ended_at = sum(sum(outcomes) for outcomes in in_frames(record).values())
    missed = {place: sum(frame.missed for frame in record.frames() if frame.place == place) for place in (1, 2)}
    assert in_frames(record) == in_log(record)
    assert ended_at + sum(missed.values()) == 400
    assert missed[1] > 40


@pytest.mark.long
def test_a_place_that_only_stands_still_does_not_hold_the_run(suite: Path) -> None:
    with pressing(suite, "processes:2") as (run, places):
        places[0].send_signal(signal.SIGSTOP)
        record = ended(run, suite)
    assert [event.place for event in record.events() if event.kind == "place"] == [1]
    assert in_frames(record) == in_log(record)


@pytest.mark.long
def test_a_broken_ssh_is_a_lost_place(suite: Path, sshd: Sshd) -> None:
    with pressing(suite, f"ssh:{sshd.host},{sshd.host}", PILEUP_SSH=sshd.command) as (run, places):
        places[0].kill()
        record = ended(run, suite)
    assert in_frames(record) == in_log(record)
    (case,) = plain(record)["cases"]
    assert "was lost" in case["reason"]
    assert sum(each[5] for each in in_frames(record).values()) == 4, "what the last frame knew to be under way"


@pytest.mark.long
def test_nothing_is_left_when_the_parent_is_killed(suite: Path, sshd: Sshd) -> None:
    marks = [f"ssh:{sshd.host},{sshd.host}", "processes:2"]
    for fleet in marks:
        with pressing(suite, fleet, PILEUP_SSH=sshd.command) as (run, places):
            known = {each.pid: each for place in places for each in (place, *place.children(recursive=True))}
            far = [each for each in psutil.process_iter() if is_place(each, sshd)]
            known |= {each.pid: each for each in far}
            run.kill()
            run.wait(10)
        _, alive = psutil.wait_procs(list(known.values()), timeout=20)
        assert not alive, fleet
        for path in (suite / "runs").glob("*/frames/[12].table"):
            path.rename(path.with_suffix(".seen"))


def is_place(process: psutil.Process, sshd: Sshd) -> bool:
    """Whether a process is a place that this sshd has started."""
    with contextlib.suppress(psutil.Error):
        if process.cmdline()[-3:] == ["-m", "pileup", "place"]:
            return any(each.pid == sshd.pid for each in process.parents())
    return False


@pytest.mark.long
def test_a_host_that_is_not_there_makes_the_case_unavailable_or_an_error_with_words(suite: Path, sshd: Sshd) -> None:
    done = pileup("run", "long.yaml", "--quiet", "--fleet", "ssh:127.0.0.1:1", cwd=suite, PILEUP_SSH=sshd.command)
    assert done.returncode != 0
    info = json.loads((suite / run_folder(done) / "run.json").read_text())
    assert "place 127.0.0.1:1" in info["cases"][0]["reason"]
    assert "refused" in info["cases"][0]["reason"].lower()
