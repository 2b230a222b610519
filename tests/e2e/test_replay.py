"""A recorded load pressed again, from here, from processes and by ssh: every start of the record, when it was due."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pileup.record import RunFolder
from tests.manifests import plain
from tests.servers.sshd import Sshd, sshd
from tests.support import pileup, run_folder

__all__ = ["sshd"]

TARGET = """
targets:
  se: {kind: practice-storage, launch: {threads: 64, queue: 10000, service: {lognormal: [2 ms, 0.35]}}}
"""
FILL = "  - {name: fill, use: storage.write, target: se, options: {files: 8, size: 1 KiB}}\n"
RECORDED = f"""
pileup: 1
title: Recorded
seed: 5
{TARGET}
tests:
{FILL}
  - name: stat
    use: storage.stat
    target: se
    after: [fill]
    options: {{files: 8}}
    load: {{rate: 200, arrivals: poisson, ramp: 200 ms, warm_up: 300 ms, for: 2 s}}
"""
AGAIN = f"""
pileup: 1
title: Again
{TARGET}
tests:
{FILL}
  - name: same
    use: storage.stat
    target: se
    after: [fill]
    options: {{files: 8}}
    load: {{replay: {{run: recorded, test: stat}}, warm_up: 500 ms}}
  - {{name: faster, use: noop, load: {{replay: {{run: recorded, test: stat, speed: 4}}}}}}
  - {{name: own, use: "./own.py:Own", load: {{replay: {{run: recorded, test: stat, speed: 2}}, times: 150}}}}
"""
OWN = '''
"""A test of the user's."""
from pileup.plugin import Test


class Own(Test):
    """Do little."""

    def run(self, op):
        self.expect(op.number >= 0, "a number")
'''
LONG = """
pileup: 1
title: Long
tests: [{name: long, use: noop, load: {replay: {run: recorded, speed: 0.5, test: stat}}}]
"""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a record, in `recorded`, and suites that replay it."""
    folder = tmp_path_factory.mktemp("replay")
    (folder / "suite.yaml").write_text(RECORDED)
    done = pileup("run", "suite.yaml", "--quiet", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    run_folder(done).rename(folder / "recorded")
    (folder / "again.yaml").write_text(AGAIN)
    (folder / "long.yaml").write_text(LONG)
    (folder / "own.py").write_text(OWN)
    return folder


def due(run: RunFolder, case: str) -> NDArray[np.int64]:
    """When the iterations of a case were due, ns after the first."""
    found = run.operations().arrays("intended", where=f"\"case\" = '{case}' and parent = 0 and phase != 'set-up'")
    times = np.sort(found["intended"])
    return times - times[0]


@pytest.mark.timed
@pytest.mark.idle
@pytest.mark.parametrize("fleet", ["local", "processes:2", "ssh"])
def test_every_start_of_the_record_comes_when_it_was_due(here: Path, sshd: Sshd, fleet: str) -> None:
    places = f"ssh:{sshd.host},{sshd.host}" if fleet == "ssh" else fleet
    done = pileup("run", "again.yaml", "--quiet", "--fleet", places, cwd=here, PILEUP_SSH=sshd.command)
    assert done.returncode == 0, done.stdout + done.stderr
    recorded = due(RunFolder.open(here / "recorded"), "stat")
    assert 350 < len(recorded) < 550
    run = RunFolder.open(here / run_folder(done))
    for case, speed, count in (("same", 1, None), ("faster", 4, None), ("own", 2, 150)):
        expected = np.floor(recorded[:count] / speed + 0.5).astype(np.int64)
        assert np.array_equal(due(run, case), expected), case
        rows = run.operations().arrays("place", "start", "intended", where=f"\"case\" = '{case}' and parent = 0")
        assert len(np.unique(rows["place"])) == (1 if fleet == "local" else 2)
        assert np.median(rows["start"] - rows["intended"]) < 1_000_000, case
    results = {case["name"]: case for case in json.loads((run.path / "results.json").read_text())["cases"]}
    frames = list(run.frames())
    for told in plain(run)["cases"][1:]:
        assert told["outcome"] == "passed", told
        assert sum(frame.missed for frame in frames if frame.case == told["id"]) == 0
        assert sum(frame.started for frame in frames if frame.case == told["id"]) == told["replay"]["starts"]
        assert len(told["replay"]["digest"]) == 32
    assert results["same"]["load"] == "open, replay of stat in recorded after 500 ms warm-up"


@pytest.mark.long
def test_the_warm_up_of_a_replay_is_its_own(here: Path) -> None:
    done = pileup("plan", "again.yaml", "--json", cwd=here)
    assert done.returncode == 0, done.stdout + done.stderr
    cases = {case["name"]: case for case in json.loads(done.stdout)["cases"]}
    recorded = due(RunFolder.open(here / "recorded"), "stat")
    assert [cases[name]["operations"] for name in ("same", "faster", "own")] == [len(recorded), len(recorded), None]
    assert cases["faster"]["longest"] == round(int(recorded[-1]) / 4) + 60 * 10**9


@pytest.mark.long
def test_a_replay_that_was_broken_off_is_made_again_from_its_begin(here: Path) -> None:
    command = [sys.executable, "-m", "pileup", "run", "long.yaml", "--quiet", "--out", "long"]
    scratch = here / "tmp"
    scratch.mkdir()
    with subprocess.Popen(command, cwd=here, env={**os.environ, "TMPDIR": str(scratch)}) as running:
        until = time.monotonic() + 60
        while not (frames := list((here / "long").glob("*/frames/0.table"))) or frames[0].stat().st_size < 2000:
            assert time.monotonic() < until, "it does not press"
            time.sleep(0.1)
        assert [path.stat().st_size for path in scratch.glob("pileup-starts-*")] == [8 * len(starts(here))]
        running.send_signal(signal.SIGINT)
    (folder,) = (here / "long").iterdir()
    assert not list(scratch.glob("pileup-starts-*")), "the file of starts goes with its load"
    (here / "recorded").rename(here / "away")
    refused = pileup("resume", str(folder), cwd=here)
    assert refused.returncode == 3
    assert "there is no folder" in refused.stderr
    (here / "away").rename(here / "recorded")
    done = pileup("resume", str(folder), "--quiet", cwd=here)
    assert done.returncode == 0, done.stdout + done.stderr
    run = RunFolder.open(folder)
    rows = run.operations().arrays("intended", where="parent = 0 and phase = 'measure'")
    assert np.array_equal(np.sort(rows["intended"]) - rows["intended"].min(), starts(here) * 2)


def starts(here: Path) -> NDArray[np.int64]:
    """The starts of the record."""
    return due(RunFolder.open(here / "recorded"), "stat")
