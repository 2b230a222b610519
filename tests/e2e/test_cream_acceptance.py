"""The acceptance suite of computing elements, small: its table says what is covered, what is met, and what is not."""

import json
from pathlib import Path
from typing import Any

from tests.servers.slurm import PROGRAMS, WITH_ACCOUNTING
from tests.support import EXAMPLES, pileup, require_programs, run_folder

SMALL = {
    "jobs": 40,
    "slots": 20,
    "limit": 200,
    "normal": "2 s",
    "rate": "5 /s",
    "unit": "150 ms",
    "room": "1 s",
    "shortest": "100 ms",
    "longest": "500 ms",
    "files": "4000",
}
"""So many files are enough: a controller that has too few starts no job for half a minute."""
SURE = {"D-ii", "J", "L-lost", "M-lost", "X-lost", "O", "O-self"}
"""Criteria that a Slurm meets however busy the machine is. In a second it has no room again."""
COVERED = {"K": "none", "L": "partial", "M": "partial", "M-back": "partial"}


def test_the_table_of_criteria_tells_what_was_found(tmp_path: Path) -> None:
    require_programs(PROGRAMS | WITH_ACCOUNTING)
    given = [word for name, value in SMALL.items() for word in ("--set", f"{name}={value}")]
    done = pileup("run", str(EXAMPLES / "cream-acceptance.yaml"), "--quiet", *given, cwd=tmp_path, timeout=400)
    results = json.loads((tmp_path / run_folder(done) / "results.json").read_text())
    said = done.stdout + done.stderr
    criteria = {each["id"]: each for each in results["criteria"]}
    assert {name: each["coverage"] for name, each in criteria.items() if each["coverage"] != "full"} == COVERED
    assert criteria["K"]["verdict"] == "not checked"
    assert {name for name in SURE if criteria[name]["verdict"] != "passed"} == set(), said
    assert len(results["faults"]) >= 6, said
    assert {each["fault"] for each in results["faults"]} == {
        "controller",
        "interface",
        "accounting",
        "database",
        "files",
        "killed",
    }
    assert results["run"].get("fault_problems") == [], said
    _check_lost(results, criteria, said)
    states = {each["test"]: each["states"] for each in results["jobs"]}
    assert states["peak"] == {"cancelled": 60}
    assert set(states["normal"]) == {"completed"}
    broken = {case["name"] for case in results["cases"] if case["outcome"] != "passed"}
    assert broken <= {"again"}, said
    failed = any(each["verdict"] == "failed" for each in criteria.values())
    assert done.returncode == (1 if broken else 4 if failed else 0), said


def _check_lost(results: dict[str, Any], criteria: dict[str, Any], said: str) -> None:
    """What a crash made Slurm forget decides its criterion, and nothing else was forgotten."""
    at_end = {each["test"]: each for each in results["audits"] if each["fault"] == -1}
    lost = {name: each["fates"]["lost"] + each["fates"]["id used again"] for name, each in at_end.items()}
    assert criteria["M-crash"]["verdict"] == ("failed" if lost["crash"] else "passed"), said
    assert not any(lost[name] for name in ("peak", "normal", "restart", "trouble", "overload")), said
