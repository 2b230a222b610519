"""The guard rails of a run: what was moved so far against the suite's limits."""

from __future__ import annotations

from pileup.model.record import Frame
from pileup.model.suite import Limits
from pileup.model.units import format_count, format_size, format_time


class Guard:
    """Adds frames up and says which limit is passed."""

    def __init__(self, limits: Limits, began: int) -> None:
        self._limits = limits
        self._began = began
        self._bytes = 0
        self._operations = 0

    @property
    def operations_left(self) -> int | None:
        """Operations that may still be made; None without a limit."""
        limit = self._limits.operations
        return None if limit is None else max(0, limit - self._operations)

    def take(self, frame: Frame) -> None:
        """Count what a frame tells."""
        iterations = [row for row in frame.rows if row.iteration]
        self._bytes += sum(row.bytes for row in iterations)
        inner = [row for row in frame.rows if not row.iteration] or iterations
        self._operations += sum(
            row.passed + row.failed + row.refused + row.ambiguous + row.unfinished + row.lost for row in inner
        )

    def passed(self, moment: int) -> str:
        """Return which limit is reached at `moment` (ns since the epoch), empty when none is."""
        limits = self._limits
        if limits.bytes is not None and self._bytes >= limits.bytes:
            return f"{format_size(self._bytes)} moved, the limit is {format_size(limits.bytes)}"
        if limits.operations is not None and self._operations >= limits.operations:
            return f"{format_count(self._operations)} operations, the limit is {format_count(limits.operations)}"
        if limits.duration is not None and moment - self._began >= limits.duration:
            return f"{format_time(moment - self._began)} gone, the limit is {format_time(limits.duration)}"
        return ""
