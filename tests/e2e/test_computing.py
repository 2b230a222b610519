"""Whole suites of jobs on the practice batch system, whose journal is the truth: roles, credentials, purges, ghosts."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pileup.model.errors import Refused
from pileup.plugin.batch import JobSpec
from pileup.record import RunFolder
from tests.servers.practice_batch import TrueJob, practice_batch, truth
from tests.support import pileup, run_folder

GHOSTS = """
pileup: 1
title: Ghosts
targets:
  ce:
    kind: practice-batch
    options: {patience: 250 ms}
    launch:
      slots: 50
      cycle: 100 ms
      seed: 11
      faults:
        - {kind: ghost, methods: [POST], paths: [/jobs], share: 20 %}
        - {kind: ghost, methods: [POST], paths: [/jobs], share: 20 %, for: 500 ms}
        - {kind: stall, methods: [POST], paths: [/jobs], share: 10 %, for: 500 ms}
tests:
  - name: submit
    use: computing.submit
    target: ce
    options: {duration: 50 ms, batch: 2}
    load: {times: 80, clients: 8}
    fail_when: never
  - {name: poll, use: computing.poll, target: ce, with: [submit], load: {every: 200 ms}}
  - {name: drain, use: computing.poll, target: ce, after: [submit], options: {drain: true, interval: 100 ms}}
criteria:
  - {id: C1, says: "Nothing that was acknowledged is lost", check: max(submit.jobs_lost) == 0}
  - {id: C2, says: "Nothing runs twice", check: max(submit.jobs_twice) == 0}
  - {id: C3, says: "Every job that was acknowledged ended", check: count(submit.job.unfinished) == 0}
"""

ROLES = """
pileup: 1
title: Roles
variables: {minute: 50 ms, slots: 40, duration: = 4 * $minute}
targets:
  ce: {kind: practice-batch, launch: {slots: $slots, cycle: $minute, users: [user1, user2, user3], delegate_cost: 2 ms}}
tests:
  - name: submit
    use: computing.submit
    target: ce
    options: {duration: {uniform: [= $duration / 2, = 1.5 * $duration]}, users: 3, delegation: shared, lifetime: 30 s}
    load: {clients: 3, for: = 60 * $minute, think: = $minute / 2}
  - name: each
    use: computing.submit
    target: ce
    with: [submit]
    options: {duration: $duration, users: 3, delegation: per-job}
    load: {every: = 5 * $minute}
  - {name: poll, use: computing.poll, target: ce, with: [submit], options: {keep: true}, load: {every: $minute}}
  - {name: watch, use: computing.watch, target: ce, with: [submit], options: {jobs: 5}, load: {every: = 2 * $minute}}
  - name: newcomers
    use: computing.delegate
    target: ce
    with: [submit]
    options: {newcomers: true}
    load: {every: = 10 * $minute}
  - {name: renew, use: computing.renew, target: ce, with: [submit], load: {every: = 12 * $minute}}
  - name: cancel
    use: computing.cancel
    target: ce
    with: [submit]
    options: {which: random}
    load: {every: = 10 * $minute}
  - {name: drain, use: computing.poll, target: ce, after: [submit], options: {drain: true, keep: true, interval: 50 ms}}
  - {name: purge, use: computing.purge, target: ce, after: [drain]}
criteria:
  - {id: C1, says: "Nothing is refused, fails or stays without an answer", check: fraction(submit.failed) == 0}
  - {id: C2, says: "Whoever is new is served", check: count(newcomers.delegate.passed) > 0}
  - {id: C3, says: "Credentials are renewed", check: max(renew.renewed) >= 3}
  - {id: C4, says: "Each job was there", check: max(submit.jobs_lost) == 0}
"""

NEWCOMERS = """
pileup: 1
title: Newcomers
targets: {ce: {kind: practice-batch, url: "URL"}}
tests: [{name: newcomers, use: computing.delegate, target: ce, options: {newcomers: true}, load: {times: 3}}]
"""


def run(tmp_path: Path, suite: str, code: int = 0) -> tuple[Path, dict[str, Any]]:
    """Run a suite; return its folder and its results."""
    (tmp_path / "suite.yaml").write_text(suite)
    done = pileup("run", "suite.yaml", "--quiet", cwd=tmp_path)
    assert done.returncode == code, done.stdout + done.stderr
    folder = tmp_path / run_folder(done)
    return folder, json.loads((folder / "results.json").read_text())


def journal(folder: Path) -> list[TrueJob]:
    (path,) = folder.rglob("jobs.csv")
    return truth(path)


def counts(results: dict[str, Any], case: str) -> dict[str, dict[str, int]]:
    """Operation -> outcome -> count of one case."""
    (found,) = (each for each in results["cases"] if each["name"] == case)
    return {each["operation"]: each["counts"] for each in found["operations"]}


@pytest.mark.long
def test_the_audit_finds_every_ghost(tmp_path: Path) -> None:
    folder, results = run(tmp_path, GHOSTS)
    true = {job.name for job in journal(folder)}
    claims = [claim for claim in RunFolder.open(folder).claims() if claim.what == "job"]
    unanswered = {claim.name for claim in claims if not claim.id}
    assert len(claims) == 160
    assert true <= {claim.name for claim in claims}
    assert len(unanswered & true) >= 20, "the target finished the work of requests that timed out"
    (audit,) = results["audits"]
    assert audit["ghosts"] == len(unanswered & true)
    assert audit["fates"]["never"] == len(unanswered - true)
    assert audit["fates"]["ran once"] == len(true)
    assert audit["looked"] == 160
    found = {row.claim.name for row in RunFolder.open(folder).findings() if row.found}
    assert found >= unanswered & true


@pytest.mark.long
def test_roles_work_beside_each_other_and_leave_an_empty_queue(tmp_path: Path) -> None:
    folder, results = run(tmp_path, ROLES)
    jobs = journal(folder)
    states = Counter(job.state for job in jobs)
    assert set(states) == {"completed", "cancelled"}
    assert all(job.times["purged"] for job in jobs), "watch and purge took all of them out"
    assert counts(results, "cancel")["cancel"]["passed"] >= states["cancelled"] > 0
    assert counts(results, "each")["delegate"]["passed"] == counts(results, "each")["submit"]["passed"] > 3
    assert counts(results, "newcomers")["introduce"]["passed"] > 3
    assert counts(results, "watch")["purge"]["passed"] > 0
    assert counts(results, "renew")["renew"]["failed"] == 0
    assert not results["errors"] or {error["message"] for error in results["errors"]} == {"cancelled"}
    ended = counts(results, "submit")["job"]["passed"] + counts(results, "each")["job"]["passed"]
    assert ended == states["completed"]


@pytest.mark.long
def test_finished_jobs_are_purged_while_the_service_is_watched(tmp_path: Path) -> None:
    small = ("--set", "jobs=6000", "--set", "batch=500", "--set", "page=10")  # pages that take long enough to be seen
    done = pileup("run", "suite:purge", "--quiet", *small, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path / run_folder(done)
    jobs = journal(folder)
    assert len(jobs) == 6000
    assert all(job.times["purged"] for job in jobs)
    results = json.loads((folder / "results.json").read_text())
    assert {each["id"]: each["verdict"] for each in results["criteria"]}["C1"] == "met"
    assert counts(results, "purge")["purge"]["passed"] == 600
    assert any((series["monitor"], series["metric"]) == ("service", "cpu") for series in results["series"])


def test_credentials_left_on_a_system_of_others_are_taken_back(tmp_path: Path) -> None:
    with practice_batch(tmp_path, slots=0) as batch:
        folder, _ = run(tmp_path, NEWCOMERS.replace("URL", batch.target.url))
        handed = [claim for claim in RunFolder.open(folder).claims() if claim.what == "delegation"]
        jobs = [JobSpec(f"job-{claim.id}", user=claim.name, delegation=claim.id) for claim in handed]
        assert len(batch.target.submit(jobs)) == 3
        cleaned = pileup("clean", str(folder), cwd=tmp_path)
        assert cleaned.returncode == 0, cleaned.stderr
        assert "delegations that newcomers has left on target ce are revoked" in cleaned.stdout
        again = pileup("clean", str(folder), cwd=tmp_path)
        assert "nothing to clean up" in again.stdout
        for job in jobs:
            with pytest.raises(Refused, match=f"there is no delegation {job.delegation}"):
                batch.target.submit([job])
