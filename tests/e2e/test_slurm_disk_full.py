"""A real Slurm whose disk for its state is full for a while: it says so, forgets nothing, and goes on afterwards."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pileup.record import RunFolder
from tests.servers.slurm import PROGRAMS
from tests.support import pileup, require_programs, run_folder

RATE, SECONDS = 8, 10
SUITE: dict[str, Any] = {
    "pileup": 1,
    "title": "disk",
    "targets": {
        "ce": {
            "kind": "slurm",
            "launch": {"slots": 4, "cycle": "0 s", "defer": False},
            "disk": "16 MiB",
            "options": {"patience": "5 s"},
        }
    },
    "tests": [
        {
            "name": "submit",
            "use": "computing.submit",
            "target": "ce",
            "options": {"duration": "5 min"},
            "timeout": "20 s",
            "load": {"rate": f"{RATE} /s", "for": f"{SECONDS} s"},
            "fail_when": "never",
        }
    ],
    "faults": [{"name": "full", "at": "3 s", "do": "fill", "target": "ce", "for": "3 s"}],
    "criteria": [
        {"id": "kept", "says": "Nothing is forgotten", "check": "max(submit.jobs_lost) == 0"},
        {"id": "back", "says": "It goes on", "check": "max(fault.recovery[fault=full,test=submit]) < 30 s"},
    ],
}


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk_is_felt_and_over_when_there_is_room_again(tmp_path: Path) -> None:
    require_programs(PROGRAMS)
    (tmp_path / "suite.yaml").write_text(json.dumps(SUITE))
    done = pileup("run", "suite.yaml", "--quiet", cwd=tmp_path)
    said = done.stdout + done.stderr
    record = tmp_path / run_folder(done)
    results = json.loads((record / "results.json").read_text())
    if "cannot be mounted" in json.dumps(results["run"]["targets"]):
        pytest.skip("this root may not mount")
    assert {each["id"]: each["verdict"] for each in results["criteria"]} == {"kept": "met", "back": "met"}, said
    (full,) = (each for each in results["faults"] if each["test"] == "submit")
    assert full["failed"]["value"] + full["refused"]["value"] + full["ambiguous"]["value"] > 0, said
    assert full["recovery"]["value"] >= 2 * 10**9, "it had no room for three seconds"
    disks = [entry for entry in RunFolder(record).journal_entries() if entry.what == "disk"]
    assert [entry.state for entry in disks] == ["made", "removed"]
    assert disks[0].path not in Path("/proc/self/mounts").read_text()
