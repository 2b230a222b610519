"""The chart of weak scaling: the time of a query by the number of workers, beside the same query read alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pileup.builtin.analysis.query_charts import labels_of
from pileup.builtin.analysis.scaling import fitted, means
from pileup.plugin.charts import Chart, Clock, Columns, Drawing, Group, Mark
from pileup.plugin.charts.columns import short
from pileup.plugin.fits import Estimate, mean_of

if TYPE_CHECKING:
    from pileup.plugin.results import RunResults

HEIGHT = 200
STEPS = 40
"""Points of the curve of a law."""
Points = list[tuple[int, float]]
"""Workers, and seconds."""
ONE, ALL = "alone, one file", "alone, all files, per file"


@dataclass(slots=True)
class Measured:
    """One query: its times in s by the number of workers, for each number of workers at a place; and read alone."""

    together: dict[int, list[tuple[int, float]]] = field(default_factory=dict)
    one: list[float] = field(default_factory=list)
    all: list[float] = field(default_factory=list)
    """Divided by the number of files."""


class QueryScaling(Chart):
    """The time of a query when workers and data grow together, with intervals (95 %) and a law fitted to the repeats.

    Dashed lines are the same query by one client alone: of one file, and of all files, divided by their number. The
    second drawing divides by the first of them.
    """

    name = "query-scaling"
    section = "Queries"
    place = 5

    def draw(self, results: RunResults, axis: Clock) -> Iterator[Group]:
        """Yield a group for each query that has run with several numbers of workers."""
        del axis
        for way, measured in measured_of(results).items():
            if len({workers for points in measured.together.values() for workers, _ in points}) > 1:
                yield _group(way, measured)


def measured_of(results: RunResults) -> dict[str, Measured]:
    """Return the times of each test that runs queries together, beside those of the same query read alone."""
    alone: dict[str, Measured] = {}
    found: dict[str, tuple[str, Measured]] = {}
    for each in results.series:
        labels = labels_of(each) if each.metric == "query_seconds" else {}
        if not {"query", "workers", "places", "files"} <= labels.keys():
            continue
        known = alone.setdefault(labels["query"], Measured())
        workers, places, files = (int(labels[name]) for name in ("workers", "places", "files"))
        if workers:
            mine = found.setdefault(each.monitor, (labels["query"], Measured()))[1]
            points = mine.together.setdefault(workers // max(1, places), [])
            points += [(workers, value) for value in each.values]
        elif files == 1:
            known.one += each.values
        else:
            known.all += [value / files for value in each.values]
    for way, mine in found.values():
        read = alone[way]
        mine.one, mine.all = read.one, read.all
    return {test: mine for test, (_, mine) in found.items()}


def _group(way: str, measured: Measured) -> Group:
    lines = {f"{each} at a place": measured.together[each] for each in sorted(measured.together)}
    alone = {name: mean_of(values) for name, values in ((ONE, measured.one), (ALL, measured.all)) if values}
    drawings: list[Drawing] = []
    tables: dict[str, Columns] = {}
    for name, title, unit, by in (
        (f"scaling-{way}", f"Time of {way}", "s", 1.0),
        (f"relative-{way}", f"Time of {way} by that of one file alone", "", alone[ONE].value if ONE in alone else 0.0),
    ):
        if by:
            drawing, mine = _drawn(name, (title, unit), lines, alone, by)
            drawings.append(drawing)
            tables |= mine
    notes = [f"{line}: {law.says()} (95 % intervals)." for line, points in lines.items() if (law := fitted(points))]
    notes += [f"{name}: {_words(each)} s." for name, each in alone.items()]
    about = (
        "The curve is T(N) = T(1) (1 + s (N - 1) + k N (N - 1)), fitted to all repeats; of two sizes k is not known."
    )
    return Group(drawings, tables, heading=f"Scaling of {way}", notes=[about, *notes], paired=True, small=True)


def _words(each: Estimate) -> str:
    return f"{each.value:.3g}" + ("" if each.half is None else f" ± {each.half:.2g}")


def _points(lines: Mapping[str, Points], by: float) -> Columns:
    found = [(line, size, each) for line, points in lines.items() for size, each in means(points).items()]
    return {
        "line": [line for line, _, _ in found],
        "workers": [size for _, size, _ in found],
        "value": [short(each.value / by) for _, _, each in found],
        "low": [None if each.half is None else short((each.value - each.half) / by) for _, _, each in found],
        "high": [None if each.half is None else short((each.value + each.half) / by) for _, _, each in found],
    }


def _curves(lines: Mapping[str, Points], by: float) -> Columns:
    found = []
    for line, points in lines.items():
        if (law := fitted(points)) is not None:
            low, high = (pick(workers for workers, _ in points) for pick in (min, max))
            places = [low + (high - low) * step / STEPS for step in range(STEPS + 1)]
            found += [(line, place, law.at(place) / by) for place in places]
    return {
        "line": [line for line, _, _ in found],
        "workers": [short(place) for _, place, _ in found],
        "value": [short(value) for _, _, value in found],
    }


def _drawn(
    name: str, title: tuple[str, str], lines: Mapping[str, Points], alone: Mapping[str, Estimate], by: float
) -> tuple[Drawing, dict[str, Columns]]:
    import altair as alt  # noqa: PLC0415  it takes a second

    from pileup.plugin.charts.drawing import INK, MUTED, amount_axis, color, finish, layer_of, named  # noqa: PLC0415

    curve, level = f"{name}-law", f"{name}-alone"
    rows: Columns = {"name": list(alone), "value": [short(each.value / by) for each in alone.values()]}
    tables = {name: _points(lines, by), curve: _curves(lines, by), level: rows}
    shades = alt.Scale(domain=[*lines], range=[color(number) for number, _ in enumerate(lines)])
    most = max(tables[name]["workers"])
    x = alt.X("workers:Q", title="workers", axis=amount_axis(tickMinStep=1), scale=alt.Scale(domain=[0, most + 1]))
    y = alt.Y("value:Q", title=None, axis=amount_axis(tickCount=5), scale=alt.Scale(zero=True))
    fill = alt.Color("line:N", scale=shades, legend=None)
    tips = [alt.Tooltip(each) for each in ("line:N", "workers:Q", "value:Q", "low:Q", "high:Q")]
    dash = alt.StrokeDash("name:N", scale=alt.Scale(domain=[ONE, ALL], range=[[6, 3], [2, 2]]), legend=None)
    layers = [
        named(level).mark_rule(stroke=MUTED, strokeWidth=1.4).encode(y=y, strokeDash=dash),
        named(curve).mark_line(strokeWidth=1.2).encode(x=x, y=y, color=fill),
        named(name)
        .transform_filter("datum.low !== null")
        .mark_rule(strokeWidth=1.6)
        .encode(x=x, y=alt.Y("low:Q", title=None), y2=alt.Y2("high:Q"), color=fill),
        named(name).mark_circle(size=50, opacity=1).encode(x=x, y=y, color=fill, tooltip=tips),
    ]
    legend = [Mark(line, color(number), "dot") for number, line in enumerate(lines)]
    legend += [Mark(each, INK, "dash" if each == ONE else "dotted") for each in alone]
    columns = {
        "line": "workers at a place",
        "workers": "workers",
        "value": title[1] or "times",
        "low": "from",
        "high": "to",
    }
    spec = finish([layer_of(each) for each in layers], HEIGHT)
    return Drawing(name, *title, spec, name, tuple(legend), timed=False, columns=columns), tables
