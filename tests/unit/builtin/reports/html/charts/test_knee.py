"""Throughput and response time against the load: levels, their middle halves, and the knee of known systems."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pileup.builtin.reports.html.charts import knee, tables
from pileup.model.manifest import CaseEntry, FindEntry, TrialResult
from pileup.model.results import FoundLevel, RunResults, SoughtCondition
from pileup.plugin.charts import Group
from tests.unit.builtin.reports import pieces, synthetic

BEGIN, SECOND = pieces.BEGIN, pieces.SECOND


def the_group(results: RunResults) -> Group:
    (found,) = knee.groups(results, tables.clock(results))
    return found


def test_a_load_of_levels_has_one_point_for_each_and_its_knee() -> None:
    """An M/M/1 queue of 185/s: throughput by response time, x (1 - x / c), is largest at half of it; 120 is nearest."""
    group = the_group(synthetic.climbed())
    levels = group.tables["load0_levels"]
    assert levels["x"] == [60, 120, 180, 240, 300]
    assert levels["rate"] == pytest.approx([60, 120, 180, 185, 185], rel=0.02)
    assert all(low <= middle <= high for low, middle, high in zip(*_span(levels, "rate"), strict=True))
    assert len(group.tables["load0_seen"]["x"]) == 30
    assert group.tables["load0_knee"]["x"] in ([60], [120])
    rate, times = group.drawings
    assert "The knee is at " in rate.says
    assert "185 at " in rate.says
    assert times.says.startswith("p50 from ")


def _span(table, name):
    return table[f"{name}_low"], table[name], table[f"{name}_high"]


def test_a_system_that_is_not_at_its_limit_has_no_knee() -> None:
    group = the_group(synthetic.climbed((10, 20, 30, 40)))
    assert group.tables["load0_knee"]["x"] == []
    assert "No knee up to 40." in group.drawings[0].says


def test_a_load_of_one_level_has_no_such_chart() -> None:
    results = synthetic.simple()
    entry = CaseEntry(results.cases[0].id, "copy", "copy", load_kind="closed", clients=8)
    assert list(knee.groups(replace(results, run=replace(results.run, cases=(entry,))), tables.clock(results))) == []


def test_a_scan_has_a_line_for_each_value_of_the_factors_that_do_not_change_the_load() -> None:
    group = the_group(synthetic.scanned())
    levels = group.tables["load0_levels"]
    assert sorted(set(levels["line"])) == ["copy.buffer=1 MiB", "copy.buffer=64 KiB"]
    assert sorted(set(levels["x"])) == [4, 16, 64]
    assert len(group.tables["load0_seen"]["x"]) == 24
    assert [mark.text for mark in group.drawings[0].legend][:2] == sorted(set(levels["line"]))


def test_a_search_shows_its_trials_and_the_limit_that_it_found() -> None:
    climbed = synthetic.climbed()
    trials = tuple(
        TrialResult(level, BEGIN + number * 6 * SECOND, BEGIN + (number + 1) * 6 * SECOND, (1e9,), number < 3, "")
        for number, level in enumerate((60.0, 120.0, 180.0, 240.0, 300.0))
    )
    asked = SoughtCondition("p90(climb) < 1 s", "p90(climb)", "time", 1e9)
    found = FoundLevel("p90(climb) < 1 s", (asked,), 0.01, "rate", 170.0, 185.0, 178.0, 190.0, "", 170.0, trials)
    entry = replace(
        climbed.run.cases[0],
        spans=(),
        levels=(),
        find=FindEntry("rate", "p90(climb) < 1 s", (20.0, 1000.0), settle=SECOND),
    )
    results = replace(
        climbed, cases=(replace(climbed.cases[0], found=found),), run=replace(climbed.run, cases=(entry,))
    )
    group = the_group(results)
    marks = group.tables["load0_knee"]
    assert (marks["x"], marks["low"], marks["high"]) == ([185.0], [178.0], [190.0])
    assert group.tables["load0_seen"]["x"] == [60, 120, 180, 240, 300]
    assert "The limit is 185 (178 to 190)." in group.drawings[0].says
