"""How precise a figure is over repeats: the interval of its mean over them, at each point."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pileup.model import student
from pileup.model.check import Check, Selected
from pileup.model.manifest import CaseEntry, Manifest
from pileup.model.record import Frame
from pileup.record import RunFolder
from pileup.stats.cases import CaseData
from pileup.stats.frames.window import Window, windows
from pileup.stats.loads.unconfirmed import set_aside
from pileup.stats.verdicts.resolve import of_test

Point = tuple[tuple[str, str], ...]
"""Axis and value as written; empty without a scan."""


@dataclass(frozen=True, slots=True)
class Precision:
    """Half of the 95 % interval of the mean over `n` repeats, as a share of that mean; infinite where unknown."""

    half: float
    n: int
    point: Point = ()


def half_width(values: Sequence[float]) -> float:
    """Return half of the 95 % interval (Student's t) of the mean of values, as a share of that mean.

    Infinite for less than two values and for a mean of zero with values that differ.
    """
    if len(values) < 2:
        return math.inf
    half = student.quantile(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return half / abs(middle) if (middle := statistics.fmean(values)) else (math.inf if half else 0.0)


@dataclass(slots=True)
class Repeats:
    """Values of one figure, taken from each case of its test once it has ended; `check` and `selected` say which."""

    check: Check
    selected: Selected
    _values: dict[Point, list[float]] = field(default_factory=dict)

    def take(self, folder: RunFolder, run: Manifest, frames: Mapping[int, Sequence[Frame]]) -> None:
        """Take the figures of the cases to which the frames belong; what has none is left out.

        `run` is run.json as it is. Raises RecordError when the record cannot be read.
        """
        told = [case for case in run.cases if case.test == self.selected.name and case.id in frames]
        windows = self._windows(folder, told, frames)
        for case in told:
            data = CaseData(case, list(frames[case.id]), windows.get(case.id))
            figure = of_test(self.check, self.selected, [data.part])
            values = self._values.setdefault(tuple(case.point.items()), [])
            if figure.value is not None:
                values.append(figure.value)

    def _windows(
        self, folder: RunFolder, told: Sequence[CaseEntry], frames: Mapping[int, Sequence[Frame]]
    ) -> dict[int, Window]:
        """Return how long each was measured, to the ns: that takes a look at all rows, and only rates need it."""
        if self.check.function != "rate" or not told:
            return {}
        with folder.operations().connect() as connection:
            set_aside(connection, told)
            return windows(connection, told, frames)

    def worst(self) -> Precision:
        """Return the precision at the point where it is least."""
        each = [Precision(half_width(values), len(values), point) for point, values in self._values.items()]
        return max(each, key=lambda found: found.half, default=Precision(math.inf, 0))
