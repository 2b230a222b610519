"""The guard rails of a run: what was moved so far against the suite's limits."""

from __future__ import annotations

import threading

from pileup.model.plan import Case, Plan
from pileup.model.program import Program
from pileup.model.record import Frame
from pileup.model.suite import Limits
from pileup.model.units import format_count, format_size, format_time
from pileup.plugin import Target
from pileup.run.targets import Targets


class Guard:
    """Adds frames up and says which limit is passed."""

    def __init__(self, limits: Limits, began: int) -> None:
        self._limits = limits
        self._began = began
        self._lock = threading.Lock()
        self._bytes = 0
        self._operations = 0

    @property
    def operations_left(self) -> int | None:
        """Operations that may still be made; None without a limit."""
        limit = self._limits.operations
        return None if limit is None else max(0, limit - self._operations)

    def take(self, frame: Frame) -> None:
        """Count what a frame tells; from any thread."""
        iterations = [row for row in frame.rows if row.iteration]
        inner = [row for row in frame.rows if not row.iteration] or iterations
        ended = (row.passed + row.failed + row.refused + row.ambiguous + row.unfinished + row.lost for row in inner)
        with self._lock:
            self._bytes += sum(row.bytes for row in iterations)
            self._operations += sum(ended)

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


class Rails:
    """Where a run may write and delete."""

    def __init__(self, plan: Plan, targets: Targets) -> None:
        self._plan = plan
        self._targets = targets

    def check(self, case: Case, target: Target | None, *programs: Program | None) -> None:
        """Raise TargetError when a program of a case would leave its place."""

    def guarded(self, target: Target) -> Target:
        """Return the target for Python tests."""
        return target
