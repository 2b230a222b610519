"""The JSON report: everything in the results, numbers that JSON knows."""

import json
from dataclasses import replace

from pileup.builtin.reports.json_report import JsonReport
from pileup.model.figures import Figure
from pileup.plugin import registry
from tests.unit.builtin.reports import pieces, synthetic


def render(results: object) -> dict:
    def refuse(word: str) -> float:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(JsonReport().render(results, {}), parse_constant=refuse)


def test_it_holds_cases_criteria_figures_and_errors() -> None:
    found = render(synthetic.rich())
    assert [case["outcome"] for case in found["cases"]][-2:] == ["not run", "unavailable"]
    verdicts = ["met", "not met", "unknown", "met", "not covered", "not met", "met"]
    assert [each["verdict"] for each in found["criteria"]] == verdicts
    copy = found["cases"][2]["operations"][0]
    assert copy["counts"]["missed"] == 4
    assert copy["rate"]["interval"]["level"] == 0.95
    assert copy["response"]["quantiles"]["0.99"]["value"] > 0
    assert found["exit_code"] == 1
    assert found["errors"][0]["count"] == 9


def test_what_is_not_finite_is_null() -> None:
    rich = synthetic.rich()
    broken = replace(rich.criteria[0], figure=Figure(float("nan"), "time"))
    assert render(replace(rich, criteria=(broken,)))["criteria"][0]["figure"]["value"] is None


def test_hostile_text_comes_back_as_it_was() -> None:
    assert render(synthetic.hostile())["cases"][0]["reason"] == pieces.HOSTILE


def test_it_is_registered_under_its_name() -> None:
    assert registry.load("reports", "json") is JsonReport
