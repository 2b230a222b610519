"""A panel for each value of a label: on the same axes, bounded in number, and what is left out is told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from pileup.builtin.reports.html import HtmlReport
from pileup.builtin.reports.html.charts import labelled
from pileup.builtin.reports.html.charts.assemble import charts
from pileup.model.breakdown import Breakdown, LabelFigure
from pileup.model.figures import Counts, Figure, Interval
from pileup.model.results import RunResults
from pileup.plugin.charts import Drawing
from tests.unit.builtin.reports import pieces, synthetic

EDGES = (1e6, 2e6, 4e6, 8e6)


def value(name: str, *bins: int, apart: float | None = None) -> LabelFigure:
    """Figures of a value with these bins."""
    n = sum(bins)
    time, none = Figure(2.5e6, "time", None, n), Figure(None, "rate")
    away = None if apart is None else Figure(apart, "fraction", Interval(apart - 0.1, apart + 0.1, 0.95), n)
    return LabelFigure(name, Counts(passed=n), none, none, time, 1e5, {0.5: time}, away, bins)


def run(*broken: Iterable[LabelFigure], more: int = 0) -> RunResults:
    """Results of a case whose iterations are broken down by so many labels."""
    results = synthetic.simple()
    case = next(each for each in results.cases if each.iterations)
    parts = tuple(Breakdown(f"label{n}", tuple(values), more, EDGES) for n, values in enumerate(broken))
    first, *others = case.operations
    return replace(results, cases=(replace(case, operations=(replace(first, breakdowns=parts), *others)),))


def panels(results: RunResults) -> list[Drawing]:
    return [each for group in labelled.groups(results) for each in group.drawings]


def test_each_value_has_a_panel_on_the_axes_of_all() -> None:
    results = run([value("d1", 90, 10, 0), value("d2", 0, 5, 15, apart=1.5), value("d3", 70, 30, 0, apart=-0.2)])
    (group,) = labelled.groups(results)
    assert group.heading == f"Response times of {results.cases[0].name} by label0"
    assert [each.title for each in group.drawings] == ["d1", "d2", "d3"]
    assert group.tables["label0_1"] == {"low": [2, 4], "high": [4, 8], "count": [5, 15], "share": [25, 75]}
    x, y, fills = zip(
        *(
            (
                layer["encoding"]["x"]["scale"]["domain"],
                layer["encoding"]["y"]["scale"]["domain"],
                layer["mark"]["fill"],
            )
            for layer in (each.spec["layer"][0] for each in group.drawings)
        ),
        strict=True,
    )
    assert x[0] == x[1] == x[2]
    assert [*y] == [[0, 90]] * 3
    assert [*fills] == ["var(--c0)", "var(--bad)", "var(--good)"]
    assert [each.unit for each in group.drawings] == [
        "% of 100 that passed",
        "% of 20 that passed · 150 % slower (140-160 %) than the others",
        "% of 100 that passed · 20 % faster (10-30 %) than the others",
    ]


def test_panels_are_bounded_and_what_is_left_out_is_told() -> None:
    many = [value(f"n{number}", 100 - number, 0, 0) for number in range(30)]
    many[25] = replace(many[25], apart=Figure(0.5, "fraction", Interval(0.4, 0.6, 0.95), 75))
    (group,) = labelled.groups(run([*many, value("few", 9, 0, 0), value("none")], more=7))
    assert [each.title for each in group.drawings] == [*(f"n{number}" for number in range(11)), "n25"]
    left = [f"n{number}" for number in (*range(11, 25), *range(26, 30))]
    assert group.notes == [
        f"Not drawn, none of them stands out as much or has as many: {', '.join(left)}.",
        "Not drawn, fewer than 10 passed: few, none.",
        "7 more values are in the record: pileup export.",
    ]


def test_labels_are_bounded_too_and_those_with_a_value_apart_come_first() -> None:
    pair = [value("a", 10, 10, 0), value("b", 10, 10, 0)]
    slow = [value("a", 10, 10, 0), value("b", 0, 10, 10, apart=0.9)]
    results = run(*[pair] * labelled.GROUPS, slow, [value("a", 10), value("b")])
    *groups, last = labelled.groups(results)
    assert len(groups) == labelled.GROUPS
    assert groups[0].heading.endswith(f"by label{labelled.GROUPS}")
    name = results.cases[0].name
    assert (last.drawings, last.notes) == (
        (),
        [f"By label, not drawn: {name} by label{labelled.GROUPS - 1}. Tables of these are with their cases."],
    )


@pytest.mark.long
def test_they_are_on_the_page_and_pictures_and_harmless() -> None:
    results = run([value(pieces.HOSTILE, 90, 10, 0), value("d2", 20, 0, 0)])
    drawn = charts(results)
    assert drawn.problems == []
    assert {"label0_0", "label0_1"} <= {each.id for each in drawn.all()}
    page = HtmlReport().render(results, {}).decode()
    assert pieces.HOSTILE not in page
    assert 'data-chart="label0_0"' in page
    pictures = dict(HtmlReport().charts(results, "svg"))
    assert [name for name in pictures if name.startswith("label0_1")] == ["label0_1-d2.svg"]
    assert b"that passed" in pictures["label0_1-d2.svg"]


def test_a_page_without_labels_has_none() -> None:
    assert panels(synthetic.rich()) == []
