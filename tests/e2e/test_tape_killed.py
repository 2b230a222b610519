"""Runs at a tape system of others that are killed at once: the next command deletes their requests, no one else's."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pileup.record import RunFolder
from pileup.run.recovery.requests import open_requests
from tests.servers.practice_tape import RunningTape, practice_tape
from tests.support import pileup, run_folder

THEIRS = "/tape/0000999"
SLOW: dict[str, Any] = {"speed_up": 1, "speed": "1 kB/s", "drives": 1, "files": 1000}
"""No file comes while a test runs."""
LOADS = {
    "storm": {"use": "tape.storm", "options": {"files": 3, "among": 900}, "load": {"rate": "50 /s", "for": "60 s"}},
    "stage": {"use": "tape.stage", "options": {"files": 3, "among": 900}, "load": {"clients": 8, "for": "60 s"}},
    "project": {
        "use": "tape.project",
        "options": {"files": 5, "ahead": 5, "prefix": "/tape", "together": 0},
        "load": {"clients": 4, "for": "60 s"},
    },
}
MOST = {"storm": 8, "stage": 8, "project": 20}
"""Requests that a run has made when it is killed."""
NOTHING = """pileup: 1
title: Another run
targets: {n: {kind: noop}}
tests: [{name: n, use: noop}]
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[RunningTape]:
    """A system that is not pileup's own, with a request of somebody else."""
    with practice_tape(tmp_path, **SLOW) as tape:
        theirs = tape.stage(THEIRS)
        yield tape
        assert tape.ask("GET", f"/api/v1/stage/{theirs}").status == 200


def requests(tape: RunningTape) -> int:
    """How many requests the system knows, apart from that of somebody else."""
    return int(tape.ask("GET", "/counts").json["requests"]) - 1


def unanswered(run: Path) -> int:
    """How many requests of a run may be there of an id that nobody knows: it was killed before their answers came."""
    folder = RunFolder.open(run)
    stamps = [each.stamp for each in folder.journal_entries() if (each.what, each.state) == ("requests", "made")]
    return sum(open_requests(folder, each).unanswered for each in stamps)


def killed(here: Path, tape: RunningTape, load: dict[str, Any], most: int) -> Path:
    """Begin a run, kill it when it has made so many requests, and return its folder."""
    suite = {
        "pileup": 1,
        "title": "killed",
        "targets": {"tape": {"kind": "tape-rest", "url": tape.url}},
        "tests": [{"name": "t", "target": "tape", "timeout": "5 min", **load}],
    }
    (here / "suite.yaml").write_text(json.dumps(suite))
    command = [sys.executable, "-m", "pileup", "run", "suite.yaml", "--quiet", "--out", "runs"]
    with subprocess.Popen(command, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        end = time.monotonic() + 60
        while requests(tape) < most:
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < end, "the load does not begin"
            time.sleep(0.01)
        process.kill()
        process.communicate(timeout=10)
    (run,) = (here / "runs").iterdir()
    return run


@pytest.mark.parametrize("load", LOADS)
def test_clean_deletes_what_a_killed_run_has_left(load: str, tmp_path: Path, site: RunningTape) -> None:
    run = killed(tmp_path, site, LOADS[load], MOST[load])
    assert requests(site) >= MOST[load]
    cleaned = pileup("clean", str(run), cwd=tmp_path)
    assert cleaned.returncode == 0, cleaned.stdout + cleaned.stderr
    assert "that t has left on target tape: deleted" in cleaned.stdout
    assert requests(site) <= unanswered(run)
    assert "nothing to clean up" in pileup("clean", str(run), cwd=tmp_path).stdout


def test_the_next_start_tells_of_them_and_deletes_nothing(tmp_path: Path, site: RunningTape) -> None:
    run = killed(tmp_path, site, LOADS["storm"], 8)
    there = requests(site)
    (tmp_path / "nothing.yaml").write_text(NOTHING)
    started = pileup("run", "nothing.yaml", "--quiet", cwd=tmp_path)
    assert f"left by {run.name}: " in started.stderr
    assert "has left on target tape: deleted: could not be done: the next start executes nothing" in started.stderr
    assert f"`pileup clean {run}` does it" in started.stderr
    assert requests(site) == there
    assert pileup("clean", str(run), cwd=tmp_path).returncode == 0


def test_resume_deletes_them_before_it_goes_on(tmp_path: Path, site: RunningTape) -> None:
    load = {**LOADS["storm"], "load": {"rate": "50 /s", "for": "3 s"}}
    run = killed(tmp_path, site, load, 20)
    before = len({claim.name for claim in RunFolder.open(run).claims()})
    resumed = pileup("resume", str(run), "--quiet", cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert "that t has left on target tape: deleted" in resumed.stderr
    assert len({claim.name for claim in RunFolder.open(run).claims()}) == before + 150
    assert requests(site) <= unanswered(run)
    assert "nothing to clean up" in pileup("clean", str(run), cwd=tmp_path).stdout


def test_a_run_that_ends_leaves_nothing(tmp_path: Path, site: RunningTape) -> None:
    killed_early = {**LOADS["storm"], "load": {"times": 20, "clients": 4}}
    suite = {
        "pileup": 1,
        "title": "ends",
        "targets": {"tape": {"kind": "tape-rest", "url": site.url}},
        "tests": [{"name": "t", "target": "tape", **killed_early}],
    }
    (tmp_path / "suite.yaml").write_text(json.dumps(suite))
    done = pileup("run", "suite.yaml", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert requests(site) == 0
    entries = RunFolder.open(tmp_path / run_folder(done)).journal_entries()
    assert [each.state for each in entries if each.what == "requests"] == ["made", "deleted"]
