"""Stage requests that a crashed run has left at a tape system that is not its own: deleted, and nobody else's."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from pileup.builtin.tape.rest import TapeRestTarget
from pileup.model.errors import NotThere, Refused
from pileup.model.manifest import TargetEntry
from pileup.model.plan import Plan
from pileup.model.record import ClaimRow
from pileup.record import RunFolder
from pileup.run.manifest_start import first_manifest
from pileup.run.recovery import requests
from pileup.run.recovery.intents import open_intents, staying
from pileup.run.recovery.ownership import Trust
from pileup.run.recovery.requests import end_requests
from pileup.run.recovery.undo import mend, would_mend
from pileup.run.recovery.undo_kinds import UndoReach
from pileup.suite import instances, load
from tests.servers.practice_tape import RunningTape, practice_tape

SUITE = """
pileup: 1
title: requests
targets: {tape: {kind: tape-rest, url: "URL"}}
tests: [{name: storm, use: tape.storm, target: tape}]
"""
STAMP = "0123456789"
TRUSTED = Trust(None, given=True)


@dataclass
class Left:
    """What a crash has left: of four requests of the run one was released, and of a fifth no answer came."""

    tape: RunningTape
    plan: Plan
    folder: RunFolder
    made: list[str]

    def there(self) -> list[int]:
        """Status of each request at the system."""
        return [self.tape.ask("GET", f"/api/v1/stage/{each}").status for each in self.made]


def left(
    base: Path, tape: RunningTape, cleanup: str = "always", private: bool = False, unanswered: bool = False
) -> Left:
    (base / "suite.yaml").write_text(SUITE.replace("URL", tape.url))
    plan = load(base / "suite.yaml")
    folder = RunFolder.create(base / "runs", "requests", 0)
    folder.save(replace(first_manifest(plan, 1), targets=(TargetEntry("tape", private=private),)))
    folder.journal("requests", "made", case="storm", target="tape", stamp=STAMP, cleanup=cleanup)
    made = [tape.stage(f"/tape/000000{number}") for number in range(5)]  # the last one is somebody else's
    claims = [(f"{STAMP}-2", "", "released")]  # of another place: it may come first
    claims += [(f"{STAMP}-{number}", id_, "request") for number in range(4) for id_ in ("", made[number])]
    claims += [("9876543210-0", made[4], "request")]
    claims += [(f"{STAMP}-4", "", "request")] if unanswered else []
    folder.append_claims([ClaimRow(1, 1, "storm", "tape", *each) for each in claims])
    folder.close()
    return Left(tape, plan, RunFolder.open(folder.path), made)


def test_what_was_not_released_is_deleted_once(tmp_path: Path) -> None:
    with practice_tape(tmp_path) as tape:
        run = left(tmp_path, tape)
        told = "3 stage requests that storm has left on target tape: deleted"
        assert would_mend(run.folder, TRUSTED, UndoReach.ALL) == [told]
        (refused,) = mend(run.folder, TRUSTED, UndoReach.OWN)
        assert refused.text == told
        assert "the next start executes nothing of a suite; `pileup clean" in refused.problem
        assert run.there() == [200] * 5
        assert [str(each) for each in mend(run.folder, TRUSTED, UndoReach.SETTINGS)] == [told]
        assert run.there() == [404, 404, 200, 404, 200]
        assert mend(run.folder, TRUSTED, UndoReach.ALL) == []
        assert open_intents(run.folder) == []


def test_one_that_is_gone_is_no_problem(tmp_path: Path) -> None:
    with practice_tape(tmp_path) as tape:
        run = left(tmp_path, tape)
        tape.ask("DELETE", f"/api/v1/stage/{run.made[1]}")
        (mended,) = mend(run.folder, TRUSTED, UndoReach.ALL)
        assert not mended.problem
        assert run.there() == [404, 404, 200, 404, 200]


def test_one_without_an_answer_stays_and_is_told(tmp_path: Path) -> None:
    with practice_tape(tmp_path) as tape:
        run = left(tmp_path, tape, unanswered=True)
        (mended,) = mend(run.folder, TRUSTED, UndoReach.ALL)
        said = "1 stage request got no answer: what is there of them has no known id, and stays for its `lifetime`"
        assert str(mended).endswith(f"deleted; but {said}")
        assert staying(run.folder) == [f"stage requests of storm at target tape: {said}"]
        assert open_intents(run.folder) == []


@pytest.mark.parametrize(("cleanup", "private"), [("never", False), ("always", True)])
def test_what_the_suite_keeps_or_what_went_with_its_server_is_left_alone(
    tmp_path: Path, cleanup: str, private: bool
) -> None:
    with practice_tape(tmp_path) as tape:
        run = left(tmp_path, tape, cleanup, private)
        assert mend(run.folder, TRUSTED, UndoReach.ALL) == []
        assert run.there() == [200] * 5
        assert open_intents(run.folder) == []


def test_a_system_that_is_away_leaves_it_open(tmp_path: Path) -> None:
    with practice_tape(tmp_path) as tape:
        run = left(tmp_path, tape)
    (mended,) = mend(run.folder, TRUSTED, UndoReach.ALL)
    assert "not deleted: 3 stage requests of 3: " in mended.problem
    assert [each.what for each in open_intents(run.folder)] == ["requests"]


def test_a_system_that_refuses_some_is_asked_for_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with practice_tape(tmp_path) as tape:
        run = left(tmp_path, tape)
        forget = TapeRestTarget.forget

        def picky(self: TapeRestTarget, request: str) -> None:
            if request == run.made[0]:
                raise Refused("not yours")
            forget(self, request)

        monkeypatch.setattr(TapeRestTarget, "forget", picky)
        (mended,) = mend(run.folder, TRUSTED, UndoReach.ALL)
        assert "not deleted: 1 stage request of 3: not yours" in mended.problem
        assert run.there() == [200, 404, 200, 404, 200]
        monkeypatch.setattr(requests, "MOST_IN_A_ROW", 1)
        (mended,) = mend(run.folder, TRUSTED, UndoReach.ALL)
        assert "not deleted: 3 stage requests of 3: not yours" in mended.problem, "it is not asked again"


def test_at_the_end_of_a_run_its_own_requests_are_deleted(tmp_path: Path) -> None:
    with practice_tape(tmp_path) as tape:
        run = left(tmp_path, tape)
        target = instances.make_target(run.plan, "tape", tape.url)
        asked: list[bool] = []

        def go_on() -> bool:
            asked.append(len(asked) < 1)
            return asked[-1]

        end_requests(run.folder, run.plan, lambda _name: target, go_on)
        assert run.there() == [404, 200, 200, 200, 200]
        (entry,) = [each for each in run.folder.journal_entries() if each.state == "left"]
        assert "not deleted: 2 stage requests of 3: the run was ended at once" in entry.problem
        end_requests(run.folder, run.plan, lambda _name: target, lambda: True)
        assert run.there() == [404, 404, 200, 404, 200]
        assert open_intents(run.folder) == []
        with pytest.raises(NotThere):
            target.forget(run.made[0])  # type: ignore[attr-defined]  # it takes stage requests


def test_a_target_that_is_none_is_told(tmp_path: Path) -> None:
    with practice_tape(tmp_path) as tape:
        run = left(tmp_path, tape)
    end_requests(run.folder, run.plan, lambda _name: None, lambda: True)
    (entry,) = [each for each in run.folder.journal_entries() if each.state == "left"]
    assert "takes no stage requests" in entry.problem
