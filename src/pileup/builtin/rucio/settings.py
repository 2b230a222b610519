"""Settings of a private Rucio: the keys of `launch` for the kind rucio."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from pileup.plugin import Count, Duration, Part, Size

SECOND = 10**9
DAY = 86_400 * SECOND
SPARE_CONNECTIONS = 10
"""Of the database, beyond those of the pools: for monitors and for its own."""


class RucioSettings(Part):
    """Settings of a private Rucio: its REST servers, a PostgreSQL behind them, and memcached.

    It has the scopes `pileup` and `pileup.empty`, and two storage elements, PILEUP-1 and PILEUP-2, which nothing is
    behind. Its daemons do not run: nothing is transferred, and what has expired stays in the catalogue.
    """

    python: str | None = Field(
        None,
        description="Python of the virtual environment that has Rucio; default: the one of "
        "/var/cache/pileup/rucio for root, ~/.cache/pileup/rucio for others",
    )
    workers: Count = Field(2, ge=1, le=64, description="processes that answer requests (gunicorn)")
    threads: Count = Field(4, ge=1, le=256, description="requests that each of them answers at once")
    pool: Count = Field(8, ge=1, le=256, description="connections to the database of each process (pool_size)")
    pool_wait: Duration = Field(
        30 * SECOND,
        ge=SECOND,
        description="how long a request waits for one of them before it is refused (pool_timeout, whole seconds)",
    )
    cache: Size = Field(
        64 << 20, ge=0, description="memory of memcached, which Rucio caches tokens and more in; 0: no memcached"
    )
    buffer_pool: Size = Field(128 << 20, ge=5 << 20, description="memory of PostgreSQL for data (shared_buffers)")
    flush: Literal["commit", "second"] = Field(
        "commit", description="when PostgreSQL's log is on the disk (synchronous_commit on or off)"
    )
    token_lifetime: Duration = Field(
        3600 * SECOND, ge=2 * SECOND, le=30 * DAY, description="how long a token is good, from its login on"
    )

    def for_postgresql(self) -> Iterator[str]:
        """Yield settings of PostgreSQL."""
        yield f"shared_buffers={self.buffer_pool >> 10}kB"
        yield f"synchronous_commit={'on' if self.flush == 'commit' else 'off'}"
        yield f"max_connections={self.workers * self.pool + SPARE_CONNECTIONS}"
