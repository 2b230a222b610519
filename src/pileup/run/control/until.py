"""Ends the repeats of a study once a figure is precise."""

from __future__ import annotations

import math
from dataclasses import replace

from pileup.model import check as checks
from pileup.model.manifest import UntilEntry
from pileup.model.plan import Plan
from pileup.model.precision import Until
from pileup.model.record import Frame
from pileup.model.units import format_fraction
from pileup.record import Position, RunFolder
from pileup.run.manifest import ManifestWriter
from pileup.stats.intervals.precision import Repeats


class PrecisionWatch:
    """Asked after each repeat whether to stop. Its findings are in run.json under `until`.

    It must be precise in two repeats in a row: stopping at the first time would happen too often when the values so far
    are close together by chance, and the interval would then contain the truth in 92 of 100 cases instead of 94 or 95.
    """

    def __init__(self, plan: Plan, until: Until, folder: RunFolder, manifest: ManifestWriter) -> None:
        self._plan, self._until, self._folder, self._manifest = plan, until, folder, manifest
        self._void = set(manifest.run.void)
        self._tell(UntilEntry(until.figure, until.within, until.at_least))
        names = tuple(test.name for test in plan.suite.tests)
        self._repeats = Repeats(until.check, checks.resolve(until.check, names, ()))
        self._position: Position | None = None
        self._seen = 0
        self._was = False

    def enough(self, repeat: int) -> str:
        """Return why no more repeats are needed after this one, in words; empty when they are."""
        if repeat < self._until.at_least - 1:
            return ""
        self._look(repeat)
        worst = self._repeats.worst()
        precise = worst.half <= self._until.within
        reached = precise and self._was and worst.n >= self._until.at_least
        self._was = precise
        half = worst.half if math.isfinite(worst.half) else None
        asked = self._until
        known = UntilEntry(asked.figure, asked.within, asked.at_least, repeat, half, reached, dict(worst.point))
        self._tell(known)
        if not reached:
            return ""
        return f"{self._until.figure} is known within {format_fraction(worst.half)} after {repeat} repeats"

    def _tell(self, known: UntilEntry) -> None:
        self._manifest.update(lambda run: replace(run, until=known))

    def _look(self, repeat: int) -> None:
        """Add the figures of the repeats since the last call."""
        done = {case.id for case in self._plan.cases if self._seen < case.repeat <= repeat}
        frames: dict[int, list[Frame]] = {}
        newest, self._position = self._folder.tail_frames(self._position)
        for frame in newest:
            if frame.case in done and (frame.case, frame.place) not in self._void:
                frames.setdefault(frame.case, []).append(frame)
        self._repeats.take(self._folder, self._manifest.run, frames)
        self._seen = repeat
