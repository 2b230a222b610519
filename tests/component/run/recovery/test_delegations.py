"""Credentials that a crashed run has left on a system that is not its own are revoked, each once."""

from dataclasses import replace
from pathlib import Path

import pytest

from pileup.builtin.practice.batch import PracticeBatchTarget
from pileup.model.errors import Refused
from pileup.model.manifest import TargetEntry
from pileup.model.record import ClaimRow
from pileup.plugin.batch import BatchTarget, Delegation, JobSpec
from pileup.record import RunFolder
from pileup.run.manifest_start import first_manifest
from pileup.run.recovery.intents import open_intents
from pileup.run.recovery.ownership import Trust
from pileup.run.recovery.undo import mend, would_mend
from pileup.run.recovery.undo_kinds import UndoReach
from pileup.suite import load
from tests.servers.practice_batch import practice_batch

SUITE = """
pileup: 1
title: delegations
targets: {ce: {kind: practice-batch, url: "URL"}}
tests: [{name: newcomers, use: computing.delegate, target: ce}]
"""
TRUSTED = Trust(None, given=True)


def left(tmp_path: Path, target: PracticeBatchTarget, cleanup: str = "always", private: bool = False) -> RunFolder:
    """A run folder as a crash leaves it: three delegations claimed, one of them revoked."""
    (tmp_path / "suite.yaml").write_text(SUITE.replace("URL", target.url))
    plan = load(tmp_path / "suite.yaml")
    folder = RunFolder.create(tmp_path / "runs", "delegations", 0)
    info = first_manifest(plan, 1)
    folder.save(replace(info, targets=(TargetEntry("ce", private=private),)))
    (case,) = plan.cases
    folder.journal("delegations", "made", case=case.name, target="ce", stamp="0123456789", cleanup=cleanup)
    made = [target.delegate(10**12, user) for user in ("a", "b", "c")]
    target.revoke(made[1])
    claims = [ClaimRow(1, case.id, "newcomers", "ce", each.user, each.id, "delegation") for each in made]
    folder.append_claims([*claims, ClaimRow(2, case.id, "newcomers", "ce", "b", made[1].id, "revoked")])
    folder.close()
    return RunFolder.open(folder.path)


def held(target: BatchTarget) -> list[str]:
    """Ids of the delegations, of three, that jobs can be submitted with."""
    found = []
    for number, user in (("1", "a"), ("2", "b"), ("3", "c")):
        try:
            target.submit([JobSpec(f"job-{number}", user=user, delegation=number)])
            found.append(number)
        except Refused:
            pass
    return found


def test_what_was_handed_over_is_taken_back_once(tmp_path: Path) -> None:
    with practice_batch(tmp_path, slots=0) as batch:
        folder = left(tmp_path, batch.target)
        assert held(batch.target) == ["1", "3"]
        told = "delegations that newcomers has left on target ce are revoked"
        assert would_mend(folder, TRUSTED, UndoReach.ALL) == [told]
        assert mend(folder, TRUSTED, UndoReach.SETTINGS) == []
        assert [str(each) for each in mend(folder, TRUSTED, UndoReach.ALL)] == [told]
        assert held(batch.target) == []
        assert mend(folder, TRUSTED, UndoReach.ALL) == []


@pytest.mark.parametrize(("cleanup", "private"), [("never", False), ("always", True)])
def test_what_the_suite_keeps_stays(tmp_path: Path, cleanup: str, private: bool) -> None:
    with practice_batch(tmp_path, slots=0) as batch:
        folder = left(tmp_path, batch.target, cleanup, private)
        assert mend(folder, TRUSTED, UndoReach.ALL) == []
        assert held(batch.target) == ["1", "3"]
        assert open_intents(folder) == []


def test_a_system_that_takes_none_back_lets_them_expire(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with practice_batch(tmp_path, slots=0) as batch:
        folder = left(tmp_path, batch.target)
        monkeypatch.setattr(PracticeBatchTarget, "revoke", BatchTarget.revoke)
        (mended,) = mend(folder, TRUSTED, UndoReach.ALL)
        assert str(mended) == "delegations that newcomers has left on target ce stay until they expire"
        assert open_intents(folder) == []


def test_what_cannot_be_taken_back_stays_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: object, delegation: Delegation) -> None:
        raise Refused(f"{delegation.id} is dear to me")

    with practice_batch(tmp_path, slots=0) as batch:
        folder = left(tmp_path, batch.target)
        monkeypatch.setattr(PracticeBatchTarget, "revoke", refuse)
        (mended,) = mend(folder, TRUSTED, UndoReach.ALL)
        assert "not revoked: 2 delegations, such as 1: 1 is dear to me; expected none (they expire)" in mended.problem
        assert len(open_intents(folder)) == 1
