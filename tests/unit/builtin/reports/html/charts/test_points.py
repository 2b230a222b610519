"""Charts of the points of a scan: on a logarithm where small ones would not be seen beside large ones."""

from typing import Any

import pytest

from pileup.builtin.reports.html.charts.points import chart
from pileup.model.figures import Figure, Interval
from pileup.model.results import Comparison, Point, PointFigure
from pileup.plugin.charts import Drawing


def drawn(values: list[float], low: float | None = None) -> Drawing:
    """The chart of a rate at points of one axis, the first with an interval from `low`."""
    points = [Point(number, f"a.n={number}", {"a.n": str(number)}) for number in range(len(values))]
    spans = [Interval(low, values[0] * 2) if low is not None else None] + [None] * (len(values) - 1)
    figures = tuple(
        PointFigure(number, Figure(value, "rate", span, 4), (value,))
        for number, (value, span) in enumerate(zip(values, spans, strict=True))
    )
    return chart("x", points, Comparison("copy", "", "rate", "rate", ("1",), figures, (), ()), "copy: Rate")[0]


def scales(spec: dict[str, Any]) -> set[str]:
    return {
        layer["encoding"]["y"]["scale"].get("type", "linear") for layer in spec["layer"] if "y" in layer["encoding"]
    }


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([1.0, 20.0], "linear"),
        ([0.006, 0.04, 6.4], "log"),
        ([0.0, 0.04, 6.4], "linear"),
    ],
)
def test_points_far_apart_are_on_a_logarithm(values: list[float], scale: str) -> None:
    drawing = drawn(values)
    assert scales(drawing.spec) == {scale}
    assert drawing.unit == ("per second, log scale" if scale == "log" else "per second")


def test_an_interval_that_reaches_zero_is_drawn_down_to_the_least_that_is_there() -> None:
    (rule, *_) = [layer for layer in drawn([0.006, 6.4], low=-1.0).spec["layer"] if layer["mark"]["type"] == "rule"]
    assert {"calculate": "max(datum.low, 0.006)", "as": "least"} in rule["transform"]
    assert rule["encoding"]["y"]["field"] == "least"
