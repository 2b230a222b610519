"""Settings of the practice computing element: the keys of `launch` for the kind practice-element."""

from __future__ import annotations

from pydantic import Field

from pileup.builtin.database.settings import DatabaseSettings
from pileup.plugin import Count, Duration

SECOND = 10**9


class ElementSettings(DatabaseSettings):
    """Settings of the practice computing element, of its MariaDB, and of the practice batch system behind it.

    At each start its tables are made again, with the same rows.
    """

    rows: Count = Field(50_000, ge=0, le=10_000_000, description="jobs in its database before the first one comes")
    index: bool = Field(True, description="whether its table extra_attribute has an index on the id of the job")
    workers: Count = Field(5, ge=1, le=100, description="threads that hand jobs over to the batch system")
    slots: Count = Field(500, ge=1, le=1_000_000, description="jobs that run at the same time")
    cycle: Duration = Field(SECOND, ge=0, description="how often the batch system looks for jobs to start")
    look: Duration = Field(
        200 * 10**6, gt=0, description="how often the element asks the batch system what became of its jobs"
    )
