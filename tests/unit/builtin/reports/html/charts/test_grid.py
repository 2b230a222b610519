"""Heat maps of two axes: every cell, those that stand out marked, each cell by time, and lines over distance."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from pileup.builtin.reports.html.charts import grid
from pileup.builtin.reports.html.charts.assemble import Charts, charts
from pileup.model.matrix import MatrixModel
from pileup.plugin.charts import Drawing
from tests.unit.builtin.reports import synthetic

SLOW, RARE = ("taipei", "fnal"), ("chicago", "cern")


@cache
def drawn(name: str) -> Charts:
    return charts(getattr(synthetic, name)(), ["points", "heat-map"])


def the(name: str, made: Charts) -> Drawing:
    return next(each for each in made.all() if each.id == name)


def test_every_cell_is_there_and_those_that_stand_out_are_marked() -> None:
    made = drawn("placed")
    table, drawing = made.data["cells0"], the("cells0", made)
    cells = list(zip(table["row"], table["column"], strict=True))
    assert len(set(cells)) == 9
    marked = [cell for cell, text in zip(cells, table["text"], strict=True) if grid.FLAG in text]
    assert marked == [SLOW, RARE]
    assert dict(zip(cells, table["flags"], strict=True))[SLOW] == "slow"
    assert dict(zip(cells, table["flags"], strict=True))[RARE] == "rare slow answers, deviation above mean"
    assert "taipei to fnal: slow." in drawing.says
    assert drawing.legend[-1].text == f"{grid.FLAG} slow, or rare slow answers"
    assert {"median", "mean", "deviation", "outliers", "expected"} <= set(drawing.columns)


def test_colours_follow_the_values() -> None:
    table = drawn("placed").data["cells0"]
    order = sorted(zip(table["ms"], table["k"], strict=True))
    assert [k for _, k in order] == sorted(table["k"])
    assert len(set(table["k"])) > 2


def test_any_scan_of_two_axes_has_one_without_flags() -> None:
    made = drawn("scanned")
    drawing = the("cells0", made)
    assert len(made.data["cells0"]["row"]) == 6
    assert list(drawing.columns) == ["row", "column", "ms", "n"]
    assert drawing.says.startswith("Medians from ")
    assert not any(grid.FLAG in mark.text for mark in drawing.legend)
    assert "distance0" not in {each.id for each in made.all()}


def test_other_scans_have_none() -> None:
    one = synthetic.scanned(threads=("4",))
    assert grid.axes(one.points) is None
    assert grid.axes(()) is None
    assert not any(each.id.startswith("cells") for each in charts(one, ["points", "heat-map"]).all())


def test_each_cell_is_a_row_by_time() -> None:
    made = drawn("placed")
    table, drawing = made.data["cells_in_time0"], the("cells_in_time0", made)
    rows = list(dict.fromkeys(table["row"]))
    assert rows[:4] == ["geneva, cern", "geneva, asgc", "geneva, fnal", "taipei, cern"]
    assert len(rows) == 9
    assert all(a < b for a, b in zip(table["a"], table["b"], strict=True))
    visits = {at // 54_000 for row, at in zip(table["row"], table["a"], strict=True) if row == "geneva, cern"}
    assert visits == {0, 1}, "each repeat"
    assert drawing.timed
    assert "taipei, fnal" in drawing.says


def test_lines_over_the_distance_have_k_and_c() -> None:
    made = drawn("placed")
    table, drawing = made.data["distance0"], the("distance0", made)
    assert list(table["target"]) == ["cern", "asgc", "fnal"]
    assert [float(each.split()[0]) for each in table["k"]] == [pytest.approx(1, abs=0.05)] * 3
    assert "cern: k = " in drawing.says
    assert len(made.data["distance0_cells"]["x"]) == 9
    assert len(made.data["distance0_lines"]["x"]) == 6


@pytest.mark.parametrize("model", [MatrixModel.PLACES, None])
def test_without_distances_there_are_no_lines(model: MatrixModel | None) -> None:
    run = synthetic.placed()
    made = charts(replace(run, matrices=(replace(run.matrices[0], model=model),)), ["points"])
    assert "distance0" not in {each.id for each in made.all()}
    about = the("cells0", made).about
    assert ("too few cells to say" in about) == (model is None)
