"""The chart of reading: CPU efficiency and time of each test that reports them, one below the other."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import TYPE_CHECKING

from pileup.plugin.charts import Chart, Clock, Columns, Drawing, Group

if TYPE_CHECKING:
    from pileup.plugin.results import RunResults

FEWEST = 2
"""Tests worth comparing."""
ROW, EDGE = 16, 40
"""Height of a bar and of what is around all of them, pixels."""
DRAWN = (("cpu_efficiency", "CPU efficiency", "%", 0), ("wall", "Time of a query", "s", 1))
"""Metric, title, unit, colour."""


class ReadingWays(Chart):
    """CPU efficiency (CPU by wall time) and time of queries of ROOT files, by test: the median over its iterations."""

    name = "reading-ways"
    section = "times"
    place = 60

    def draw(self, results: RunResults, axis: Clock) -> Iterator[Group]:
        """Yield both side by side, where several tests report them."""
        table = medians(results)
        if len(table["test"]) >= FEWEST:
            drawn = [_bars(*each, number=len(table["test"])) for each in DRAWN]
            yield Group(drawn, {"reading": table}, "CPU efficiency and time by way of reading", paired=True)


def medians(results: RunResults) -> Columns:
    """Return the tests that report both, and the median of each."""
    values: dict[str, dict[str, list[float]]] = {}
    for series in results.series:
        if series.metric in {metric for metric, *_ in DRAWN}:
            values.setdefault(series.monitor, {}).setdefault(series.metric, []).extend(series.values)
    order = dict.fromkeys(case.test for case in results.cases)
    tests = {test: values[test] for test in order if len(values.get(test, ())) == len(DRAWN)}
    columns: Columns = {"test": list(tests)}
    for metric, *_ in DRAWN:
        columns[metric] = [float(f"{median(found[metric]):.4g}") for found in tests.values()]
    return columns


def _bars(metric: str, title: str, unit: str, shade: int, *, number: int) -> Drawing:
    import altair as alt  # noqa: PLC0415  it takes a second, and `pileup list` loads every chart

    from pileup.plugin.charts.drawing import amount_axis, color, finish, layer_of, named  # noqa: PLC0415

    tests = alt.Y("test:N", sort=None, title=None, axis=alt.Axis(labelLimit=180, grid=False))
    amount = alt.X(f"{metric}:Q", axis=amount_axis(tickCount=4), scale=alt.Scale(zero=True), title=None)
    tips = [alt.Tooltip("test:N"), alt.Tooltip(f"{metric}:Q", title=unit, format=",.3~r")]
    bars = named("reading").mark_bar(fill=color(shade)).encode(x=amount, y=tests, tooltip=tips)
    return Drawing(
        f"reading_{metric}",
        title,
        unit,
        finish([layer_of(bars)], number * ROW + EDGE),
        "reading",
        about="Median over the queries of each test.",
        timed=False,
        columns={"test": "test", "cpu_efficiency": "CPU efficiency, %", "wall": "time, s"},
    )
