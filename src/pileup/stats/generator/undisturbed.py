"""A case without the times at which pileup held it back, and without pileup's own failures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pileup.model.record import Frame, Phase
from pileup.model.results import ErrorGroup
from pileup.stats.cases import CaseData
from pileup.stats.frames.window import Window
from pileup.stats.generator.holdups import TOUCHING, Stretch

Span = tuple[int, int]


def rest(data: CaseData, stretches: Sequence[Stretch]) -> CaseData:
    """Return a case without the frames that reach into any stretch, and with as much less measured time.

    A backlog that is served behind the end goes, too, when a stretch lasted to the end.
    """
    if not stretches:
        return data
    last = max((frame.time for frame in data.frames if frame.phase == Phase.MEASURE), default=0)
    to_the_end = any(each.end + TOUCHING >= last for each in stretches)

    def is_kept(frame: Frame) -> bool:
        return not (_reaches(frame, stretches) or (to_the_end and frame.phase == Phase.COOLDOWN))

    kept = [frame for frame in data.frames if is_kept(frame)]
    window = _window(data.window, kept, [frame for frame in data.frames if not is_kept(frame)])
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


def _window(window: Window | None, kept: Sequence[Frame], gone: Sequence[Frame]) -> Window | None:
    """Return the measured time without that of frames left out.

    Frames of several places do not begin at the same moment: the place of which most is kept counts.
    """
    if window is None:
        return None
    lengths = {
        place: sum(frame.nanoseconds for frame in kept if frame.place == place and frame.phase == Phase.MEASURE)
        for place in {frame.place for frame in kept}
    }
    most = max(lengths, key=lengths.__getitem__, default=0)
    without = [Stretch(frame.time - frame.nanoseconds, frame.time) for frame in gone if frame.place == most]
    parts = tuple(cut(window.spans, without))
    return replace(window, parts=parts) if parts else None
