"""A server of pileup's own that somebody kills during a run is named when it happens, and in the results."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from pileup.record import RunFolder
from tests.servers.rucio import require_rucio
from tests.support import FIGURES

STORAGE = {
    "targets": {"se": {"kind": "practice-storage", "launch": {}}},
    "tests": [
        {"name": "fill", "use": "storage.write", "options": {"files": 2, "size": "1 KiB"}},
        {"name": "load", "use": "storage.read", "after": ["fill"], "load": {"clients": 2, "for": "12 s"},
         "options": {"files": 2, "size": "1 KiB"}},
    ],
}  # fmt: skip
CATALOGUE = {
    "targets": {"rucio": {"kind": "rucio", "launch": {}}},
    "tests": [{"name": "load", "use": "catalogue.login", "load": {"clients": 2, "for": "12 s"}}],
}


def until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def ended(here: Path, program: str, said: str) -> dict[str, Any]:
    """Return the case `load` of a run in whose middle the server that runs a program is killed."""
    command = [sys.executable, "-m", "pileup", "run", "suite.yaml", "--quiet", *FIGURES]
    process = subprocess.Popen(
        command, cwd=here, env={**os.environ, "PILEUP_RUNS": str(here / "runs")}, start_new_session=True
    )
    try:
        until(lambda: any((here / "runs").glob("*-killed/run.json")), "no run")
        (path,) = (here / "runs").glob("*-killed")
        folder = RunFolder.open(path)
        number = next(each.id for each in folder.manifest().cases if each.test == "load")
        until(lambda: any(True for _ in folder.frames(number)), "no load")
        started = [each for each in folder.journal_entries() if (each.what, each.state) == ("server", "started")]
        (pid,) = [each.pid for each in started if each.process == program]
        psutil.Process(pid).send_signal(signal.SIGKILL)
        until(lambda: any(said in event.text for event in folder.events()), "not told")
        assert process.poll() is None, "it is told while the run goes on"
        process.wait(60)
    finally:
        process.kill()
        process.wait()
    results = json.loads((path / "results.json").read_text())
    assert sum(said in event["text"] for event in results["events"]) == 1
    found: dict[str, Any] = next(each for each in results["cases"] if each["test"] == "load")
    return found


def test_a_storage_that_is_killed_is_named_when_it_happens(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(json.dumps({"pileup": 1, "title": "killed", **STORAGE}))
    said = "the server of target se was ended by SIGKILL, not by pileup"
    case = ended(tmp_path, "server", said)
    assert case["outcome"] == "failed" and case["reason"].startswith(said), case["reason"]
    assert case["operations"][0]["counts"]["passed"] > 0, "what was measured before is kept"


@pytest.mark.long
def test_the_database_of_a_catalogue_that_is_killed_is_named_and_not_the_catalogue(tmp_path: Path) -> None:
    require_rucio()
    (tmp_path / "suite.yaml").write_text(json.dumps({"pileup": 1, "title": "killed", **CATALOGUE}))
    said = "the postgres of target rucio was ended by SIGKILL, not by pileup"
    case = ended(tmp_path, "postgres", said)
    assert case["outcome"] == "failed" and case["reason"].startswith(said), case["reason"]
    assert case["operations"][0]["counts"]["passed"] > 0, "what was measured before is kept"
