"""Charts of a level that was looked for: each trial with what was seen at it, and the limit with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt

from pileup.builtin.reports.html.charts import says, tables
from pileup.builtin.reports.html.charts.hold import SHOWN
from pileup.plugin.charts import Columns, Drawing, Mark
from pileup.plugin.charts.drawing import BAD, GOOD, MUTED, amount_axis, color, finish, layer_of, named
from pileup.plugin.results import CaseResult, FoundLevel, RunResults, SoughtCondition
from pileup.plugin.units import counted

MOST = 6
"""Conditions that are drawn, at most: the first."""
COLORS = {"passed": GOOD, "failed": BAD}
HEIGHT = 220
FAR = 30
"""Figures so many times apart are drawn on a logarithmic axis."""


def charts(results: RunResults) -> tuple[list[Drawing], dict[str, Columns]]:
    """Return a chart for each condition of each case that looked for a level, and their tables."""
    found = [(case, case.found) for case in results.cases if case.found is not None]
    drawn = [
        _Drawn(case, of_case, place, sought)
        for case, of_case in found
        for place, sought in enumerate(of_case.conditions)
        if any(trial.values[place] is not None for trial in of_case.trials)
    ]
    made = [_of_condition(number, each) for number, each in enumerate(drawn[:MOST])]
    return [chart for chart, _ in made], {name: table for _, data in made for name, table in data.items()}


@dataclass(frozen=True, slots=True)
class _Drawn:
    """One condition of a level that was looked for; `place` is where its figures stand among those of a trial."""

    case: CaseResult
    found: FoundLevel
    place: int
    sought: SoughtCondition


def _of_condition(number: int, drawn: _Drawn) -> tuple[Drawing, dict[str, Columns]]:
    found, sought = drawn.found, drawn.sought
    unit, factor = SHOWN.get(sought.dimension, ("", 1.0))
    trials, answer = f"trials_{number}", f"answer_{number}"
    seen = [
        (number, each, value)
        for number, each in enumerate(found.trials, 1)
        if (value := each.values[drawn.place]) is not None
    ]
    values = [float(f"{value / factor:.6g}") for _, _, value in seen]
    table: Columns = {
        "n": [place for place, _, _ in seen],
        "level": [float(f"{each.level:.6g}") for _, each, _ in seen],
        "value": values,
        "outcome": ["passed" if each.passed else "failed" for _, each, _ in seen],
    }
    edges = (found.limit, found.low, found.high)
    wanted = sought.threshold / factor
    line: Columns = {"wanted": [wanted]}
    line |= {name: [edge] for name, edge in zip(("level", "low", "high"), edges, strict=True)}
    by = "iterations per second" if found.by == "rate" else "clients"
    chart = Drawing(
        trials,
        f"{tables.label(drawn.case)}: {sought.check}",
        f"{unit or sought.figure}, by {by}",
        finish([layer_of(layer) for layer in _layers(trials, answer, drawn, [*values, wanted], by)], HEIGHT),
        table=trials,
        legend=(Mark("passed", GOOD), Mark("failed", BAD), Mark("limit", color(0), "area")),
        about=_about(drawn, len(found.trials) - len(seen)),
        timed=False,
        columns={"n": "trial", "level": by, "value": sought.figure, "outcome": "outcome"},
        says=_says(drawn, table, by),
    )
    return chart, {trials: table, answer: line}


def _says(drawn: _Drawn, table: Columns, by: str) -> str:
    found, levels = drawn.found, says.span(table["level"], by)
    passed = sum(outcome == "passed" for outcome in table["outcome"])
    told = f"{counted(len(table['n']), 'trial')} at {levels}, {passed} of them passed."
    if found.limit is None or found.low is None or found.high is None:
        return told
    return f"{told} The limit is {says.number(found.limit)} ({says.span((found.low, found.high), '')})."


def _about(drawn: _Drawn, without: int) -> str:
    about = "Each point is a trial at its level. The line across is what the condition asks"
    about += "; the line upright is the limit, its interval shaded." if drawn.found.limit is not None else "."
    if len(drawn.found.conditions) > 1 or drawn.found.not_passed < 1:
        about += " A trial also fails by another condition, or when too much does not pass."
    if without:
        about += f" {without} of {len(drawn.found.trials)} trials have no such figure and are not drawn."
    return about


def _layers(trials: str, answer: str, drawn: _Drawn, values: list[float], by: str) -> list[Any]:
    x = alt.Scale(type="log", nice=False, padding=12)
    level = amount_axis(tickCount=6, grid=False)
    y = alt.Y("value:Q", scale=_scale(values), axis=amount_axis(tickCount=5))
    points = alt.Scale(domain=list(COLORS), range=list(COLORS.values()))
    tips = [
        alt.Tooltip("n:Q", title="trial"),
        alt.Tooltip("level:Q", title=by, format=",.4~g"),
        alt.Tooltip("value:Q", title=drawn.sought.figure, format=",.4~g"),
        alt.Tooltip("outcome:N", title="outcome"),
    ]
    layers = []
    if drawn.found.limit is not None:
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
