"""A real ARC whose daemons are killed under load: it forgets one acknowledged job at most, unlike its Slurm.

A-REX removes a job's old state before it writes the new one; what it is killed in between stays without a state.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.servers.arc import PROGRAMS
from tests.support import pileup, require_programs, run_folder

RATE, SECONDS = 3, 10
SUITE: dict[str, Any] = {
    "pileup": 1,
    "title": "arc",
    "targets": {
        "ce": {
            "kind": "arc",
            "launch": {"slots": 4, "cycle": "0 s", "defer": False, "information": "5 s"},
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
    "faults": [
        {"name": "manager", "at": "2200 ms", "do": "kill", "target": "ce.arex", "for": "500 ms"},
        {"name": "service", "at": "5200 ms", "do": "kill", "target": "ce.arex-ws", "for": "500 ms"},
    ],
    "criteria": [
        {"id": "kept", "says": "A crash forgets one job at most", "check": "max(submit.jobs_lost) <= 1"},
        {"id": "back", "says": "It is back at once", "check": "max(fault.recovery[fault=service]) < 30 s"},
    ],
}


@pytest.mark.long
def test_a_computing_element_that_is_killed_forgets_one_job_at_most(tmp_path: Path) -> None:
    require_programs(PROGRAMS)
    (tmp_path / "suite.yaml").write_text(json.dumps(SUITE))
    done = pileup("run", "suite.yaml", "--quiet", cwd=tmp_path)
    results = json.loads((tmp_path / run_folder(done) / "results.json").read_text())
    said = done.stdout + done.stderr
    verdicts = {each["id"]: each["verdict"] for each in results["criteria"]}
    assert verdicts == {"kept": "met", "back": "met"}, said
    counts = results["cases"][0]["operations"][0]["counts"]
    assert sum(counts.values()) == RATE * SECONDS
    assert counts["failed"] + counts["ambiguous"] > 0, "its REST service was away"
    manager, service = results["faults"]
    assert manager["failed"]["value"] == manager["ambiguous"]["value"] == 0, "jobs are taken in by the REST service"
    assert service["failed"]["value"] + service["ambiguous"]["value"] > 0
    assert manager["jobs_lost"]["value"] <= 1
    assert service["jobs_lost"]["value"] <= 1, "what the first kill lost is lost here too"
    at_end = results["audits"][-1]
    assert (at_end["fault"], at_end["problem"]) == (-1, "")
    assert at_end["fates"]["lost"] <= 1
    assert at_end["fates"]["id used again"] == 0
    assert at_end["acknowledged"] == counts["passed"]
    assert sum(at_end["fates"].values()) == at_end["claims"] == counts["passed"] + counts["ambiguous"]
