"""Criteria as lines on the charts of their figures, and what charts say of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pileup.builtin.reports.html.charts import tables, wanted
from pileup.builtin.reports.html.charts.assemble import charts
from pileup.builtin.reports.html.charts.wanted import Bound
from pileup.model.results import RunResults
from pileup.model.verdict import Verdict
from pileup.plugin.charts import Drawing
from tests.unit.builtin.reports import synthetic


def drawn(results: RunResults, name: str) -> Drawing:
    return next(each for each in charts(results).all() if each.id == name)


def lines_of(results: RunResults, name: str) -> list[tuple[str, float, float, float]]:
    return lines_on(drawn(results, name))


def lines_on(drawing: Drawing) -> list[tuple[str, float, float, float]]:
    rows = [row for rows in drawing.spec["datasets"].values() for row in rows if "verdict" in row]
    return [(row["text"], row["value"], row["a"], row["b"]) for row in rows]


@pytest.mark.long
def test_each_criterion_is_on_the_chart_of_its_figure_for_the_time_of_its_case() -> None:
    results = synthetic.rich()
    assert lines_of(results, "quantiles") == [("C6: p90 < 40 ms", 40, 2000, 22_000)]
    assert lines_of(results, "bandwidth") == [("C1: rate >= 1 MB/s", 1, 2000, 22_000)]
    assert lines_of(results, "rates") == []
    (load,) = [each for each in charts(results).all() if each.title == "Load average"]
    assert lines_of(results, load.id) == [("C7: max < 3", 3, 0, 62_000)]


@pytest.mark.long
def test_one_that_is_far_from_all_values_is_said_and_not_drawn() -> None:
    results = synthetic.rich()
    (load,) = [each for each in charts(results).all() if each.title == "Load average"]
    assert "C4: max < 50 is far from all that was measured: not drawn." in load.about
    assert "C3: p99.9 < 1 s is far from all that was measured: not drawn." in drawn(results, "quantiles").about


def test_a_rate_that_was_not_reached_is_drawn_however_far() -> None:
    results = synthetic.rich()
    judged = replace(results.criteria[0], check="rate(copy) >= 2000 /s", verdict=Verdict.NOT_MET)
    results = replace(results, criteria=(synthetic.asked(judged),))
    assert lines_of(results, "rates") == [("C1: rate >= 2,000 /s", 2000, 2000, 22_000)]
    assert "Passed is below what C1 asks for (>= 2,000 /s) from 2 s to 22 s." in drawn(results, "rates").says


def test_a_chart_says_when_a_criterion_was_crossed() -> None:
    results = synthetic.rich()
    table = tables.timeline(results, tables.clock(results))
    wrong = [
        (a, b)
        for a, b, value, case in zip(table["a"], table["b"], table["p90"], table["case"], strict=True)
        if value is not None and value > 40 and case == "copy"
    ]
    assert wrong, "the synthetic case crosses it"
    first = f"{wrong[0][0] / 1000:.3g} s"
    assert f"p90 is above what C6 asks for (< 40 ms) from {first} to" in drawn(results, "quantiles").says


def test_the_lines_of_a_scan_are_at_its_points_each_with_its_verdict() -> None:
    results = synthetic.scanned()
    judged = replace(results.criteria[0], check="p90(copy) < 300 ms")
    results = replace(results, criteria=(synthetic.asked(judged),))
    (bound,) = wanted.bounds(results, tables.clock(results))
    verdicts = [stretch.verdict for stretch in bound.stretches]
    assert len(verdicts) == 24
    assert verdicts.count(Verdict.NOT_MET) == 4, "one point of six, in four repeats"


@pytest.mark.parametrize("check", ["rate(copy.bytes) == 1 MB/s", "fraction(copy.failed) < 0.1 %", "count(copy) > 5"])
def test_what_is_no_bound_of_a_line_is_on_no_chart(check: str) -> None:
    results = synthetic.rich()
    results = replace(results, criteria=(synthetic.asked(replace(results.criteria[0], check=check)),))
    assert not any(map(lines_on, charts(results).all()))


def test_a_threshold_is_in_the_unit_of_the_samples() -> None:
    results = synthetic.rich()
    judged = replace(results.criteria[0], check="max(node.memory[kind=used]) < 4 GiB")
    (bound,) = wanted.bounds(replace(results, criteria=(synthetic.asked(judged),)), tables.clock(results))
    assert isinstance(bound, Bound)
    assert wanted.in_unit("B", 1024.0**3)(bound) == 1024.0**3
    assert wanted.in_unit("s", 1.0)(bound) is None
