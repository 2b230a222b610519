"""What a load that replays a record starts: plain numbers, which the record gives."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Starts:
    """What a load replays: the first `count` starts of one case of a record. Times in ns, as they will be due."""

    source: str
    """Run folder or Parquet file."""
    case: str
    """Name of the case there."""
    recorded: int
    """How many starts the case has in the record."""
    count: int
    """How many of these, from the first on, the load has."""
    last: int
    """When the last of them is due, after the begin of the load."""
    measured: int
    """How many are due after the warm-up."""
    settled: int
    """When the first of these is due, after the begin of the load."""

    @property
    def pace(self) -> float:
        """Starts per second in the mean over all, a second at least: for what must be ready at the begin."""
        return self.count / max(self.last / 1e9, 1.0)

    @property
    def asked(self) -> float:
        """Starts per second in the mean over what is measured."""
        time = (self.last - self.settled) / 1e9
        return (self.measured - 1) / time if time > 0 else float(self.measured)
