"""What is left of a case without the times at which pileup held it back, and without failures of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pileup.model.record import Frame, Phase
from pileup.model.results import ErrorGroup
from pileup.stats.cases import CaseData
from pileup.stats.generator import TOUCHING, Stretch
from pileup.stats.measured import PRESSED
from pileup.stats.window import Window

Span = tuple[int, int]


def rest(data: CaseData, stretches: Sequence[Stretch]) -> CaseData:
    """Return a case without the frames that reach into any stretch, and with as much less measured time.

    A backlog that is served behind the end goes, too, when a stretch lasted to the end.
    """
    if not stretches:
        return data
    measured = [frame for frame in data.frames if frame.phase == Phase.MEASURE and frame.nanoseconds]
    last = max((frame.time for frame in measured), default=0)
    to_the_end = any(each.end + TOUCHING >= last for each in stretches)
    kept = [
        frame
        for frame in data.frames
        if not (_reaches(frame, stretches) or (to_the_end and frame.phase == Phase.COOLDOWN))
    ]
    window = _window(data.window, measured, stretches)
    return replace(data, frames=[*kept, *data.ledger], window=window)


def without_failures(data: CaseData, own: Sequence[ErrorGroup]) -> CaseData:
    """Return a case without failures that are pileup's own."""
    found = replace(data, frames=[*data.frames, *data.ledger])
    for each in own:
        for tally in found.measured.tallies.values():
            if tally.iteration or tally.operation == each.operation:
                tally.counts[each.outcome] = max(0, tally.counts[each.outcome] - each.count)
    return found


def cut(spans: Iterable[Span], stretches: Sequence[Stretch]) -> list[Span]:
    """Return spans of time without the stretches; nothing that is shorter than TOUCHING."""
    found = list(spans)
    for each in stretches:
        found = [
            piece
            for begin, end in found
            for piece in ((begin, min(end, each.begin)), (max(begin, each.end), end))
            if piece[1] - piece[0] > TOUCHING
        ]
    return found


def _reaches(frame: Frame, stretches: Iterable[Stretch]) -> bool:
    begin = frame.time - frame.nanoseconds
    return any(each.begin < frame.time and begin < each.end for each in stretches)


def _window(window: Window | None, measured: Sequence[Frame], stretches: Sequence[Stretch]) -> Window | None:
    """Return the measured time without that of frames left out, and what passed in those kept, whatever its phase.

    Frames of several places do not begin at the same moment: what passed at each counts by its own time.
    """
    kept = [frame for frame in measured if not _reaches(frame, stretches)]
    if window is None or not kept:
        return window
    seconds = {place: sum(frame.nanoseconds for frame in kept if frame.place == place) for place in _places(kept)}
    first = min(seconds)
    gone = [_span(frame) for frame in measured if frame.place == first and _reaches(frame, stretches)]
    parts = cut(window.spans, [Stretch(*span) for span in gone])
    whole = sum(end - begin for begin, end in parts)
    done: dict[tuple[str, bool], tuple[float, float]] = {}
    for frame in kept:
        share = whole / seconds[frame.place]
        for row in frame.rows:
            if row.phase in PRESSED:
                passed, moved = done.get((row.operation, row.iteration), (0.0, 0.0))
                done[row.operation, row.iteration] = passed + share * row.passed, moved + share * row.bytes
    return replace(window, done=done, parts=tuple(parts))


def _places(frames: Iterable[Frame]) -> set[int]:
    return {frame.place for frame in frames}


def _span(frame: Frame) -> Span:
    return frame.time - frame.nanoseconds, frame.time
