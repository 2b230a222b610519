"""Loads from the workers of a Dask cluster: the same record as from anywhere, and nothing lost with a worker."""

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

from pileup.builtin.slurm import launcher
from pileup.record import RunFolder
from tests.e2e.test_fleet import LONG, PRESS, counts, ended, in_frames, in_log, pressing, same_histograms
from tests.manifests import plain
from tests.servers.dask import RunningDask, dask_cluster
from tests.servers.slurm import QUICK, slurm
from tests.support import FIGURES, pileup, run_folder

SUITE = """
pileup: 1
title: On Dask
seed: 11
targets:
  se: {kind: practice-storage, launch: {threads: 64, queue: 10000, service: {lognormal: [4 ms, 0.35]}}}
tests:
  - {name: fill, use: storage.write, target: se, options: &file {files: 16, size: 1 KiB}}
  - {name: read, use: storage.read, target: se, after: [fill], options: *file, load: {rate: 100, for: 2 s}}
  - {name: ask, use: http.request, target: se, load: {clients: 4, times: 80}, fail_when: never}
  - {name: own, use: "./own.py:Own", load: {clients: 4, times: 60}, fail_when: fraction(own.failed) > 20 %}
"""
OWN = '''
"""A test of the user's, with a module beside it."""
from pathlib import Path
from runpy import run_path

from pileup.plugin import Test

nap = run_path(str(Path(__file__).with_name("helper.py")))["nap"]


class Own(Test):
    """Nap; every tenth fails."""

    def run(self, op):
        with op("nap"):
            nap()
        self.report("number", op.number)
        self.expect(op.number % 10, "every tenth fails")
'''
HELPER = "import time\n\n\ndef nap():\n    time.sleep(0.002)\n"


FILES = {"suite.yaml": SUITE, "own.py": OWN, "helper.py": HELPER, "long.yaml": LONG, "press.py": PRESS}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture(scope="module")
def cluster() -> Iterator[RunningDask]:
    with dask_cluster() as running:
        yield running


def run_on(folder: Path, suite: str, fleet: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run a suite in a process that reads Dask's configuration anew."""
    command = [sys.executable, "-m", "pileup", "run", suite, "--quiet", "--fleet", fleet, *FIGURES]
    variables = {**os.environ, **environment}
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=120, check=False)


def record(folder: Path, fleet: str, **environment: str) -> RunFolder:
    done = run_on(folder, "suite.yaml", fleet, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return RunFolder.open(folder / run_folder(done))


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[object, ...]]:
    """What the load comes to from one process."""
    folder = tmp_path_factory.mktemp("here")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return counts(record(folder, "local"))


def same(run: RunFolder, here: list[tuple[object, ...]], fleet: str) -> None:
    """The load from two places is that of one process: totals, histograms, starts, numbers."""
    assert counts(run) == here
    assert in_frames(run) == in_log(run)
    same_histograms(run)
    assert sorted(row.sample.value for row in run.samples() if row.monitor == "own") == list(range(60))
    kind = fleet.partition(":")[0]
    places = [place for place in plain(run)["places"] if place["number"]]
    assert [place["name"] for place in places] == [f"{kind} 1", f"{kind} 2"]
    clocks = [(abs(place["offset"]), place["error"]) for place in places]
    assert all(off <= bound for off, bound in clocks), f"the clock of both is that of this machine: {clocks}"
    rows = run.operations().arrays("place", "intended", "start", where="\"case\" = 'read' and parent = 0")
    assert np.abs(np.diff(np.sort(rows["intended"])) - 10_000_000).max() <= 2, "the shards make one grid"
    for number in (1, 2):
        own = rows["place"] == number
        assert own.sum() == 100
        assert np.median(rows["start"][own] - rows["intended"][own]) < 1_000_000, f"place {number}"


@pytest.mark.timed
@pytest.mark.idle
def test_the_same_load_comes_from_two_workers_of_dask(
    suite: Path, here: list[tuple[object, ...]], cluster: RunningDask
) -> None:
    same(record(suite, cluster.fleet), here, cluster.fleet)


@pytest.mark.timed
@pytest.mark.idle
def test_the_same_load_comes_from_two_jobs_of_slurm(
    suite: Path, here: list[tuple[object, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its daemons run as the user of pileup, whose files the jobs read; slurmrestd refuses to where that is root."""
    monkeypatch.setattr(launcher, "_user", lambda: "")
    monkeypatch.setattr(launcher, "_rest", lambda wanted: iter(()))
    with slurm(suite / "slurm", slots=2, **QUICK) as running:
        words = {"INTERFACE": "lo", "JOB_DIRECTIVES_SKIP": "['--mem']", "SHARED_TEMP_DIRECTORY": str(suite)}
        environment = {f"DASK_JOBQUEUE__SLURM__{word}": value for word, value in words.items()}
        environment["SLURM_CONF"] = str(running.home / "etc/slurm.conf")
        same(record(suite, "slurm:2", **environment), here, "slurm:2")
        there = [each for each in running.processes() if "distributed.cli.dask_worker" in each.cmdline()]
        assert not psutil.wait_procs(there, timeout=10)[1], "the jobs went with the run"
        assert not list(suite.glob("pileup-*")), "nor is a key left"
        environment["DASK_JOBQUEUE__SLURM__QUEUE"] = "nowhere"
        refused = run_on(suite, "long.yaml", "slurm:2", **environment)
        del environment["DASK_JOBQUEUE__SLURM__QUEUE"]
        keys_of_a_killed_run(suite, environment)
    (case,) = plain(RunFolder.open(suite / run_folder(refused)))["cases"]
    assert case["reason"].startswith("the jobs of the fleet slurm:2 cannot be submitted"), case["reason"]
    assert "invalid partition" in case["reason"]


def keys_of_a_killed_run(suite: Path, environment: dict[str, str]) -> None:
    """The keys of the jobs of a run that is killed stay until it is cleaned up, and no longer."""
    command = [sys.executable, "-m", "pileup", "run", "long.yaml", "--quiet", "--fleet", "slurm:2", "--out", "killed"]
    with subprocess.Popen(command, cwd=suite, env={**os.environ, **environment}) as run:
        until = time.monotonic() + 60
        while not list(suite.glob("pileup-*/.dask*.key.*")) and time.monotonic() < until:
            time.sleep(0.1)
        run.kill()
    assert list(suite.glob("pileup-*/.dask*.key.*"))
    (killed,) = (suite / "killed").iterdir()
    assert pileup("clean", str(killed), cwd=suite).returncode == 0
    assert not list(suite.glob("pileup-*"))


@pytest.mark.long
def test_a_killed_worker_is_named_and_its_operations_are_lost(suite: Path) -> None:
    with dask_cluster() as dask, pressing(suite, dask.fleet) as (run, _):
        psutil.Process(dask.agents()[1].ppid()).kill()
        record = ended(run, suite)
        assert in_frames(record) == in_log(record)
        (event,) = (each for each in record.events() if each.kind == "place")
        assert "its Dask worker" in event.text
        assert "is gone" in event.text
        rows = record.operations().arrays("place", "outcome", where="parent = 0")
        lost = rows["outcome"] == "lost"
        assert (lost.sum(), set(rows["place"][lost])) == (4, {event.place})
        (case,) = plain(record)["cases"]
        assert event.text in case["reason"]
        assert not dask.agents(), "and no place is left"


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_the_places_end_with_their_parent(suite: Path, cluster: RunningDask, number: int) -> None:
    with pressing(suite, cluster.fleet) as (run, _):
        known = cluster.agents()
        assert len(known) == 2
        run.send_signal(number)
        assert run.wait(30) == (6 if number == signal.SIGINT else -signal.SIGKILL)
        assert not psutil.wait_procs(known, timeout=20)[1]


def test_a_worker_of_another_version_is_refused_before_anything_begins(suite: Path) -> None:
    other = suite / "other/pileup-9.9.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: pileup\nVersion: 9.9\n")
    with dask_cluster({"PYTHONPATH": str(other.parent)}) as dask:
        done = pileup("run", "long.yaml", "--quiet", "--fleet", dask.fleet, cwd=suite)
    (case,) = plain(RunFolder.open(suite / run_folder(done)))["cases"]
    assert "Dask worker 0 at tcp://127.0.0.1:" in case["reason"]
    assert "has pileup 9.9; expected 0.1.0 as here" in case["reason"]
