"""Operations of clients joined with those of servers: how much of their time was the server's."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Joined:
    """One kind of operation of clients in the measured time, and what a server's log says of it. Times in ns."""

    test: str
    operation: str
    target: str
    monitor: str
    count: int
    """Operations of clients."""
    matched: int
    """Those of them that the server logged."""
    requests: int
    """Operations of the server that are part of them: redirects and repeats are several of one."""
    took: int
    """Time of those that matched, by the clients."""
    served: int | None
    """The part of it that was the server's; None: not known, the server's times are too coarse (`resolution`)."""
    served_p50: float | None
    """Quantiles of the server's part of an operation; None where they are too few for one, or too coarse."""
    served_p99: float | None
    rest_p50: float | None
    """Quantiles of what is left: network, client, and waiting before the server saw it."""
    rest_p99: float | None
    resolution: int = 0
    """Steps of the clock that the server's times are of; 0: fine enough for any operation."""

    @property
    def share(self) -> float | None:
        """Share of the time that was the server's; None: not known."""
        if self.served is None:
            return None
        return self.served / self.took if self.took else 0.0


@dataclass(frozen=True, slots=True)
class OneSided:
    """Operations that only one side saw."""

    side: str
    """"client": the server has not logged them; "server": no operation of a client is known for them."""
    monitor: str
    name: str
    """Of a client test and operation, of a server the operation."""
    outcome: str
    measured: bool
    """Whether they began in the measured time of a case."""
    count: int
    first: int
    """When the first one began, ns since the epoch."""
    keys: tuple[str, ...]
    """Keys of the first ones."""


@dataclass(frozen=True, slots=True)
class ServerClock:
    """A clock of a server that was off, by which the times of its operations are corrected; ns."""

    monitor: str
    ahead: int
    error: int
