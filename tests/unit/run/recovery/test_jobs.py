"""Jobs that a crash left on a system that is not pileup's own: found by name, cancelled, and never anybody else's."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pileup.model.manifest import TargetEntry
from pileup.model.record import ClaimRow, Frame
from pileup.plugin.batch import Job, JobState
from pileup.record import RunFolder
from pileup.run.manifest_start import first_manifest
from pileup.run.recovery import jobs
from pileup.run.recovery.intents import open_intents
from pileup.run.recovery.ownership import Trust
from pileup.run.recovery.undo import mend, would_mend
from pileup.run.recovery.undo_kinds import Context, UndoReach
from pileup.suite import load
from tests.unit.run.batch_bank import Bank

SUITE = """
pileup: 1
title: left
targets:
  ce: {kind: practice-batch, url: "http://127.0.0.1:9/"}
tests:
  - {name: submit, use: computing.submit, target: ce, options: {batch: BATCH}, load: {rate: 5 /s, for: 10 s}}
"""
STAMP = "0123456789"
TRUSTED = Trust(None, given=True)


class Crashed:
    """The folder of a run that crashed with so many iterations in its frames, and the bank that it submitted to."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch, started: int = 3, batch: int = 1) -> None:
        (path / "suite.yaml").write_text(SUITE.replace("BATCH", str(batch)))
        self.bank = Bank()
        self.folder = RunFolder.create(path / "runs", "left", 0)
        info = first_manifest(load(path / "suite.yaml"), 1)
        self.folder.save(replace(info, targets=(TargetEntry("ce", private=False),)))
        self.folder.append_frame(Frame(1, 10**9, 0, 1, 3, started, 0, 0, 1, 0, b"", ()))
        monkeypatch.setattr(Context, "target", lambda _self, _name: self.bank)
        monkeypatch.setattr(jobs, "LEAST", 2)

    def intent(self, **more: Any) -> None:
        told = {"case": "submit", "target": "ce", "stamp": STAMP, "cleanup": "always", **more}
        self.folder.journal("jobs", "made", **told)

    def open(self) -> list[str]:
        return [intent.what for intent in open_intents(self.folder)]


@pytest.fixture
def crashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Crashed]:
    made = Crashed(tmp_path, monkeypatch)
    yield made
    made.folder.close()


def job(name: str, id_: str, state: JobState = JobState.QUEUED) -> Job:
    return Job(name, id_, state)


def test_jobs_are_found_by_name_though_nobody_claimed_them(crashed: Crashed) -> None:
    crashed.bank.queue = [
        job(f"pileup-{STAMP}-0", "1", JobState.COMPLETED),
        job(f"pileup-{STAMP}-1", "2", JobState.RUNNING),
        job(f"pileup-{STAMP}-4", "3"),
        job("pileup-ffffffffff-1", "4"),
        job("theirs", "5"),
    ]
    crashed.folder.append_claims([ClaimRow(1, 1, "submit", "ce", f"pileup-{STAMP}-1", "5")])
    crashed.intent()
    assert would_mend(crashed.folder, TRUSTED, UndoReach.ALL) == [
        "jobs that submit has left on target ce are cancelled"
    ]
    assert crashed.bank.cancelled == []
    assert [each.problem for each in mend(crashed.folder, TRUSTED, UndoReach.ALL)] == [""]
    assert crashed.bank.cancelled == ["2", "3"], "the id of a claim may be another's job by now"
    assert crashed.open() == []
    assert mend(crashed.folder, TRUSTED, UndoReach.ALL) == []


def test_every_job_of_a_batch_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crashed = Crashed(tmp_path, monkeypatch, started=1, batch=4)
    crashed.bank.queue = [job(f"pileup-{STAMP}-0.{place}", str(place)) for place in range(4)]
    crashed.intent()
    mend(crashed.folder, TRUSTED, UndoReach.ALL)
    assert crashed.bank.cancelled == ["0", "1", "2", "3"]
    crashed.folder.close()


def test_the_next_start_leaves_jobs_alone(crashed: Crashed) -> None:
    crashed.bank.queue = [job(f"pileup-{STAMP}-0", "1")]
    crashed.intent()
    assert mend(crashed.folder, TRUSTED, UndoReach.SETTINGS) == []
    assert crashed.bank.cancelled == []
    assert crashed.open() == ["jobs"]


def test_jobs_that_the_suite_keeps_are_kept(crashed: Crashed) -> None:
    crashed.bank.queue = [job(f"pileup-{STAMP}-0", "1")]
    crashed.intent(cleanup="never")
    assert mend(crashed.folder, TRUSTED, UndoReach.ALL) == []
    assert (crashed.bank.cancelled, crashed.open()) == ([], [])


def test_a_job_that_cannot_be_cancelled_stays_open(crashed: Crashed) -> None:
    crashed.bank.queue = [job(f"pileup-{STAMP}-0", "1"), job(f"pileup-{STAMP}-1", "2")]
    crashed.bank.stubborn = {"2"}
    crashed.intent()
    (mended,) = mend(crashed.folder, TRUSTED, UndoReach.ALL)
    assert "1 jobs could not be cancelled" in mended.problem
    assert (crashed.bank.cancelled, crashed.open()) == (["1"], ["jobs"])
    crashed.bank.stubborn = set()
    assert [each.problem for each in mend(crashed.folder, TRUSTED, UndoReach.ALL)] == [""]
    assert crashed.open() == []


@pytest.mark.parametrize("change", [{"stamp": "../etc"}, {"case": "nobody"}])
def test_a_journal_that_was_changed_does_no_harm(crashed: Crashed, change: dict[str, str]) -> None:
    crashed.bank.queue = [job(f"pileup-{STAMP}-0", "1")]
    crashed.intent(**change)
    (mended,) = mend(crashed.folder, TRUSTED, UndoReach.ALL)
    assert "the journal has no load with jobs" in mended.problem
    assert crashed.bank.cancelled == []
