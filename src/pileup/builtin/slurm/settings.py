"""Settings of a private Slurm: the keys of `launch` for the kind slurm."""

from __future__ import annotations

import pwd

from pydantic import Field, field_validator, model_validator

from pileup.plugin import Count, Duration, Part

SECOND = 10**9
MILLISECOND = 10**6


class SlurmSettings(Part):
    """Settings of a private Slurm: controller, nodes with many slots, REST, and optionally a database.

    All of it runs on this machine, as one user, who is also the user of the jobs, unless there are `accounts`.
    """

    slots: Count = Field(500, ge=1, le=60_000, description="jobs that run at the same time, all nodes together")
    nodes: Count = Field(1, ge=1, le=64, description="daemons of nodes (slurmd), which share the slots")
    accounting: bool = Field(
        False,
        description="keep the accounting of jobs in a private database (slurmdbd, MariaDB); false: in a file",
    )
    tokens: bool = Field(
        False,
        description="issue and accept tokens (auth/jwt), which `delegate` needs; REST also at a port of 127.0.0.1",
    )
    accounts: tuple[str, ...] = Field(
        (),
        description="users of this machine whose jobs run as them, by tokens of their own (with `tokens: true`); only "
        "if pileup is root, else all of them are one user, as the run then reports",
    )
    max_jobs: Count = Field(20_000, ge=2, le=1_000_000, description="most jobs that it keeps (MaxJobCount)")
    min_job_age: Duration = Field(
        300 * SECOND, ge=2 * SECOND, description="how long it remembers a job that has ended (MinJobAge), whole seconds"
    )
    cycle: Duration = Field(
        500 * MILLISECOND,
        ge=0,
        description="shortest interval between its searches for jobs to start (sched_min_interval)",
    )
    depth: Count = Field(
        600, ge=1, le=1_000_000, description="jobs considered each time (default_queue_depth, bf_max_job_test)"
    )
    defer: bool = Field(True, description="start jobs in these searches alone, not while one is submitted")
    rest_threads: Count = Field(20, ge=1, le=1000, description="threads of slurmrestd")
    buffer_pool: Count = Field(128, ge=8, le=100_000, description="MiB that MariaDB keeps in memory")
    slow_queries: Duration | None = Field(
        None, ge=0, description="let MariaDB log queries that take longer (long_query_time), for monitor slow-queries"
    )
    directives: tuple[str, ...] = Field((), description="further lines of slurm.conf, e.g. [`SlurmdTimeout=20`]")

    @field_validator("directives")
    @classmethod
    def _lines(cls, lines: tuple[str, ...]) -> tuple[str, ...]:
        for line in lines:
            if "\n" in line or "\r" in line:
                raise ValueError("a directive has several lines; expected one line for each")
        return lines

    @field_validator("accounts")
    @classmethod
    def _known(cls, accounts: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse accounts that do not exist here, and root, whose jobs Slurm does not take from anybody else."""
        fit = {known.pw_name for known in pwd.getpwall() if known.pw_uid}
        if strange := [user for user in accounts if user not in fit]:
            raise ValueError(f"{strange[0]!r} is no account of this machine that may run jobs; expected one, not root")
        return accounts

    @model_validator(mode="after")
    def _agree(self) -> SlurmSettings:
        if self.accounts and not self.tokens:
            raise ValueError("accounts without tokens; expected `tokens: true` beside them")
        if self.nodes > self.slots:
            raise ValueError(f"{self.nodes} nodes share {self.slots} slots; expected at least a slot for each")
        if self.slow_queries is not None and not self.accounting:
            raise ValueError("slow_queries is set without a database; expected `accounting: true` beside it")
        return self

    def node_slots(self) -> list[int]:
        """Return how many slots each node has: the same, but for a rest."""
        each, more = divmod(self.slots, self.nodes)
        return [each + (number < more) for number in range(self.nodes)]

    def node_names(self) -> list[str]:
        """Return the names of the nodes, n1 and so on."""
        return [f"n{number}" for number in range(1, self.nodes + 1)]
