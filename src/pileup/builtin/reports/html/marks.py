"""What happened to the run, on every chart with a time axis: faults, settings, cooldowns, lost places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt

from pileup.builtin.reports.html import tables, text
from pileup.builtin.reports.html.series import Columns
from pileup.builtin.reports.html.shapes import Mark, in_window, layer_of, time_axis
from pileup.model.event import Event
from pileup.model.results import RunResults
from pileup.model.units import format_time

MOST = 200
"""Events that charts show, at most."""
LISTED = 500
"""Rows of the table of events, at most."""
KINDS = {
    "fault": ("fault", "var(--bad)"),
    "place": ("place lost", "var(--warn)"),
    "server": ("server ended", "var(--c3)"),
    "setting": ("setting changed", "var(--accent)"),
    "cooldown": ("cooldown", "var(--c6)"),
    "generator": ("generator was the limit", "var(--warn)"),
    "steady": ("steady state", "var(--good)"),
    "pause": ("not running", "var(--none)"),
}
"""Kind -> its name in a legend and its colour."""


@dataclass(frozen=True, slots=True)
class Told:
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


def listed(results: RunResults, begin: int) -> list[Told]:
    """Return the rows of the table of events, in the order of time."""
    numbers = {id(event): str(number) for number, event in enumerate(drawn(results), 1)}
    return [
        Told(
            numbers.get(id(event), ""),
            text.offset(event.begin, begin),
            KINDS[event.kind][0] if event.kind in KINDS else event.kind,
            KINDS[event.kind][1] if event.kind in KINDS else "var(--none)",
            event.text,
            format_time(event.end - event.begin) if event.end > event.begin else "",
        )
        for event in results.events[:LISTED]
    ]


def legend(results: RunResults) -> tuple[Mark, ...]:
    """Return the entries of a legend for the kinds that there are."""
    seen = {event.kind for event in drawn(results)}
    return tuple(Mark(word, shade, "tick") for kind, (word, shade) in KINDS.items() if kind in seen)


def table(results: RunResults, axis: tables.Clock) -> Columns:
    """Return the events that are drawn: from, to (ms), number, kind, text."""
    found = drawn(results)
    starts, ends = [axis.ms(event.begin) for event in found], [axis.ms(event.end) for event in found]
    return {
        "a": starts,
        "b": ends,
        "n": [str(number) for number, _ in enumerate(found, 1)],
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
        behind.append(layer_of(bands.encode(x=time_axis("a"), x2="b:Q")))
        before += [layer_of(each) for each in _rules(mine.transform_filter("datum.a >= first"), shade)]
    return behind, before


def _rules(events: Any, shade: str) -> list[Any]:
    tips = [alt.Tooltip("kind:N"), alt.Tooltip("text:N"), alt.Tooltip("when:N", title="time")]
    number = {"align": "left", "baseline": "top", "dx": 3, "dy": 1, "fontSize": 9, "fontWeight": "bold"}
    return [
        events.mark_rule(strokeWidth=1.4, strokeDash=[4, 2], stroke=shade).encode(x=time_axis("a"), tooltip=tips),
        events.mark_text(fill=shade, **number).encode(x=time_axis("a"), y=alt.value(0), text="n:N", tooltip=tips),
    ]
