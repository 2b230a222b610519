"""What happened to the run, on every chart with a time axis: faults, settings, cooldowns, lost places."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import altair as alt

from pileup.builtin.reports.html import text
from pileup.builtin.reports.html.charts import tables
from pileup.plugin.charts import Clock, Columns, Mark
from pileup.plugin.charts.drawing import in_window, layer_of, time_axis
from pileup.plugin.results import Event, RunResults
from pileup.plugin.units import counted, format_time

MOST = 200
"""Events that charts show, at most."""
LISTED = 500
"""Rows of the table of events, at most."""
CROWD = 12
"""Events of one kind, more than which are shaded on charts alone, without lines and numbers, and listed apart."""
SLOTS = "width / 30"
"""How many numbers have room beside each other on two rows."""
BEGUN = "datum.a >= first && datum.n !== ''"
"""Events that have a number and began in what is on show."""
TIPS = [alt.Tooltip("kind:N"), alt.Tooltip("text:N"), alt.Tooltip("when:N", title="time")]
KINDS = {
    "fault": ("fault", "var(--bad)"),
    "place": ("place lost", "var(--warn)"),
    "server": ("server ended", "var(--c3)"),
    "setting": ("setting changed", "var(--accent)"),
    "cooldown": ("cooldown", "var(--c6)"),
    "generator": ("pileup was the bottleneck", "var(--warn)"),
    "steady": ("steady state", "var(--good)"),
    "pause": ("not running", "var(--none)"),
}
"""Kind -> its name in a legend and its colour."""


@dataclass(frozen=True, slots=True)
class EventRow:
    """One row of the table of events."""

    number: str
    """As on the charts; empty when it is not drawn."""
    at: str
    kind: str
    color: str
    text: str
    took: str


def drawn(results: RunResults) -> list[Event]:
    """Return the events that charts show."""
    return [event for event in results.events if event.kind in KINDS][:MOST]


@dataclass(frozen=True, slots=True)
class EventGroup:
    """Many events of one kind, shown apart from the others."""

    summary: str
    rows: tuple[EventRow, ...]


def crowded(results: RunResults) -> list[str]:
    """Return the kinds of which there are too many for lines and numbers."""
    counted = Counter(event.kind for event in drawn(results))
    return [kind for kind in KINDS if counted[kind] > CROWD]


def numbers(results: RunResults) -> list[str]:
    """Return the number of each event that is drawn, empty for those of a crowd."""
    apart = crowded(results)
    count = itertools.count(1)
    return ["" if event.kind in apart else str(next(count)) for event in drawn(results)]


def listed(results: RunResults, begin: int) -> list[EventRow]:
    """Return the rows of the table of events, in the order of time, without those of crowds."""
    apart = crowded(results)
    named = {id(event): number for event, number in zip(drawn(results), numbers(results), strict=True)}
    found = [event for event in results.events[:LISTED] if event.kind not in apart]
    return [_told(event, named.get(id(event), ""), begin) for event in found]


def crowds(results: RunResults, begin: int) -> list[EventGroup]:
    """Return the crowds with what they come to."""
    found = []
    for kind in crowded(results):
        mine = [event for event in results.events[:LISTED] if event.kind == kind]
        lasted = format_time(sum(event.end - event.begin for event in mine))
        summary = f"{counted(len(mine), 'time')}: {KINDS[kind][0]}, {lasted} added up"
        found.append(EventGroup(summary, tuple(_told(event, "", begin) for event in mine)))
    return found


def _told(event: Event, number: str, begin: int) -> EventRow:
    return EventRow(
        number,
        text.offset(event.begin, begin),
        KINDS[event.kind][0] if event.kind in KINDS else event.kind,
        KINDS[event.kind][1] if event.kind in KINDS else "var(--none)",
        event.text,
        format_time(event.end - event.begin) if event.end > event.begin else "",
    )


def legend(results: RunResults) -> tuple[Mark, ...]:
    """Return the entries of a legend for the kinds that there are."""
    seen = {event.kind for event in drawn(results)}
    return tuple(Mark(word, shade, "tick") for kind, (word, shade) in KINDS.items() if kind in seen)


def table(results: RunResults, axis: Clock) -> Columns:
    """Return the events that are drawn: from, to (ms), number, kind, text."""
    found = drawn(results)
    starts, ends = [axis.ms(event.begin) for event in found], [axis.ms(event.end) for event in found]
    return {
        "a": starts,
        "b": ends,
        "n": numbers(results),
        "kind": [KINDS[event.kind][0] for event in found],
        "text": [event.text for event in found],
        "when": [tables.when(a, b) for a, b in zip(starts, ends, strict=True)],
    }


def layers(results: RunResults) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the layers that go behind a chart, and those that go before it; both draw the table `events`.

    Each kind has layers of its own in a plain colour: a scale of colours would be one with that of the chart.
    """
    behind, before = [], []
    seen = {event.kind for event in drawn(results)}
    for word, shade in (KINDS[kind] for kind in KINDS if kind in seen):
        mine = in_window("events").transform_filter(f"datum.kind === '{word}'")
        bands = mine.transform_filter("datum.b > datum.a").mark_rect(clip=True, opacity=0.16, fill=shade)
        behind.append(layer_of(bands.encode(x=time_axis("a"), x2=alt.X2("b:Q"))))
        numbered = mine.transform_filter(BEGUN).mark_rule(strokeWidth=1.4, strokeDash=[4, 2], stroke=shade)
        before.append(layer_of(numbered.encode(x=time_axis("a"), tooltip=TIPS)))
    return behind, [*before, *map(layer_of, _numbers())]


def _numbers() -> Iterator[Any]:
    """Yield the layers of numbers. Events that are close together have one label, `3-7`.

    Time is cut into slots of a label's width on the screen, those of one row not beside each other.
    """
    style = {"align": "left", "baseline": "top", "dx": 3, "fontSize": 9, "fontWeight": "bold"}
    for row in range(2):
        slots = (
            in_window("events")
            .transform_filter(BEGUN)
            .transform_calculate(
                number="toNumber(datum.n)", slot=f"floor((datum.a - first) / (last - first) * {SLOTS})"
            )
            .transform_filter(f"datum.slot % 2 === {row}")
            .transform_aggregate(low="min(number)", high="max(number)", at="min(a)", groupby=["slot"])
            .transform_calculate(label="datum.low === datum.high ? '' + datum.low : datum.low + '-' + datum.high")
        )
        drawn = slots.mark_text(fill="var(--ink)", dy=1 + 10 * row, **style)
        yield drawn.encode(x=time_axis("at"), y=alt.YValue(0), text=alt.Text("label:N"))
