"""The acceptance suites of computing elements, small: a table says what is covered, what is met, and what is not."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pileup.record import RunFolder
from tests.e2e.cream import ended, sure
from tests.servers import arc
from tests.servers.slurm import PROGRAMS, WITH_ACCOUNTING
from tests.support import EXAMPLES, pileup, require_programs, run_folder

SMALL = {
    "jobs": 40,
    "slots": 20,
    "limit": 200,
    "normal": "2 s",
    "rate": "5 /s",
    "unit": "300 ms",
    "shortest": "100 ms",
    "longest": "500 ms",
    "files": "4000",
}
"""So many files are enough: a controller that has too few while it starts a job may end itself: it cannot read the
script of that job. What a limit does is tested below, where no job is started meanwhile."""
SURE = {"D-ii", "J", "L", "L-lost", "M", "M-lost", "X-lost", "O", "O-self", "O-after"}
"""Criteria that a Slurm meets however busy the machine is."""
NO_FILES = "Too many open files"
COVERED = {"D-ii": "partial", "K": "none", "L": "partial", "M": "partial", "M-back": "partial"}


@pytest.mark.long
def test_the_table_of_criteria_tells_what_was_found(tmp_path: Path) -> None:
    require_programs(PROGRAMS | WITH_ACCOUNTING)
    given = [word for name, value in SMALL.items() for word in ("--set", f"{name}={value}")]
    done = pileup("run", str(EXAMPLES / "cream-acceptance.yaml"), "--quiet", *given, cwd=tmp_path, timeout=400)
    results = json.loads((tmp_path / run_folder(done) / "results.json").read_text())
    said = done.stdout + done.stderr
    criteria = {each["id"]: each for each in results["criteria"]}
    assert {name: each["coverage"] for name, each in criteria.items() if each["coverage"] != "full"} == COVERED
    assert criteria["K"]["verdict"] == "not covered"
    assert {name for name in SURE if not criteria[name]["verdict"].startswith("met")} == set(), said
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
    assert broken == set(), said
    failed = any(each["verdict"].startswith("not met") for each in criteria.values())
    assert done.returncode == (4 if failed else 0), said


def _lost(results: dict[str, Any]) -> dict[str, int]:
    """Return how many acknowledged submissions of each test the system no longer knows, by the audit at the end."""
    at_end = (each for each in results["audits"] if each["fault"] == -1)
    return {each["test"]: each["fates"]["lost"] + each["fates"]["id used again"] for each in at_end}


def _check_lost(results: dict[str, Any], criteria: dict[str, Any], said: str) -> None:
    """What a crash made Slurm forget decides its criterion, and nothing else was forgotten."""
    lost = _lost(results)
    assert criteria["M-crash"]["verdict"].startswith("not met" if lost["crash"] else "met"), said
    assert not any(lost.get(name, 0) for name in ("peak", "normal", "restart", "trouble", "overload")), said


ON_ARC = {
    "jobs": "20",
    "queue": "40",
    "band": "50 %",
    "slots": "6",
    "duration": "8 s",
    "held": "10 s",
    "settle": "8 s",
    "looks": "1 s",
    "normal": "8 s",
    "unit": "1 s",
    "limit": "60",
    "beyond": "80",
}
USERS = 50


@pytest.mark.long
def test_the_table_of_criteria_of_arc_tells_what_was_found(tmp_path: Path) -> None:
    require_programs(arc.PROGRAMS)
    results, code, said = ended("cream-acceptance-arc", ON_ARC, tmp_path)
    criteria = {each["id"]: each for each in results["criteria"]}
    partial = {"D-ii", "K", "K-run", "L", "M"}
    assert {name for name, each in criteria.items() if each["coverage"] == "partial"} == partial
    assert {name for name, each in criteria.items() if each["coverage"] == "full"} == set(criteria) - partial
    found = sure(results)
    lost = _lost(results)
    # a killed A-REX forgets the job that it is working on, if any
    assert found.pop("M-crash") == ("not met" if lost.pop("crash") else "met"), said
    assert set(lost.values()) == {0}, said
    assert found.pop("O-self") == "not met", "a full CE of this version refuses nothing"
    assert found == dict.fromkeys(found, "met"), said
    assert code == 4, said
    assert {each["fault"] for each in results["faults"] if each["test"] in {"restart", "crash"}} == {
        "interface",
        "manager",
        "reboot",
        "killed-interface",
        "killed-manager",
    }
    assert results["run"].get("fault_problems") == [], said
    states = {each["test"]: each["states"] for each in results["jobs"]}
    assert states["users"] == {"completed": USERS}
    assert states["overload"] == {"cancelled": 80}
    (folder,) = (tmp_path / "runs").glob("*cream-acceptance-on-arc")
    delegations = [each.name for each in RunFolder.open(folder).claims() if each.what == "delegation"]
    assert sorted(delegations[:USERS]) == sorted(f"user{number}" for number in range(1, USERS + 1))


LIMITED = """
pileup: 1
title: no descriptors
targets: {ce: {kind: slurm, launch: {slots: 2, cycle: 100 ms}, options: {patience: 5 s}}}
tests:
  - {name: fill, use: computing.submit, target: ce, options: {duration: 1 h, prefix: fill}, load: {times: 12}}
  - name: press
    use: computing.submit
    target: ce
    after: [fill]
    options: {duration: 1 h, prefix: press}
    timeout: 10 s
    load: {rate: 10 /s, for: 12 s}
    fail_when: never
  - {name: empty, use: computing.cancel, target: ce, after: [press], options: {jobs: 1000}, timeout: 1 min}
faults: [{name: files, at: 3 s, do: limit, files: 8, target: ce.slurmctld, for: 3 s, during: [press]}]
criteria: [{id: A, says: "None is lost that was acknowledged", check: max(press.jobs_lost) == 0}]
"""
"""Two slots are taken for an hour: the controller starts no job while it can open no file."""


@pytest.mark.long
def test_a_limit_of_descriptors_is_one_and_loses_nothing(tmp_path: Path) -> None:
    require_programs(PROGRAMS)
    (tmp_path / "s.yaml").write_text(LIMITED)
    done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path, timeout=200)
    said = done.stdout + done.stderr
    folder = tmp_path / run_folder(done)
    results = json.loads((folder / "results.json").read_text())
    log = (folder / "servers/ce.logs/slurmctld.log").read_text(errors="replace")
    assert NO_FILES in log, said
    rows = duckdb.sql(
        f"SELECT intended, \"end\", outcome FROM '{folder}/operations/*.parquet' "
        "WHERE test = 'press' AND operation = 'submit' ORDER BY 1"
    ).fetchall()
    (fault,) = [each for each in results["events"] if each["kind"] == "fault"]
    begin, end, half = fault["begin"], fault["end"], 500_000_000
    before = [outcome for due, _, outcome in rows if due < begin - half]
    under = [
        outcome == "passed" and ended < end - half for due, ended, outcome in rows if begin + half < due < end - half
    ]
    after = [outcome for due, _, outcome in rows if due > end + 4 * half]
    assert len(before) > 10, said
    assert set(before) == set(after) == {"passed"}, said
    assert len(under) > 10, said
    assert not any(under), "it answers nobody before it has descriptors again"
    assert [each["verdict"] for each in results["criteria"]] == ["met"], said
    assert results["run"].get("fault_problems") == [], said
