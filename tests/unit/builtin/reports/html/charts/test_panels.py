"""Panels by place and label: one for each value, all on the same axes."""

from __future__ import annotations

from dataclasses import replace

from pileup.builtin.reports.html.charts import panels, tables
from pileup.model.breakdown import LabelLine
from pileup.model.results import RunResults
from tests.unit.builtin.reports import synthetic


def test_each_value_has_two_panels_on_the_axes_of_all() -> None:
    results = synthetic.spread()
    rates, times = panels.groups(results, tables.clock(results))
    assert (rates.heading, times.heading) == (
        "copy by place: passed per second",
        "copy by place: median response time",
    )
    assert [each.title for each in rates.drawings] == ["wn041", "wn042", "wn043"]
    domains = [
        layer["encoding"]["y"]["scale"]["domain"]
        for each in rates.drawings
        for layer in each.spec["layer"]
        if "y" in layer["encoding"] and "scale" in layer["encoding"]["y"]
    ]
    assert domains
    assert all(domain == domains[0] for domain in domains)
    assert domains[0][1] == max(value for table in rates.tables.values() for value in table["passed"])
    assert rates.drawings[2].says.startswith("wn043: passed ")
    assert times.tables["panel0_2"]["p50"][0] > 2 * times.tables["panel0_0"]["p50"][0], "one place is slow"


def test_values_without_a_line_have_no_panel() -> None:
    assert list(panels.groups(synthetic.rich(), tables.clock(synthetic.rich()))) == []
    results = only_two_seconds(synthetic.spread())
    assert list(panels.groups(results, tables.clock(results))) == []


def only_two_seconds(results: RunResults) -> RunResults:
    """The same with lines too short to be drawn."""
    (case,) = [each for each in results.cases if each.test == "copy"]
    first, *others = case.operations
    (by,) = first.breakdowns

    def short(line: LabelLine | None) -> LabelLine | None:
        return line and LabelLine(line.begins[:2], line.ends[:2], line.passed[:2], line.p50[:2])

    cut = replace(by, values=tuple(replace(value, line=short(value.line)) for value in by.values))
    changed = replace(case, operations=(replace(first, breakdowns=(cut,)), *others))
    return replace(results, cases=(changed,))
