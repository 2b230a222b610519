"""A batch system that crashes, answers too late and refuses: the audit's totals are those of the system's own log."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pileup.cli.verify import findings
from pileup.plugin.batch import JobSpec, JobState
from pileup.record import RunFolder
from tests.manifests import plain
from tests.servers.practice_batch import RunningBatch, TrueJob, practice_batch, truth
from tests.support import pileup, run_folder

pytestmark = pytest.mark.long

LATE = {"kind": "ghost", "methods": ["POST"], "paths": ["/jobs"], "share": 0.1}
SUITE: dict[str, Any] = {
    "pileup": 1,
    "title": "audit",
    "targets": {
        "ce": {
            "kind": "practice-batch",
            "launch": {
                "slots": 30,
                "cycle": "100 ms",
                "checkpoint": "2 s",
                "reuse_ids": True,
                "failing": 0.05,
                "faults": [LATE],
            },
            "options": {"patience": "300 ms"},
        }
    },
    "tests": [
        {
            "name": "submit",
            "use": "computing.submit",
            "target": "ce",
            "options": {"duration": {"uniform": ["200 ms", "3 s"]}},
            "load": {"rate": "40 /s", "clients": 20, "for": "5 s"},
        },
        {"name": "poll", "use": "computing.poll", "target": "ce", "with": ["submit"], "load": {"every": "500 ms"}},
    ],
    "cooldown": {"at_most": "4 s"},
    "faults": [{"name": "crash", "at": "3 s", "do": "kill", "target": "ce", "for": "500 ms"}],
    "criteria": [
        {"id": "M", "says": "A crash loses no job", "check": "max(submit.jobs_lost) == 0", "coverage": "partial"},
        {
            "id": "M2",
            "says": "Nor when the crash is over",
            "check": "max(fault.jobs_lost[fault=crash,test=submit]) == 0",
        },
        {
            "id": "L",
            "says": "Few submissions are lost",
            "check": "last(submit.lost_share) < 100 %",
            "remark": "no reboot",
        },
        {"id": "K", "says": "Any number of users", "coverage": "none", "remark": "there is one user"},
    ],
}
"""It is killed once; what it has not written down by then is forgotten, and its ids are given again. A tenth of the
answers never comes. All jobs are over at the end, so that the log tells the same later."""


class Done:
    """A run that is over, with what its system has written into its own log."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.record = RunFolder.open(folder)
        (journal,) = folder.rglob("jobs.csv")
        self.true: dict[str, list[TrueJob]] = {}
        for job in truth(journal):
            self.true.setdefault(job.name, []).append(job)
        self.results = json.loads((folder / "results.json").read_text())

    def fate(self, name: str, id_: str, at: int | None = None) -> str:
        """What became of a submission, by the log alone, until then (ns since the epoch); None: until the end.

        The accounting remembers what had ended before the crash.
        """
        known = [job for job in self.true.get(name, []) if job.times["ended"] or not job.times["lost"]]
        if known:
            over = 0 < known[0].times["ended"] <= (at or known[0].times["ended"])
            return "ran twice" if len(known) > 1 else "ran once" if over else "still there"
        if not id_:
            return "never"
        others = [job for jobs in self.true.values() for job in jobs if job.id == id_ and not job.times["lost"]]
        return "id used again" if others else "lost"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    here = tmp_path_factory.mktemp("audit")
    (here / "suite.yaml").write_text(json.dumps(SUITE))
    return Done(here / run_folder(pileup("run", "suite.yaml", "--quiet", cwd=here, drawn=True)))


def test_every_fate_is_that_of_the_systems_own_log(done: Done) -> None:
    claims = {claim.name: claim.id for claim in done.record.claims()}
    told = plain(done.record)["audits"][-1]
    assert (told["fault"], told["problem"], told["looked"]) == (-1, "", len(claims))
    found = {each.claim.name: each.fate for each in done.record.findings() if each.audit == told["number"]}
    # a submission that was answered too late may still run when the audit begins
    true = {name: {done.fate(name, id_, at) for at in (told["begin"], told["end"])} for name, id_ in claims.items()}
    assert {name: fate for name, fate in found.items() if fate not in true[name]} == {}
    assert found.keys() == claims.keys()
    totals = Counter(found.values())
    (audit,) = [each for each in done.results["audits"] if each["fault"] == -1]
    assert {fate: count for fate, count in audit["fates"].items() if count} == totals
    assert totals["id used again"] > 0, "the crash has lost jobs, and their ids were given again"
    ghosts = {name for name, id_ in claims.items() if not id_ and found[name] != "never"}
    assert audit["ghosts"] == len(ghosts) > 0
    assert audit["acknowledged"] == sum(map(bool, claims.values()))
    lost = (totals["lost"] + totals["id used again"]) / audit["acknowledged"]
    assert audit["lost_share"]["value"] == lost
    assert audit["lost_share"]["interval"]["low"] < lost < audit["lost_share"]["interval"]["high"]


def test_nothing_that_reached_the_system_went_unclaimed(done: Done) -> None:
    assert set(done.true) <= {claim.name for claim in done.record.claims()}


def test_examples_are_named(done: Done) -> None:
    audit = done.results["audits"][-1]
    named = [each for each in audit["bad"] if each["fate"] in ("lost", "id used again")]
    assert len(named) == min(20, audit["fates"]["lost"]) + min(20, audit["fates"]["id used again"])
    assert all(done.fate(each["name"], each["id"]) == each["fate"] for each in named)
    said = pileup("show", str(done.folder), cwd=done.folder).stdout
    assert named[0]["name"] in said
    assert named[0]["name"] in (done.folder / "report.html").read_text()


def test_the_fault_has_an_audit_of_its_own(done: Done) -> None:
    first, last = done.results["audits"]
    assert (first["fault"], first["load"], last["fault"]) == (0, "submit", -1)
    assert first["time"] < last["time"]
    assert 0 < first["claims"] < last["claims"]
    assert first["problem"] == ""
    assert first["fates"]["lost"] + first["fates"]["id used again"] > 0


def test_criteria_are_judged_by_the_audit(done: Done) -> None:
    verdicts = {each["id"]: each["verdict"] for each in done.results["criteria"]}
    lost = done.results["audits"][-1]["fates"]["lost"] > 0
    assert verdicts["M"] == ("not met" if lost else "met")
    assert verdicts["M2"] == ("not met" if done.results["audits"][0]["fates"]["lost"] else "met")
    assert (verdicts["L"], verdicts["K"]) == ("met", "not covered")
    remarks = [each["remark"] for each in done.results["criteria"]]
    assert remarks == ["", "", "no reboot", "there is one user"]


def test_jobs_by_final_state_are_those_of_the_log(done: Done) -> None:
    (jobs,) = done.results["jobs"]
    with done.record.operations().connect() as table:
        ended = table.execute(
            "SELECT key, outcome FROM operations WHERE operation = 'job' AND outcome IN ('passed', 'failed')"
        ).fetchall()
    states = Counter("completed" if outcome == "passed" else "failed" for _, outcome in ended)
    assert {state: jobs["states"].get(state, 0) for state in ("completed", "failed")} == {
        state: states[state] for state in ("completed", "failed")
    }
    for name, outcome in ended:
        states_of = {job.state for job in done.true[name]}
        assert ("completed" if outcome == "passed" else "failed") in states_of
    assert sum(reason["count"] for reason in jobs["reasons"]) == states["failed"]
    assert jobs["failed"]["n"] == states.total()


def test_the_record_is_whole_and_its_tables_are_exported(done: Done) -> None:
    assert list(findings(done.record)) == []
    said = pileup("export", str(done.folder), "--to", "csv", "--out", "csv", cwd=done.folder)
    assert said.returncode == 0, said.stderr
    lines = {name: (done.folder / "csv" / f"{name}.csv").read_text().splitlines() for name in ("claims", "findings")}
    assert len(lines["claims"]) - 1 == sum(1 for _ in done.record.claims())
    assert len(lines["findings"]) - 1 == sum(1 for _ in done.record.findings())


LEFT: dict[str, Any] = {
    "pileup": 1,
    "title": "left",
    "targets": {"ce": {"kind": "practice-batch", "url": "URL"}},
    "tests": [
        {
            "name": "submit",
            "use": "computing.submit",
            "target": "ce",
            "options": {"duration": "1 h"},
            "load": {"rate": "50 /s", "for": "1 min"},
        }
    ],
}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[RunningBatch]:
    """A system that is not pileup's own, with a job of somebody else, and a suite that presses it."""
    with practice_batch(tmp_path, slots=10, cycle="50 ms") as batch:
        theirs = strange_job(batch)
        text = json.dumps({**LEFT, "targets": {"ce": {"kind": "practice-batch", "url": batch.target.url}}})
        (tmp_path / "suite.yaml").write_text(text)
        yield batch
        assert batch.target.status(names=["theirs"])[0].id == theirs


def strange_job(batch: RunningBatch) -> str:
    """Submit a job that no run knows of."""
    (taken,) = batch.target.submit([JobSpec("theirs", 3600 * 10**9)])
    return taken.id


def begun(here: Path, batch: RunningBatch, most: int) -> "subprocess.Popen[str]":
    """Begin a run and wait until it has submitted so many jobs."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pileup", "run", "suite.yaml", "--quiet", "--out", "runs"],
        cwd=here,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    end = time.monotonic() + 60
    while sum(batch.target.counts().values()) < most:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < end, "the load does not begin"
        time.sleep(0.05)
    return process


def going(batch: RunningBatch) -> int:
    counts = batch.target.counts()
    return counts.get(JobState.QUEUED, 0) + counts.get(JobState.RUNNING, 0)


def test_clean_cancels_what_a_killed_run_has_left(tmp_path: Path, site: RunningBatch) -> None:
    process = begun(tmp_path, site, 120)
    process.kill()
    process.communicate(timeout=10)
    (run,) = (tmp_path / "runs").iterdir()
    submitted = {job.name for job in truth(site.journal)} if site.journal.exists() else set()
    claimed = {claim.name for claim in RunFolder.open(run).claims()}
    assert claimed, "what was claimed each second outlives the kill"
    assert going(site) - 1 >= len(claimed), "the last second may not have been claimed"
    planned = pileup("clean", str(run), "--dry-run", cwd=tmp_path)
    assert "jobs that submit has left on target ce are cancelled" in planned.stdout
    cleaned = pileup("clean", str(run), cwd=tmp_path)
    assert cleaned.returncode == 0, cleaned.stdout + cleaned.stderr
    assert going(site) == 1, f"only the job of somebody else; the log knew {len(submitted)}"
    assert "nothing to clean up" in pileup("clean", str(run), cwd=tmp_path).stdout


def test_a_stopped_run_audits_and_leaves_its_jobs_to_clean(tmp_path: Path, site: RunningBatch) -> None:
    process = begun(tmp_path, site, 60)
    os.kill(process.pid, signal.SIGINT)
    said = process.communicate(timeout=60)[0]
    assert process.returncode == 6, said
    (run,) = (tmp_path / "runs").iterdir()
    record = RunFolder.open(run)
    (told,) = plain(record)["audits"]
    assert (told["problem"], told["looked"]) == ("", sum(1 for _ in record.claims()))
    assert {each.fate for each in record.findings()} == {"still there"}
    assert pileup("clean", str(run), cwd=tmp_path).returncode == 0
    assert going(site) == 1


def test_resume_audits_the_submissions_of_all_sessions(tmp_path: Path, site: RunningBatch) -> None:
    suite = json.loads((tmp_path / "suite.yaml").read_text())
    suite["tests"][0]["options"]["duration"] = "0 s"
    suite["tests"][0]["load"]["for"] = "3 s"
    (tmp_path / "suite.yaml").write_text(json.dumps(suite))
    process = begun(tmp_path, site, 60)
    process.kill()
    process.communicate(timeout=10)
    (run,) = (tmp_path / "runs").iterdir()
    before = sum(1 for _ in RunFolder.open(run).claims())
    resumed = pileup("resume", str(run), "--quiet", cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    record = RunFolder.open(run)
    (told,) = plain(record)["audits"]
    assert told["looked"] == sum(1 for _ in record.claims()) >= before + 150
    assert pileup("clean", str(run), cwd=tmp_path).returncode == 0  # the last ones may have been in the queue
    assert list(findings(record)) == []
