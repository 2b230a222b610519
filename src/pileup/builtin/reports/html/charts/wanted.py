"""What criteria ask for, as lines on the charts of their figures: up to where a figure may be, and when it was not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from pileup.builtin.reports.html.charts import tables
from pileup.plugin.charts import Clock, Mark
from pileup.plugin.charts.columns import short
from pileup.plugin.charts.drawing import BAD, INK, named, time_axis
from pileup.plugin.results import Check, CriterionResult, RunResults, Selected, Series, Verdict, mark
from pileup.plugin.units import parse

FAR = 3.0
"""A threshold so many times beyond all values is said below a chart, not drawn: it would press the values flat."""
BELOW = ("<", "<=")
ABOVE = (">", ">=")
LEGEND = Mark("criterion, shaded where it is not met", INK, "dash")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time in which a figure is judged, ms since the run's start, and how it was judged there."""

    begin: float
    end: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Bound:
    """The threshold of a criterion, in the base unit of its dimension."""

    id: str
    check: Check
    selected: Selected
    verdict: Verdict
    """Of the whole run."""
    stretches: tuple[Stretch, ...]

    @property
    def text(self) -> str:
        """What it asks for, short enough for a chart: `C2: p99 < 100 ms`."""
        share = self.check.quantile
        function = self.check.function if share is None else f"p{share * 100:g}"
        return f"{self.id}: {function} {self.check.threshold}"

    @property
    def upper(self) -> bool:
        """Whether the figure has to stay below it."""
        return self.check.comparison in BELOW

    def of_iterations(self, fields: Sequence[str], functions: Sequence[str]) -> bool:
        """Whether it speaks of the iterations of a test, by one of these fields and functions."""
        whole = self.selected.kind == "test" and self.selected.operation is None and not self.selected.labels
        return whole and self.selected.field in fields and self.check.function in functions

    def of_series(self, series: Series) -> bool:
        """Whether it speaks of the values of a metric of a monitor."""
        labels = dict(part.split("=", 1) for part in series.labels.split(",") if "=" in part)
        named = (self.selected.kind, self.selected.name, self.selected.metric)
        known = all((labels | {"host": series.host}).get(name) == value for name, value in self.selected.labels)
        valued = self.check.function in ("mean", "min", "max", "first", "last", "quantile")
        return valued and known and named == ("monitor", series.monitor, series.metric)

    def crossed(self, value: float, threshold: float) -> bool:
        """Whether a value is on the wrong side; both in the unit of a chart."""
        return value > threshold if self.upper else value < threshold


def bounds(results: RunResults, axis: Clock) -> list[Bound]:
    """Return the thresholds that can be lines: those of criteria with an order, for each time that they judge."""
    made = []
    for each in results.criteria:
        ordered = each.asked is not None and each.asked.comparison in (*BELOW, *ABOVE)
        if each.asked and each.selected and ordered and each.verdict is not Verdict.NOT_COVERED:
            spans = tuple(_stretches(results, each, each.selected, axis))
            made += [Bound(each.id, each.asked, each.selected, each.verdict, spans)] if spans else []
    return made


def _stretches(results: RunResults, criterion: CriterionResult, selected: Selected, axis: Clock) -> Iterator[Stretch]:
    """Yield the times that a criterion judges: those of the cases that it speaks of, each with its verdict."""
    verdicts = {point.point: point.verdict for point in criterion.points}
    if selected.kind != "test" and not verdicts:
        yield Stretch(0.0, axis.window, criterion.verdict)
        return
    names = {tuple(sorted(point.values.items())): point.name for point in results.points}
    for case in tables.drawn(results):
        name = names.get(tuple(sorted(case.point.items())), "")
        if (selected.kind == "test" and case.test != selected.name) or (verdicts and name not in verdicts):
            continue
        end = axis.window if case.ended is None else axis.ms(case.ended)
        yield Stretch(axis.ms(case.started or 0), end, verdicts.get(name, criterion.verdict))


@dataclass(frozen=True, slots=True)
class Lines:
    """The thresholds of one chart; `about` says which of them are too far away to be drawn."""

    name: str
    rows: tuple[dict[str, object], ...] = ()
    about: str = ""
    drawn: tuple[tuple[Bound, float], ...] = ()
    """What is drawn, with the threshold in the unit of the chart."""

    @property
    def values(self) -> list[float]:
        """Return the thresholds that are drawn."""
        return sorted({value for _, value in self.drawn})

    @property
    def legend(self) -> tuple[Mark, ...]:
        """Return its entry in a legend."""
        return (LEGEND,) if self.rows else ()

    def within(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Return a specification with what its layers of thresholds draw."""
        if self.rows:
            spec["datasets"][self.name] = [*self.rows]
        return spec

    def shades(self, axis: alt.Axis, scale: alt.Scale) -> list[Any]:
        """Return the layers behind all lines: the side on which a criterion is not met."""
        y = alt.Y("value:Q", axis=axis, scale=scale, title=None)
        made = []
        for upper, edge in ((1, alt.Y2Value(0)), (0, alt.Y2Value("height"))):
            if any(row["upper"] == upper for row in self.rows):
                side = named(self.name).transform_filter(f"datum.upper === {upper}")
                mark = side.mark_rect(clip=True, fill=BAD, opacity=0.07)
                made.append(mark.encode(x=time_axis("a"), x2=alt.X2("b:Q"), y=y, y2=edge))
        return made

    def rules(self, axis: alt.Axis, scale: alt.Scale) -> list[Any]:
        """Return the layers before all lines: the threshold, and once what it asks for."""
        if not self.rows:
            return []
        y = alt.Y("value:Q", axis=axis, scale=scale, title=None)
        tips = [alt.Tooltip("text:N", title="criterion"), alt.Tooltip("verdict:N")]
        line = named(self.name).mark_rule(strokeDash=[7, 3], strokeWidth=1.4, clip=True)
        drawn = line.encode(
            x=time_axis("a"), x2=alt.X2("b:Q"), y=y, stroke=alt.Stroke("color:N", scale=None), tooltip=tips
        )
        # Rows out of the window stay, without a label: an axis of no rows at all has no extent.
        shown = "datum.b >= first && datum.a <= last"
        told = (
            named(self.name)
            .transform_calculate(left=f"{shown} ? max(datum.a, first) : 1e15")
            .transform_aggregate(begin="min(left)", groupby=["text", "value", "sign"])
            .transform_calculate(label="datum.begin <= last ? datum.text + ' ' + datum.sign : ''")
            .transform_calculate(at="min(datum.begin, last)")
        )
        style = {"align": "left", "baseline": "bottom", "dx": 3, "dy": -2, "fontSize": 10}
        halo = told.mark_text(stroke="var(--card)", fill="var(--card)", strokeWidth=3, opacity=0.85, **style)
        text = told.mark_text(fill=INK, fontWeight="bold", **style)
        return [drawn, *(each.encode(x=time_axis("at"), y=y, text=alt.Text("label:N")) for each in (halo, text))]

    def across(self, axis: alt.Axis, scale: alt.Scale) -> list[Any]:
        """Return the layers of a chart without a time axis: a line over its whole width for each threshold."""
        if not self.drawn:
            return []
        told = [(each.text, *_look(each.verdict), short(value)) for each, value in self.drawn]
        rows = [{"label": f"{text} {sign}", "color": shade, "value": value} for text, shade, sign, value in told]
        y = alt.Y("value:Q", axis=axis, scale=scale, title=None)
        data: Any = alt.Chart(alt.InlineData(values=rows))
        rule = data.mark_rule(strokeDash=[7, 3], strokeWidth=1.4).encode(y=y, stroke=alt.Stroke("color:N", scale=None))
        style = {"align": "left", "baseline": "bottom", "dx": 3, "dy": -2, "fontSize": 10}
        halo = data.mark_text(stroke="var(--card)", fill="var(--card)", strokeWidth=3, opacity=0.85, **style)
        text = data.mark_text(fill=INK, fontWeight="bold", **style)
        return [rule, *(each.encode(x=alt.XValue(0), y=y, text=alt.Text("label:N")) for each in (halo, text))]


def lines(
    name: str, chosen: Iterable[Bound], values: Sequence[float], factor: Callable[[Bound], float | None]
) -> Lines:
    """Return the lines of a chart whose values are `values`.

    `factor` says how many base units one unit of the chart is, None for what the chart has no unit for.
    """
    rows: list[dict[str, object]] = []
    far, drawn = [], []
    for each in chosen:
        unit = factor(each)
        if unit is None or not values:
            continue
        value = each.check.value / unit
        if _far(value, max(values), each.upper):
            far.append(f"{each.text} is far from all that was measured: not drawn.")
            continue
        drawn.append((each, value))
        for stretch in each.stretches:
            shade, sign = _look(stretch.verdict)
            told = {"text": each.text, "verdict": str(stretch.verdict), "sign": sign, "color": shade}
            place = {"a": stretch.begin, "b": stretch.end, "value": short(value), "upper": int(each.upper)}
            rows.append({**place, **told})
    return Lines(name, tuple(rows), " ".join(far), tuple(drawn))


def _look(verdict: Verdict) -> tuple[str, str]:
    """Return colour and sign of a verdict."""
    found = mark(verdict)
    return f"var(--{found.tone})", found.sign


def _far(value: float, top: float, upper: bool) -> bool:
    """Whether a threshold lies so far beyond all values that these could not be read beside it.

    What is wanted at least and was not reached by far is drawn all the same: it is what there is to see.
    """
    return value < 0 or value > (FAR if upper else FAR**3) * top


def in_unit(unit: str, divisor: float) -> Callable[[Bound], float | None]:
    """Return the factor of a chart whose values were given in `unit` and divided by `divisor`."""

    def factor(bound: Bound) -> float | None:
        if not bound.check.dimension:
            return divisor if bound.check.value == 0 or not unit else None
        try:
            return float(parse(f"1 {unit}", bound.check.dimension)) * divisor
        except ValueError:
            return None

    return factor
