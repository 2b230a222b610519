"""Operations by the values of a label against time: whether one place, or one kind of request, went another way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from pileup.model.breakdown import Breakdown, LabelFigure, LabelLine
from pileup.model.record import PRESSED, Frame, FrameRow, labels_of
from pileup.record.tally import SECOND, Tally, add
from pileup.stats.frames.distribution import DueDurations
from pileup.stats.frames.labels import NONE, PLACE
from pileup.stats.frames.totals import MOST_SHORT

VALUES = 8
"""Values of a label that have a line: those with the most."""
INTERVALS = 120
"""Intervals of a line, at most: of long cases they are longer than a second."""
MEDIAN = 0.5
Places = Mapping[int, tuple[str, ...]]


def with_lines(
    operation: tuple[str, bool], found: tuple[Breakdown, ...], frames: Iterable[Frame], places: Places
) -> tuple[Breakdown, ...]:
    """Return the breakdowns of an operation (name, whether iterations) with lines for their largest values."""
    pressed = [frame for frame in frames if frame.phase in PRESSED]
    return tuple(_with_lines(each, operation, pressed, places) for each in found) if pressed else found


def _with_lines(found: Breakdown, operation: tuple[str, bool], frames: list[Frame], places: Places) -> Breakdown:
    largest = sorted(found.values, key=lambda value: -value.counts.ended)[:VALUES]
    names = {value.value for value in largest if value.counts.ended}
    lines = _lines(found.label, names, operation, frames, places)

    def told(value: LabelFigure) -> LabelFigure:
        return replace(value, line=lines[value.value]) if value.value in lines else value

    return replace(found, values=tuple(told(value) for value in found.values))


def _line(sums: Mapping[int, Tally], spans: Mapping[int, tuple[int, int, float]]) -> LabelLine:
    """Return a line of slot -> what ended in it; `spans` has begin, end and length in seconds of each slot."""
    order = sorted(sums)
    counts = [(sums[slot].counts["passed"], sums[slot].ended) for slot in order]
    passed = [sums[slot].responses.once() for slot in order]
    dues = (
        DueDurations(each, unanswered=ended - answered) for each, (answered, ended) in zip(passed, counts, strict=True)
    )
    return LabelLine(
        begins=tuple(spans[slot][0] for slot in order),
        ends=tuple(spans[slot][1] for slot in order),
        passed=tuple(answered / spans[slot][2] for slot, (answered, _) in zip(order, counts, strict=True)),
        p50=tuple(due.value(MEDIAN) for due in dues),
    )


def _lines(
    label: str, names: set[str], operation: tuple[str, bool], frames: list[Frame], places: Places
) -> dict[str, LabelLine]:
    slots = _slots(frames)
    sums: dict[tuple[str, int], Tally] = {}
    for frame, slot in zip(frames, slots, strict=True):
        place = places.get(frame.place, (str(frame.place),))[0]
        add(frame, sums, _key(operation, label, names, place, slot), Tally.of_responses)
    spans = _spans(frames, slots)
    mine = {name: {slot: tally for (value, slot), tally in sums.items() if value == name} for name in names}
    return {name: _line(found, spans) for name, found in mine.items() if found}


def _key(
    operation: tuple[str, bool], label: str, names: set[str], place: str, slot: int
) -> Callable[[FrameRow], tuple[str, int] | None]:
    """Return what says of a row to which value of the label it belongs; None for one that is not drawn."""

    def key(row: FrameRow) -> tuple[str, int] | None:
        if (row.operation, row.iteration) != operation or row.phase not in PRESSED:
            return None
        value = place if label == PLACE else labels_of(row.labels).get(label, NONE)
        return (value, slot) if value in names else None

    return key


def _slots(frames: list[Frame]) -> list[int]:
    """Return the number of the interval of each frame. A short last frame of a place is of the one before."""
    begin, end = min(frame.time for frame in frames), max(frame.time for frame in frames)
    size = max(1, -(-((end - begin) // SECOND + 1) // INTERVALS)) * SECOND
    last: dict[int, int] = {}
    found = []
    for frame in frames:
        slot = (frame.time - begin) // size
        if frame.nanoseconds < MOST_SHORT:
            slot = last.get(frame.place, slot)
        last[frame.place] = slot
        found.append(slot)
    return found


def _spans(frames: list[Frame], slots: list[int]) -> dict[int, tuple[int, int, float]]:
    """Return interval -> its begin and end (ns), and for how long its places pressed in the mean, in seconds."""
    spans: dict[int, tuple[int, int, dict[int, int]]] = {}
    for frame, slot in zip(frames, slots, strict=True):
        begin, end, pressed = spans.get(slot, (frame.time, 0, {}))
        pressed[frame.place] = pressed.get(frame.place, 0) + frame.nanoseconds
        spans[slot] = (min(begin, frame.time - frame.nanoseconds), max(end, frame.time), pressed)
    return {
        slot: (begin, end, sum(pressed.values()) / len(pressed) / SECOND)
        for slot, (begin, end, pressed) in spans.items()
    }
