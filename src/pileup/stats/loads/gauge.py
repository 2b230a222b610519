"""The current value of a quantity that steers a load: from a test's newest frames, or from a monitor's samples."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from pileup.model.check import Check, Selected
from pileup.model.record import Frame, SampleRow
from pileup.stats.frames.detached import is_ledger
from pileup.stats.frames.totals import recent
from pileup.stats.monitors import whole_series
from pileup.stats.verdicts.resolve import Part, of_test, of_values, to_base

MOST_TOLD = 6
STALE = 3
"""Number of calls after which the newest sample of a monitor is too old."""


@dataclass(slots=True)
class Gauge:
    """Asked at intervals: `look` takes what came since the last time and gives the value, in base units, or None.

    `cases` says whether a case is one of the test that is looked at. `over` is the time before a look, ns, that a
    figure of a test is made of.
    """

    check: Check
    selected: Selected
    cases: Callable[[int], bool]
    over: int
    names: frozenset[str] = frozenset()
    """Under these names samples stand: that of the monitor, or of the cases of a test that reports them."""
    problem: str = ""
    """Why there is no value, if waiting does not help."""
    _frames: deque[Frame] = field(default_factory=deque)
    _last: float | None = None
    _age: int = 0

    def look(self, now: int, frames: Iterable[Frame], samples: Sequence[SampleRow]) -> float | None:
        """Return the current value; None if there is no data for it."""
        if self.selected.kind == "monitor":
            return self._of_samples(samples)
        self._frames.extend(frame for frame in frames if self.cases(frame.case) and not is_ledger(frame))
        while self._frames and self._frames[0].time <= now - self.over:
            self._frames.popleft()
        return of_test(self.check, self.selected, [Part(recent(self._frames))]).value

    def _of_samples(self, samples: Sequence[SampleRow]) -> float | None:
        mine = (row for row in samples if row.monitor in self.names and row.sample.metric == self.selected.metric)
        found = [series for series in whole_series(mine) if series.has(self.selected.labels)]
        if len({series.key for series in found}) > 1:
            told = ", ".join(sorted(f"[{each.labels or f'host={each.host}'}]" for each in found)[:MOST_TOLD])
            self.problem = f"{self.check.test} has {len(found)} such series; choose one by its labels: {told}"
            return None
        self._age = 0 if found else self._age + 1
        if found:
            values, _ = to_base(found[0].between(None, None), found[0].unit)
            self._last = of_values(self.check, values, "").value
        return self._last if self._age < STALE else None


@dataclass(slots=True)
class Count:
    """The same for how many are under way: iterations, or with `ledger` detached operations, over all places."""

    cases: Callable[[int], bool]
    ledger: bool
    problem: str = ""
    _known: dict[tuple[int, int], int] = field(default_factory=dict)

    def look(self, now: int, frames: Iterable[Frame], samples: Sequence[SampleRow]) -> float | None:
        """Return the number by the newest frame of each place."""
        for frame in frames:
            if self.cases(frame.case) and is_ledger(frame) == self.ledger:
                self._known[frame.place, frame.case] = frame.in_flight
        return float(sum(self._known.values()))
