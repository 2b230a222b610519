"""What a check selects from its cases: a test, operations recorded by a monitor, or a part of these by labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pileup.model.check import Selected
from pileup.stats.cases import CaseData
from pileup.stats.frames.exact import RowValues
from pileup.stats.frames.labels import chosen
from pileup.stats.frames.totals import measure
from pileup.stats.frames.window import Window
from pileup.stats.verdicts.resolve import Part


def of_test(data: CaseData, selected: Selected, rows: RowValues) -> Part:
    """Return what is selected of one case. What depends on its neighbours in the whole does so in a part of it."""
    if not selected.labels:
        return replace(data.part, rows=rows.of(data.entry))
    target, places = data.entry.target, data.places
    frames = chosen(data.frames, selected.labels, places, target)
    ledger = chosen(data.ledger, selected.labels, places, target)
    values = rows.of(data.entry, labels=selected.labels, places=places)
    return replace(data.part, measured=measure([*frames, *ledger]), frames=frames, rows=values)


def of_served(cases: Sequence[CaseData], selected: Selected, rows: RowValues) -> Part:
    """Return what a monitor recorded in these cases together. Where several went on at a time, it counts once."""
    told = [data for data in cases if selected.name in data.recorded]
    frames = chosen([data.recorded[selected.name] for data in told], selected.labels, {})
    whole = _together([span for data in cases if data.window for span in data.window.spans])
    known = [rows.of(data.entry, monitor=selected.name, labels=selected.labels) for data in told]
    return Part(measure(frames), whole, rows=RowValues.together(known))


def _together(spans: Sequence[tuple[int, int]]) -> Window | None:
    """Return the time that is in any of these spans; None for none."""
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if joined and begin <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((begin, end))
    return Window(joined[0][0], joined[-1][1], tuple(joined)) if joined else None
