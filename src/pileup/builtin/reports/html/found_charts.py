"""Charts of a level that was looked for: each trial with what was seen at it, and the answer with its interval."""

from __future__ import annotations

from typing import Any

import altair as alt

from pileup.builtin.reports.html import tables
from pileup.builtin.reports.html.held_charts import SHOWN
from pileup.builtin.reports.html.series import Columns
from pileup.builtin.reports.html.shapes import BAD, GOOD, MUTED, Chart, Mark, color, finish, layer_of, named
from pileup.model.results import CaseResult, Found, RunResults

MOST = 6
"""Cases that are drawn, at most: the first."""
COLORS = {"passed": GOOD, "failed": BAD}
HEIGHT = 220
FAR = 30
"""Figures so many times apart are drawn on a logarithmic axis."""


def charts(results: RunResults) -> tuple[list[Chart], dict[str, Columns]]:
    """Return a chart for each case that looked for a level, and their tables."""
    found = [(case, case.found) for case in results.cases if case.found is not None and _drawn(case.found)]
    made = [_of_case(number, case, found) for number, (case, found) in enumerate(found[:MOST])]
    return [chart for chart, _ in made], {name: table for _, data in made for name, table in data.items()}


def _drawn(found: Found) -> bool:
    return any(trial.value is not None for trial in found.trials)


def _of_case(number: int, case: CaseResult, found: Found) -> tuple[Chart, dict[str, Columns]]:
    unit, factor = SHOWN.get(found.dimension, ("", 1.0))
    trials, answer = f"trials_{number}", f"answer_{number}"
    seen = [(place + 1, each) for place, each in enumerate(found.trials) if each.value is not None]
    values = [float(f"{(each.value or 0.0) / factor:.6g}") for _, each in seen]
    table: Columns = {
        "n": [place for place, _ in seen],
        "level": [float(f"{each.level:.6g}") for _, each in seen],
        "value": values,
        "outcome": ["passed" if each.passed else "failed" for _, each in seen],
    }
    edges = (found.level, found.low, found.high)
    wanted = found.threshold / factor
    line: Columns = {"wanted": [wanted]}
    line |= {name: [edge] for name, edge in zip(("level", "low", "high"), edges, strict=True)}
    by = "iterations per second" if found.by == "rate" else "clients"
    about = "Each point is a trial at its level. The line across is what the criterion asks"
    about += "; the line upright is the answer, its interval shaded." if found.level is not None else "."
    chart = Chart(
        trials,
        f"{tables.label(case)}: {found.check}",
        f"{unit or found.figure}, by {by}",
        finish([layer_of(layer) for layer in _layers(trials, answer, found, [*values, wanted], by)], HEIGHT),
        table=trials,
        legend=(Mark("passed", GOOD), Mark("failed", BAD), Mark("answer", color(0), "area")),
        about=about,
        timed=False,
        columns={"n": "trial", "level": by, "value": found.figure, "outcome": "outcome"},
    )
    return chart, {trials: table, answer: line}


def _layers(trials: str, answer: str, found: Found, values: list[float], by: str) -> list[Any]:
    x = alt.Scale(type="log", nice=False, padding=12)
    level = alt.Axis(title=None, format="~s", tickCount=6, grid=False)
    y = alt.Y("value:Q", scale=_scale(values), axis=alt.Axis(title=None, format="~s", tickCount=5))
    points = alt.Scale(domain=list(COLORS), range=list(COLORS.values()))
    tips = [
        alt.Tooltip("n:Q", title="trial"),
        alt.Tooltip("level:Q", title=by, format=",.4~g"),
        alt.Tooltip("value:Q", title=found.figure, format=",.4~g"),
        alt.Tooltip("outcome:N", title="outcome"),
    ]
    layers = []
    if found.level is not None:
        band = named(answer).mark_rect(opacity=0.18, color=color(0))
        layers.append(band.encode(x=alt.X("low:Q", scale=x, axis=level), x2=alt.X2("high:Q")))
        layers.append(
            named(answer).mark_rule(color=color(0), strokeWidth=1.6).encode(x=alt.X("level:Q", scale=x, axis=level))
        )
    layers.append(named(answer).mark_rule(color=MUTED, strokeDash=[4, 3]).encode(y=alt.Y("wanted:Q")))
    dots = named(trials).mark_point(filled=True, size=60, opacity=0.85)
    fill = alt.Fill("outcome:N", scale=points, legend=None)
    layers.append(dots.encode(x=alt.X("level:Q", scale=x, axis=level), y=y, fill=fill, tooltip=tips))
    return layers


def _scale(values: list[float]) -> alt.Scale:
    seen = [value for value in values if value > 0]
    if len(seen) == len(values) and max(seen) > FAR * min(seen):
        return alt.Scale(type="log", nice=False, padding=8)
    return alt.Scale(zero=True, nice=True)
