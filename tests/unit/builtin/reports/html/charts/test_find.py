"""Charts of a level that was looked for: one for each condition, of what was seen and nothing else."""

from __future__ import annotations

from dataclasses import replace

from pileup.builtin.reports.html.charts.find import charts
from pileup.model.results import FoundLevel, RunResults, SoughtCondition, TrialResult
from tests.unit.builtin.reports import synthetic


def _trial(level: float, *values: float | None, passed: bool = True) -> TrialResult:
    return TrialResult(level, 1, 2, values, passed, "")


def _results(*trials: TrialResult) -> RunResults:
    asked = (
        SoughtCondition("p90(q) < 1 s", "p90(q)", "time", 1e9),
        SoughtCondition("fraction(q.refused) < 2 %", "fraction(q.refused)", "fraction", 0.02),
    )
    told = FoundLevel(
        check=" and ".join(each.check for each in asked), conditions=asked, not_passed=0.01, by="rate", level=90.0,
        limit=100.0, low=90.0, high=110.0, beyond="", measured=90.0, trials=trials,
    )  # fmt: skip
    results = synthetic.simple()
    first, *others = results.cases
    return replace(results, cases=(replace(first, found=told), *others))


def test_t2_each_condition_is_drawn_with_what_it_asks() -> None:
    drawn, data = charts(_results(_trial(50.0, 5e8, 0.0), _trial(200.0, None, 0.5, passed=False)))
    assert [chart.title.rpartition(": ")[2] for chart in drawn] == ["p90(q) < 1 s", "fraction(q.refused) < 2 %"]
    assert data["trials_0"]["level"] == [50.0]
    assert "1 of 2 trials have no such figure and are not drawn." in drawn[0].about
    assert data["trials_1"]["level"] == [50.0, 200.0]
    assert data["trials_1"]["outcome"] == ["passed", "failed"]
    assert "not drawn" not in drawn[1].about
    assert data["answer_1"] == {"wanted": data["answer_1"]["wanted"], "level": [100.0], "low": [90.0], "high": [110.0]}


def test_a_condition_without_any_figure_is_not_drawn() -> None:
    drawn, _ = charts(_results(_trial(200.0, None, 0.5, passed=False)))
    assert [chart.title.rpartition(": ")[2] for chart in drawn] == ["fraction(q.refused) < 2 %"]
