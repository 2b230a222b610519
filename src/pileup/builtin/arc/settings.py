"""Settings of a private computing element: the keys of `launch` for the kind arc."""

from __future__ import annotations

from pydantic import Field

from pileup.builtin.slurm.settings import SECOND, SlurmSettings
from pileup.plugin import Count, Duration


class ArcSettings(SlurmSettings):
    """Settings of a private ARC CE and of the Slurm behind it, whose settings are those of kind `slurm`.

    All daemons run on this machine as one user, who is also the user of all jobs, whoever submitted them.
    """

    users: Count = Field(1, ge=0, le=10_000, description="users beside pileup itself: user1, user2, …")
    scripts: Count = Field(
        8, ge=1, le=1000, description="scripts that hand jobs to Slurm or cancel them at the same time (maxjobs, 5th)"
    )
    wakeup: Duration = Field(
        1 * SECOND, ge=SECOND, description="interval between its checks for work (wakeupperiod), whole seconds"
    )
    information: Duration = Field(
        60 * SECOND,
        ge=SECOND,
        description="pause between two runs of the information provider: what REST says about a job may be this old",
    )
    unfinished: Count | None = Field(
        None,
        ge=1,
        description="most jobs that it works on; others wait as accepted (maxjobs, 1st); default: any number",
    )
    handed_over: Count | None = Field(
        None, ge=1, description="most jobs in Slurm; others wait in the CE (maxjobs, 2nd); default: any number"
    )
    per_user: Count | None = Field(
        None, ge=1, description="most jobs of one user that it works on (maxjobs, 3rd); default: any number"
    )

    def user_names(self) -> list[str]:
        """Return the names of the users: user1, user2 and so on."""
        return [f"user{number}" for number in range(1, self.users + 1)]

    def limits(self) -> str:
        """Return the five numbers of maxjobs. The fourth, all jobs, is never looked at by a REST service of its own."""
        given = (self.unfinished, self.handed_over, self.per_user, None, self.scripts)
        return " ".join(str(-1 if number is None else number) for number in given)
