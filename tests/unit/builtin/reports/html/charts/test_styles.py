"""Lines of one chart can be told apart without their colours: by dashes, as the legend has them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import combinations
from typing import Any

import pytest

from pileup.builtin.reports.html.charts.assemble import charts
from pileup.builtin.reports.html.charts.pictures import PATTERNS
from pileup.plugin.charts import Drawing
from pileup.plugin.charts.drawing import DASHES, QUANTILES, STYLES, color, style
from tests.unit.builtin.reports import synthetic

BY_COLOUR = {
    "ecdf": "dashes tell response from service; its sentence names the cases",
    "tail": "as the distribution, of which it is the end",
    "detached": "cases one after another, named above their bands",
}
"""Chart -> why its lines have colours alone."""
SOLID = [1, 0]


@cache
def drawings() -> tuple[Drawing, ...]:
    made = (charts(getattr(synthetic, name)(), ["all"], None) for name in ("rich", "scanned", "climbed"))
    return tuple(each for one in made for each in one.all())


def lines(chart: Drawing) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield mark and encoding of each layer of lines."""
    for layer in chart.spec["layer"]:
        mark = layer["mark"] if isinstance(layer["mark"], dict) else {"type": layer["mark"]}
        if mark["type"] == "line":
            yield mark, layer.get("encoding", {})


def test_each_percentile_has_dashes_of_its_own() -> None:
    assert list(DASHES) == list(QUANTILES)
    assert all(one != other for one, other in combinations(DASHES.values(), 2))


def test_dashes_come_again_with_another_colour() -> None:
    """Ten colours and four kinds of dashes make twenty looks."""
    looks = {(color(number), style(number)) for number in range(20)}
    assert len(looks) == 20


@pytest.mark.long
def test_lines_of_one_chart_differ_by_more_than_their_colour() -> None:
    several = 0
    for chart in drawings():
        looks = {(mark["stroke"], tuple(mark.get("strokeDash", SOLID))) for mark, _ in lines(chart) if "stroke" in mark}
        several += len(looks) > 1
        if len(looks) <= len(STYLES):
            assert len({dash for _, dash in looks}) == len(looks), (chart.id, looks)
        else:
            assert len({dash for _, dash in looks}) == len(STYLES), chart.id
    assert several >= 5


def test_lines_that_a_column_names_have_dashes_by_that_column() -> None:
    named = set()
    for chart in drawings():
        for mark, encoding in lines(chart):
            stroke = encoding.get("stroke", {})
            alone = len(stroke.get("scale", {}).get("domain", [])) < 2
            if alone or "strokeDash" in mark or chart.id in BY_COLOUR:  # p99 is dotted, each above its median
                continue
            named.add(chart.id)
            dash = encoding["strokeDash"]
            assert dash["field"] == stroke["field"], chart.id
            assert dash["scale"]["domain"] == stroke["scale"]["domain"], chart.id
            first = dash["scale"]["range"][:3]
            assert all(one != other for one, other in combinations(first, 2)), chart.id
    assert named


def test_legends_of_page_and_pictures_know_every_kind() -> None:
    sheet = files("pileup.builtin.reports.html").joinpath("report.css").read_text("utf-8")
    for kind in STYLES:
        if kind != "line":
            assert f".mark.{kind}::before" in sheet
            assert PATTERNS[kind]


def test_a_line_is_in_the_legend_as_it_is_drawn() -> None:
    seen = 0
    for chart in drawings():
        legend = {mark.color: STYLES[mark.kind] for mark in chart.legend if mark.kind in STYLES}
        for mark, _ in lines(chart):
            if "stroke" in mark and mark["stroke"] in legend:
                seen += 1
                assert mark.get("strokeDash", SOLID) == legend[mark["stroke"]], chart.id
    assert seen >= 10
