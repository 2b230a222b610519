"""The kind `practice-batch`: how it is started, and that a kill loses what its settings say."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from pileup.builtin.practice.batch import PracticeBatchTarget
from pileup.model.practice import SETTINGS, BatchSettings
from pileup.plugin import Daemon
from pileup.plugin.batch import Claim, Fate, JobSpec, Submission
from pileup.run.servers.supervisor import Supervisor
from tests.servers.practice_batch import truth


def test_the_command_carries_the_settings() -> None:
    settings = {"slots": 8, "submit_cost": {"exponential": "5 ms"}, "port": 4711}
    launcher = PracticeBatchTarget.launcher(settings, Path("/run"))
    assert launcher is not None
    (process,) = launcher.processes
    assert isinstance(process, Daemon)
    assert process.command[-6:] == (
        "--port",
        "4711",
        "--jobs",
        "{folder}/jobs.csv",
        "--log",
        "{folder}/practice-batch{again}.csv",
    )
    assert BatchSettings.model_validate(json.loads(process.environment[SETTINGS])) == BatchSettings.model_validate(
        settings
    )


@pytest.mark.parametrize("settings", [{"slot": 8}, {"loss": "2"}, {"cycle": "8 MB"}, {"rate": 0}])
def test_wrong_settings_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        PracticeBatchTarget.launcher(settings, Path("/run"))


def submit(target: PracticeBatchTarget, *names: str) -> list[Claim]:
    return [Claim(answer.name, answer.id) for answer in target.submit([JobSpec(name, 10**12) for name in names])]


@pytest.mark.long
def test_an_end_in_order_loses_nothing_and_a_kill_what_was_not_made_safe(tmp_path: Path) -> None:
    launcher = PracticeBatchTarget.launcher({"slots": 1, "checkpoint": "1 h", "reuse_ids": True}, tmp_path)
    assert launcher is not None
    supervisor = Supervisor()
    try:
        target = PracticeBatchTarget(supervisor.launch("ce", launcher, tmp_path))
        claims = submit(target, "first", "second")
        target.connections.close()
        supervisor.kill("ce", signal.SIGTERM)
        assert supervisor.restart("ce") == target.url
        claims += submit(target, "third")
        target.connections.close()
        supervisor.kill("ce", signal.SIGKILL)
        assert supervisor.restart("ce") == target.url
        claims += submit(target, "fourth")
        fates = {finding.claim.name: finding.fate for finding in target.audit(claims)}
        target.connections.close()
    finally:
        supervisor.end_all()
    assert fates == {"first": Fate.GOING, "second": Fate.GOING, "third": Fate.REUSED, "fourth": Fate.GOING}
    jobs = truth(tmp_path / "jobs.csv")
    assert [(job.name, job.id, bool(job.times["lost"])) for job in jobs] == [
        ("first", "1", False),
        ("second", "2", False),
        ("third", "3", True),
        ("fourth", "3", False),
    ]


@pytest.mark.long
def test_a_user_has_as_many_jobs_as_a_folder_has_room_for_and_more_after_a_purge(tmp_path: Path) -> None:
    """ext3 allows 31,998 folders in one: a computing element that has one for each job refuses the next."""
    most, page = 31_998, 1_000
    launcher = PracticeBatchTarget.launcher({"slots": 40_000, "cycle": "0 s", "user_limit": most}, tmp_path)
    assert launcher is not None
    supervisor = Supervisor()

    def taken(target: PracticeBatchTarget, begin: int, count: int, user: str) -> list[Submission]:
        return target.submit([JobSpec(f"{user}-{number}", 0, user=user) for number in range(begin, begin + count)])

    try:
        target = PracticeBatchTarget(supervisor.launch("ce", launcher, tmp_path))
        answers = [each for begin in range(0, 32_000, page) for each in taken(target, begin, page, "user1")]
        others = taken(target, 0, 1, "user2")
        purged = target.purge(ids=[answers[0].id])
        again = taken(target, 32_000, 2, "user1")
        target.connections.close()
    finally:
        supervisor.end_all()
    reason = f"limit of {most} jobs of user1 that are not purged"
    assert [each.refused for each in answers] == [""] * most + [reason] * (32_000 - most)
    assert (others[0].refused, purged.count, [each.refused for each in again]) == ("", 1, ["", reason])
