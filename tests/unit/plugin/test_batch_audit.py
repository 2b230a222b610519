"""The audit that every batch target has: names first, then the ids of what has none of them."""

from collections.abc import Sequence

import pytest

from pileup.model.suite import Credentials
from pileup.plugin.batch import Claim, Fate, Job, JobState, fate_of
from tests.component.plugin.test_batch_plugin import Modest


class Shifty(Modest):
    """A queue that shows a job which is on its way from one list to another by its id alone."""

    jobs = (
        Job("there", "1", JobState.QUEUED),
        Job("on-its-way", "2", JobState.RUNNING),
        Job("somebody-elses", "3", JobState.RUNNING),
    )
    hidden = frozenset({"on-its-way"})

    def status(self, names: Sequence[str] = (), ids: Sequence[str] = ()) -> list[Job]:
        return [job for job in self.jobs if job.id in ids or (job.name in names and job.name not in self.hidden)]

    def history(self, names: Sequence[str]) -> list[Job]:
        return []


def test_a_job_found_by_its_id_under_its_own_name_is_there_and_under_another_name_its_id_was_used_again() -> None:
    claims = [
        Claim("there", "1"),
        Claim("on-its-way", "2"),
        Claim("forgotten", "3"),
        Claim("lost", "4"),
        Claim("never"),
    ]
    found = Shifty("", Credentials()).audit(claims)
    assert [each.fate for each in found] == [Fate.GOING, Fate.GOING, Fate.REUSED, Fate.LOST, Fate.NEVER]
    assert [job.id for job in found[1].jobs] == ["2"]


@pytest.mark.parametrize(
    ("state", "started", "fate"),
    [
        (JobState.CANCELLED, 0, Fate.CANCELLED),
        (JobState.CANCELLED, 5, Fate.ONCE),
        (JobState.FAILED, 0, Fate.ONCE),
        (JobState.RUNNING, 5, Fate.GOING),
    ],
)
def test_a_job_that_was_cancelled_before_it_ran_did_not_run(state: JobState, started: int, fate: Fate) -> None:
    assert fate_of(Claim("a", "1"), [Job("a", "1", state, 1, started, 9)], set()) is fate
