"""The audit that every batch target has: names first, then the ids of what bears none of them."""

from collections.abc import Sequence

from pileup.model.suite import Credentials
from pileup.plugin.batch import Claim, Fate, Job, JobState
from tests.unit.plugin.test_batch_plugin import Modest


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
