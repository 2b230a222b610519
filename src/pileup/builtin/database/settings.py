"""Settings of a private database server: the keys of `launch` for the kind database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from pileup.plugin import Count, Duration, Part, Size

Variable = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_.]{0,63}$")]
SECOND = 10**9
POSTGRESQL_LOG = "slow-queries.log"
"""Its log in JSON has the ending .json instead."""


class DatabaseSettings(Part):
    """Settings of a private MariaDB or PostgreSQL server, on a unix socket that only its user can reach.

    Its files are in a temporary folder that is removed with it, and survive restarts.
    """

    server: Literal["mariadb", "postgresql"] = Field("mariadb", description="which server")
    buffer_pool: Size = Field(
        128 << 20, ge=5 << 20, description="memory for data (innodb_buffer_pool_size, shared_buffers)"
    )
    flush: Literal["commit", "second"] = Field(
        "commit",
        description="when its log is on the disk: before each commit is answered, or about each second, so that a "
        "crash loses what was answered in the last one (innodb_flush_log_at_trx_commit 1 or 2, "
        "synchronous_commit on or off)",
    )
    slow_queries: Duration | None = Field(
        None,
        description="log queries that take longer (long_query_time, log_min_duration_statement), for monitor "
        "slow-queries: MariaDB into slow-queries.log, PostgreSQL into slow-queries.json, which end up in its folder "
        "of the run",
    )
    lock_wait_timeout: Duration = Field(
        50 * SECOND,
        ge=SECOND,
        description="how long a statement waits for locks of rows (innodb_lock_wait_timeout in whole seconds, "
        "lock_timeout)",
    )
    connections: Count = Field(151, ge=10, le=100_000, description="most connections at once (max_connections)")
    variables: dict[Variable, str] = Field(
        default_factory=dict,
        description="further settings of the server by their own names, e.g. {sort_buffer_size: 4M}",
    )

    def for_mariadb(self, slow_log: str) -> Iterator[str]:
        """Yield words of its command line; `slow_log` is where that log is."""
        yield f"--innodb-buffer-pool-size={self.buffer_pool}"
        yield f"--innodb-flush-log-at-trx-commit={1 if self.flush == 'commit' else 2}"
        yield f"--innodb-lock-wait-timeout={max(1, round(self.lock_wait_timeout / SECOND))}"
        yield f"--max-connections={self.connections}"
        if self.slow_queries is not None:
            yield from ("--slow-query-log=1", "--log-output=FILE", f"--slow-query-log-file={slow_log}")
            yield f"--long-query-time={self.slow_queries / SECOND:.6f}"
        for name, value in self.variables.items():
            yield f"--{name.replace('_', '-')}={value}"

    def for_postgresql(self) -> Iterator[str]:
        """Yield words of its command line."""
        yield f"shared_buffers={self.buffer_pool >> 10}kB"
        yield f"synchronous_commit={'on' if self.flush == 'commit' else 'off'}"
        yield f"lock_timeout={self.lock_wait_timeout // 10**6}ms"
        yield f"max_connections={self.connections}"
        if self.slow_queries is not None:
            yield f"log_min_duration_statement={self.slow_queries // 10**6}ms"
            yield from (
                "logging_collector=on",
                "log_destination=stderr,jsonlog",
                "log_directory={short}",
                "log_timezone=UTC",
            )
            yield f"log_filename={POSTGRESQL_LOG}"
            yield "log_rotation_age=0"
        for name, value in self.variables.items():
            yield f"{name}={value}"
