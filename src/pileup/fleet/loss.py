"""What a lost place leaves: rows that are in no frame yet, and iterations that were under way and are lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pileup._core._native import Histogram, now
from pileup.fleet.inflight_file import InflightIteration
from pileup.fleet.order import Order
from pileup.model.errors import RecordError
from pileup.model.record import ITERATION, OUTCOMES, SEPARATOR, Frame, FrameRow, Outcome, Phase
from pileup.record import RunFolder
from pileup.record.operations import ROW, chunks
from pileup.record.tables import Rows, TableReader, TableWriter
from pileup.record.tally import Pressed, Tally, add

DETACHED = "detached"
"""Name of operations of which only their number was known."""
MOST_DUE = 1_000_000
"""Iterations of a lost share that are looked through for what was due; of larger ones nothing is said."""
Key = tuple[str, bool, int]
"""Operation, whether it is an iteration, phase."""
NOTHING = Tally("", False)


def _beyond(all_of: Histogram, told: Histogram) -> bytes:
    """Return the histogram of what is in one and not yet in the other: exact, for both have the same bins."""
    known = dict(zip(*(told.bins()[at] for at in (0, 2)), strict=True))
    left = Histogram()
    for low, _, count in zip(*all_of.bins(), strict=True):
        if (more := count - known.get(low, 0)) > 0:
            left.record(low, more)
    return left.encode() if left.count else b""


def _rest(key: Key, all_of: Tally, told: Tally) -> FrameRow | None:
    """Return what is in one and not in the other; None where that is nothing."""
    sums = {name: max(0, count - told.counts[name]) for name, count in all_of.counts.items()}
    sums |= {"bytes": max(0, all_of.bytes - told.bytes), "calls": max(0, all_of.calls - told.calls)}
    response, service = _beyond(all_of.response, told.response), _beyond(all_of.service, told.service)
    return _row(key, sums, response, service) if any((*sums.values(), response, service)) else None


@dataclass(slots=True)
class PlaceTotals:
    """What the frames of a place have reported about one case."""

    tallies: dict[Key, Tally] = field(default_factory=dict)
    pressed: Pressed = field(default_factory=Pressed)
    detached: int = 0
    phase: int = Phase.MEASURE

    def take(self, frame: Frame) -> None:
        """Add a frame."""
        add(frame, self.tallies, lambda row: (row.operation, row.iteration, row.phase), Tally.of)
        if frame.nanoseconds == 0:
            self.detached = frame.in_flight
        else:
            self.phase = frame.phase
            self.pressed.take(frame)

    def iterations(self) -> int:
        """Return how many iterations were reported, however they ended."""
        return sum(tally.ended for tally in self.tallies.values() if tally.iteration)


class Loss:
    """Follows the frames of one place, so that when it is lost the rest of its account can be made."""

    def __init__(self, folder: RunFolder, place: int) -> None:
        self._folder = folder
        self._place = place
        self._told: dict[int, PlaceTotals] = {}
        self._writer: TableWriter | None = None
        self._rows = 0

    def take(self, frames: Iterable[Frame]) -> None:
        """Add frames that came from the place."""
        for frame in frames:
            self._told.setdefault(frame.case, PlaceTotals()).take(frame)

    def settle(self, case: int) -> None:
        """Forget a case that has ended, unless operations of it are still open there."""
        told = self._told.get(case)
        if told is not None and not told.detached:
            del self._told[case]

    def anything(self, case: int) -> bool:
        """Whether any iteration of a case was ever seen."""
        told = self._told.get(case)
        return told is not None and bool(told.tallies)

    def of(
        self, order: Order, begun: int, share: int | None, underway: Sequence[InflightIteration], reason: str
    ) -> list[Frame]:
        """Return the last frame of a case: rows that were written but in no frame, and lost iterations.

        `underway` is what is known to have been under way. Where nothing is, as many count as lost as the last frame
        had under way: what has begun since nobody knows, what has ended since made room for it. `share` is how many
        iterations were the place's in all, None when there was no such bound.
        """
        told = self._told.setdefault(order.case, PlaceTotals())
        last = told.pressed.time or begun
        rows, ended = self._untold(order.case, told)
        known = [each for each in underway if each.case == order.case]
        if not known:
            count = told.pressed.in_flight if share is None else min(told.pressed.in_flight, max(0, share - ended))
            known = [InflightIteration(0, last, last, order.case, 0)] * count
        name = next((key[0] for key in told.tallies if key[1]), ITERATION)
        for phase, lost in _by_phase(known, order, begun).items():
            rows.append(_row((name, True, phase), {"lost": len(lost)}))
            self._record(order.case, order.target, (name, True, phase), lost, reason)
        nanoseconds = max(1, now() - last)
        frame = _frame(self._place, order.case, nanoseconds, rows, told.phase)
        told.take(frame)
        return [frame]

    def missed(self, order: Order, begun: int, shard: tuple[int, int]) -> list[Frame]:
        """Return a frame of what was due at the place until now and not begun; none when the load is not open.

        The levels of a steered load are not known here.
        """
        if not order.load.open or order.load.steered_by:
            return []
        told = self._told.setdefault(order.case, PlaceTotals())
        due = order.at_place(self._place, *shard, begun).schedule(MOST_DUE)
        until = now() - begun
        left = sum(at <= until for _, at, _ in due) - told.iterations() - told.pressed.missed
        if left <= 0 or len(due) == MOST_DUE:
            return []
        frame = _frame(self._place, order.case, max(1, now() - told.pressed.time), [], told.phase)
        told.pressed.missed += left
        return [replace(frame, missed=left)]

    def of_ledger(self, reason: str) -> list[Frame]:
        """Return frames of the detached operations that were open at the place: they are lost."""
        frames = []
        for case, told in self._told.items():
            if told.detached:
                name = next((key[0] for key in told.tallies if not key[1]), DETACHED)
                row = _row((name, False, Phase.MEASURE), {"lost": told.detached})
                last = told.pressed.time or now()
                known = [InflightIteration(0, last, last, case, 0)] * told.detached
                self._record(case, 0, (name, False, Phase.MEASURE), known, reason)
                frames.append(_frame(self._place, case, 0, [row], Phase.MEASURE))
                told.detached = 0
        return frames

    def close(self) -> None:
        """End the table of what is lost."""
        if self._writer is not None:
            self._writer.close()

    def _untold(self, case: int, told: PlaceTotals) -> tuple[list[FrameRow], int]:
        """Return what the table of the place has beyond its frames, and how many iterations it has in all."""
        found: dict[Key, Tally] = {}
        try:
            for rows, texts in chunks(TableReader(self._folder.operations_path(self._place), ROW)):
                _count(rows[rows["case"] == case], texts, found)
        except (OSError, RecordError):
            return [], 0
        rest = [_rest(key, tally, told.tallies.get(key, NOTHING)) for key, tally in found.items()]
        ended = sum(tally.ended for tally in found.values() if tally.iteration)
        return [row for row in rest if row is not None], ended

    def _record(self, case: int, target: int, key: Key, lost: list[InflightIteration], reason: str) -> None:
        """Write rows of what is lost into a separate table: the end of the place's own file is not known."""
        if self._writer is None:
            self._writer = TableWriter(self._folder.lost_path(self._place), "operations", ROW, self._place)
        rows = np.zeros(len(lost), ROW)
        for at, each in enumerate(lost):
            self._rows += 1
            rows[at]["id"] = (self._place << 48) + (1 << 47) + self._rows
            rows[at]["client"] = each.client
            rows[at]["intended"], rows[at]["start"] = each.intended, each.start
        rows["end"] = np.maximum(now(), rows["start"])
        rows["case"], rows["target"], rows["place"] = case, target, self._place
        rows["operation"], rows["error"] = 1, 2
        rows["phase"], rows["outcome"] = key[2], Outcome.LOST
        self._writer.append(rows, [key[0].encode(), reason.encode(errors="replace")], ("key", "error", "operation"))


def _count(rows: Rows, texts: dict[int, str], found: dict[Key, Tally]) -> None:
    """Add rows to tallies, as the engine does for its frames."""
    keys = np.stack([rows["operation"], rows["parent"] == 0, rows["phase"]], axis=1).astype(np.int64)
    for operation, iteration, phase in np.unique(keys, axis=0).tolist():
        own = rows[(keys == (operation, iteration, phase)).all(axis=1)]
        key = texts.get(operation, "").partition(SEPARATOR)[0], bool(iteration), phase
        found.setdefault(key, Tally(*key[:2])).take(_summed(key, own))


def _summed(key: Key, own: Rows) -> FrameRow:
    """Return what rows of one key add up to."""
    sums = {name: int(np.count_nonzero(own["outcome"] == outcome)) for outcome, name in enumerate(OUTCOMES)}
    sums |= {name: int(own[name].sum()) for name in ("bytes", "calls")}
    passed = own[own["outcome"] == Outcome.PASSED]
    return _row(key, sums, *(_durations(passed["end"] - passed[begin]) for begin in ("intended", "start")))


def _durations(times: NDArray[np.int64]) -> bytes:
    """Return the histogram of times, ns; nothing for none."""
    histogram = Histogram()
    for value, count in zip(*(each.tolist() for each in np.unique(times, return_counts=True)), strict=True):
        histogram.record(max(0, value), count)
    return histogram.encode() if histogram.count else b""


def _by_phase(lost: list[InflightIteration], order: Order, begun: int) -> dict[int, list[InflightIteration]]:
    found: dict[int, list[InflightIteration]] = {}
    for each in lost:
        found.setdefault(int(order.phase_at(each.intended - begun)), []).append(each)
    return found


def _row(key: Key, sums: Mapping[str, int], response: bytes = b"", service: bytes = b"") -> FrameRow:
    operation, iteration, phase = key
    counts: dict[str, Any] = {name: sums.get(name, 0) for name in (*OUTCOMES, "bytes", "calls")}
    return FrameRow(operation, iteration, phase, response=response, service=service, **counts)


def _frame(place: int, case: int, nanoseconds: int, rows: list[FrameRow], phase: int) -> Frame:
    """Return a frame in which nothing begins."""
    return Frame(
        time=now(),
        nanoseconds=nanoseconds,
        place=place,
        case=case,
        phase=phase,
        started=0,
        missed=0,
        in_flight=0,
        clients=0,
        cpu=0,
        late=b"",
        rows=tuple(rows),
    )
