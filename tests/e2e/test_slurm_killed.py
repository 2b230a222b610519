"""A real Slurm whose controller is restarted, killed, paused and full under load: what it forgot is found and named."""

import json
from pathlib import Path
from typing import Any

import pytest

from pileup.record import RunFolder
from tests.servers.slurm import PROGRAMS
from tests.support import pileup, require_programs, run_folder

QUICK = {"slots": 4, "cycle": "0 s", "defer": False}
"""Jobs of 60 s on four slots: nearly all that is submitted is queued, and only the controller knows of it."""
RATE = 10


CRITERIA = [
    ("again", "It is back at once", "max(submit.recovery) < 30 s"),
    ("kept", "A restart forgets nothing", "max(fault.forgotten[fault=restart,test=submit]) == 0"),
    ("lost", "A crash forgets nothing", "max(fault.forgotten[fault=crash,test=submit]) == 0"),
]


def suite(seconds: int, options: dict[str, Any], *faults: dict[str, Any], **launch: Any) -> dict[str, Any]:
    return {
        "pileup": 1,
        "title": "slurm",
        "targets": {"ce": {"kind": "slurm", "launch": {**QUICK, **launch}, "options": options}},
        "tests": [
            {
                "name": "submit",
                "use": "computing.submit",
                "target": "ce",
                "options": {"duration": "60 s"},
                "timeout": "20 s",
                "load": {"rate": f"{RATE} /s", "for": f"{seconds} s"},
                "fail_when": "never",
            }
        ],
        "faults": faults,
    }


def run(tmp_path: Path, suite: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return results.json and what was printed."""
    require_programs(PROGRAMS)
    (tmp_path / "suite.yaml").write_text(json.dumps(suite))
    done = pileup("run", "suite.yaml", "--quiet", cwd=tmp_path)
    record = tmp_path / run_folder(done)
    return json.loads((record / "results.json").read_text()), done.stdout + done.stderr


def counts(results: dict[str, Any]) -> dict[str, int]:
    (case,) = results["cases"]
    found: dict[str, int] = case["operations"][0]["counts"]
    return found


def errors(results: dict[str, Any], outcome: str) -> str:
    return "; ".join(each["message"] for each in results["errors"] if each["outcome"] == outcome)


@pytest.mark.long
def test_a_controller_that_is_killed_forgets_what_it_has_acknowledged_and_one_that_is_ended_does_not(
    tmp_path: Path,
) -> None:
    faults = [
        {"name": "restart", "at": "3 s", "do": "restart", "target": "ce.slurmctld"},
        {"name": "crash", "at": "9 s", "do": "kill", "target": "ce.slurmctld", "for": "500 ms"},
    ]
    criteria = [{"id": name, "says": says, "check": check} for name, says, check in CRITERIA]
    results, said = run(tmp_path, suite(15, {"patience": "5 s"}, *faults) | {"criteria": criteria})
    verdicts = {each["id"]: each["verdict"] for each in results["criteria"]}
    assert verdicts == {"again": "met", "kept": "met", "lost": "not met"}, said
    restart, crash = results["faults"]
    assert (restart["fault"], crash["fault"]) == ("restart", "crash")
    assert restart["jobs_lost"]["value"] == 0
    lost = crash["jobs_lost"]["value"]
    assert 0 < lost <= counts(results)["passed"]
    low, high = (crash["lost_share"]["interval"][end] for end in ("low", "high"))
    assert 0 < low < crash["lost_share"]["value"] < high < 1
    after, at_end = (each for each in results["audits"] if each["fault"] != 0)
    assert (after["fault"], at_end["fault"]) == (1, -1)
    for audit in (after, at_end):
        gone = audit["fates"]["lost"] + audit["fates"]["id used again"]
        assert gone == lost
        assert audit["fates"]["id used again"] > 0, "ids are given again to what is submitted after the crash"
        named = {bad["name"] for bad in audit["bad"]}
        assert len(named) == min(20, audit["fates"]["lost"]) + min(20, audit["fates"]["id used again"])
    assert at_end["acknowledged"] == counts(results)["passed"]
    assert sum(at_end["fates"].values()) == at_end["claims"] == at_end["looked"]
    with RunFolder(tmp_path / "runs" / Path(results["folder"]).name).operations().connect() as table:
        rows = table.sql("select key from operations where operation = 'submit' and outcome = 'passed' order by start")
        names = [row[0] for row in rows.fetchall()]
    before = [name for name in names if name in {bad["name"] for bad in at_end["bad"]}]
    assert before, "their names are in the record"


@pytest.mark.long
@pytest.mark.parametrize("driver", ["rest", "sbatch"])
def test_a_full_one_refuses_and_one_that_does_not_answer_leaves_submissions_ambiguous(
    tmp_path: Path, driver: str
) -> None:
    silent = {"at": "1 s", "do": "pause", "target": "ce.slurmctld", "for": "3 s"}
    options = {"driver": driver, "patience": "1 s"}
    results, said = run(tmp_path, suite(9, options, silent, max_jobs=45))
    found = counts(results)
    assert found["failed"] == 0, said
    assert found["refused"] > 0, said
    assert found["ambiguous"] > 0, said
    assert "unable to accept job" in errors(results, "refused") or "unavailable" in errors(results, "refused"), said
    assert "within 1 s" in errors(results, "ambiguous"), said
    assert sum(found.values()) == 9 * RATE
    (at_end,) = (each for each in results["audits"] if each["fault"] == -1)
    assert at_end["problem"] == ""
    assert at_end["fates"]["lost"] + at_end["fates"]["id used again"] == 0
    assert at_end["claims"] == found["passed"] + found["ambiguous"]
    assert at_end["ghosts"] + at_end["fates"]["never"] == found["ambiguous"]
    assert 45 - 5 <= found["passed"] + at_end["ghosts"] <= 45, "it was full, of those that were not answered too"
