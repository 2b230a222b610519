"""Which metrics of monitors are drawn one upon the other: CPU by mode, jobs by state; and the queue over the CPU."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import altair as alt

from pileup.builtin.reports.html.charts import tables
from pileup.plugin.charts import Clock, Columns, Mark
from pileup.plugin.charts.drawing import amount_axis, time_axis, within
from pileup.plugin.results import Series

MODES = {"user": "var(--c0)", "system": "var(--c8)", "iowait": "var(--c1)", "steal": "var(--c4)"}
"""Modes of CPU time from below, with their colours; idle is what is left."""
QUEUED, RUNNING = "queued", "running"
STATES = {RUNNING: "var(--c2)", QUEUED: "var(--c7)"} | {
    "inlrms": "var(--c2)",
    "submit": "var(--c6)",
    "preparing": "var(--c4)",
    "accepted": "var(--c7)",
    "finishing": "var(--c5)",
    "canceling": "var(--c8)",
}
"""States of jobs that wait for something, from below: of batch systems, and of A-REX; others stand above them."""
OTHERS = ("var(--c3)", "var(--c1)", "var(--c0)", "var(--c9)")
ENDED = ("completed", "failed", "cancelled")
"""States in which jobs stay: no part of a queue."""
TABLE = "queue"
"""Name of the table of the queue that is drawn over CPU."""


@dataclass(frozen=True, slots=True)
class Queue:
    """A number of queued jobs in time, drawn over the CPU of others; its axis stands on the right."""

    monitor: str
    table: Columns

    @property
    def mark(self) -> Mark:
        """Its entry in a legend."""
        return Mark(f"queued jobs ({self.monitor}), right", STATES[QUEUED])

    def layer(self) -> Any:
        """Return the line, with an axis whose labels stand within the chart: time axes below each other stay even."""
        inside: dict[str, Any] = {
            "labelAlign": "right",
            "labelPadding": -3,
            "ticks": False,
            "minExtent": 0,
            "maxExtent": 0,
        }
        axis = amount_axis(orient="right", tickCount=3, grid=False, **inside)
        amount = alt.Y("s0:Q", axis=axis, scale=alt.Scale(zero=True, nice=True), title=None)
        return (
            within(TABLE).mark_line(stroke=STATES[QUEUED]).encode(x=time_axis(), y=amount, detail=alt.Detail("run:N"))
        )


def state_of(series: Series) -> str:
    """Return the state that jobs of a series are in, empty for what is no number of jobs by state."""
    return _label(series, "state") if series.metric == "jobs" else ""


def mode_of(series: Series) -> str:
    """Return the mode of CPU time of a series, empty for what is none."""
    return _label(series, "mode") if series.metric == "cpu" and series.unit == "%" else ""


def kind_of(series: Series) -> str:
    """Return what distinguishes the charts of one metric: that of a stack from those of lines."""
    if mode_of(series):
        return "modes"
    if state := state_of(series):
        return "ended" if state in ENDED else "states"
    return ""


def stacked(series: Iterable[Series]) -> list[tuple[str, str, Series]]:
    """Return name, colour and series of what is stacked, from below; nothing where lines are better.

    Jobs are stacked where the states are those of a queue, not numbers or words that pileup does not know.
    """
    series = list(series)
    if modes := {mode: each for each in series if (mode := mode_of(each))}:
        shown = [mode for mode in MODES if mode in modes and (mode != "steal" or any(modes[mode].values))]
        return [(mode, MODES[mode], modes[mode]) for mode in shown]
    states = {state: each for each in series if (state := state_of(each))}
    others = sorted(states.keys() - STATES.keys())
    if len(others) == len(states) or len(others) > len(OTHERS):
        return []
    more = dict(zip(others, OTHERS, strict=False))
    return [(state, colour, states[state]) for state, colour in (STATES | more).items() if state in states]


def queue_of(series: Iterable[Series], axis: Clock, limit: int) -> Queue | None:
    """Return the queued jobs of the monitor that knows of most; None where nobody reports on any."""
    found = [each for each in series if state_of(each) == QUEUED and any(each.values)]
    if not found:
        return None
    chosen = max(found, key=lambda each: max(each.values))
    return Queue(chosen.monitor, tables.sampled(list(chosen.times), [list(chosen.values)], axis, limit))


def _label(series: Series, name: str) -> str:
    return dict(part.split("=", 1) for part in series.labels.split(",") if "=" in part).get(name, "")
