"""A criterion that needs so many values is unknown with fewer, whatever they say."""

from __future__ import annotations

import duckdb
import pytest

from pileup.model.results import CriterionResult
from pileup.stats.cases import CaseData
from pileup.stats.frames.window import Window
from pileup.stats.monitors import MetricSeries
from pileup.stats.verdicts.criteria import Criteria
from tests.manifests import case_of, criterion_of

SECOND = 10**9


def judged(check: str, values: list[float], **more: int) -> CriterionResult:
    """Judge numbers that the test `watch` reported."""
    info = {"id": 1, "name": "watch", "test": "watch", "load_kind": "open", "load": "open"}
    times = [n * SECOND for n in range(1, 1 + len(values))]
    series = [MetricSeries("watch", "purged", "", "jobs", "here", times, values)] if values else []
    cases = [CaseData(case_of(info), [], Window(0, 100 * SECOND))]
    with duckdb.connect() as connection:
        asked = {"id": "G", "says": "so", "coverage": "full", "at": None, "check": check, **more}
        return Criteria(cases, series, connection).judge(criterion_of(asked))


@pytest.mark.parametrize(
    ("values", "verdict", "reason"),
    [
        ([5.0] * 10, "met", ""),
        ([5.0] * 9, "unknown", "9 values; the criterion needs at least 10"),
        ([0.0] * 9, "unknown", "9 values; the criterion needs at least 10"),
        ([0.0] * 10, "not met", "sum(watch.purged) is 0, not >= 10"),
    ],
)
def test_with_fewer_values_than_it_needs_it_is_unknown(values: list[float], verdict: str, reason: str) -> None:
    found = judged("sum(watch.purged) >= 10", values, at_least=10)
    assert (found.verdict, found.reason) == (verdict, reason)


def test_without_a_number_any_are_enough() -> None:
    assert judged("sum(watch.purged) >= 10", [12.0]).verdict == "met"


def test_one_value_is_one_value() -> None:
    assert judged("sum(watch.purged) >= 10", [12.0], at_least=2).reason.startswith("1 value; ")


def test_how_fast_a_number_grows_is_judged_by_its_interval() -> None:
    grows, stays = [float(each) for each in range(60)], [7.0] * 60
    assert judged("slope(watch.purged) < 1 /h", grows).verdict == "not met"
    assert judged("slope(watch.purged) < 1 /h", stays).verdict == "met"
    found = judged("slope(watch.purged) < 2 /s", grows)
    assert (found.verdict, found.figure.value) == ("met", pytest.approx(1.0))
    assert judged("slope(watch.purged) < 1 /h", grows[:10]).verdict == "unknown"
    assert judged("slope(watch.purged) < 1 MiB/h", grows).reason.startswith("the value is a bandwidth")


def test_during_names_the_tests_in_whose_measured_time_samples_count() -> None:
    """A monitor grows by 1/s for a minute while `fill` is measured, and stays while `watch` is."""
    info = {"load_kind": "open", "load": "open"}
    windows = {"fill": Window(0, 60 * SECOND), "watch": Window(60 * SECOND, 160 * SECOND)}
    cases = [
        CaseData(case_of({**info, "id": number, "name": name, "test": name}), [], window)
        for number, (name, window) in enumerate(windows.items(), 1)
    ]
    times = [n * SECOND for n in range(160)]
    values = [float(min(n, 60)) for n in range(160)]
    series = [MetricSeries("node", "level", "", "", "here", times, values)]
    with duckdb.connect() as connection:
        judge = Criteria(cases, series, connection, monitors=frozenset({"node"})).judge
        base = {"id": "G", "says": "so", "coverage": "full", "check": "slope(node.level) < 1 /h"}
        whole, later, first, both = (
            judge(criterion_of({**base, "during": during})) for during in ([], ["watch"], ["fill"], ["fill", "watch"])
        )
    assert first.verdict == "not met"
    assert whole.figure.value == both.figure.value > 0.1
    assert (later.verdict, later.figure.value, later.figure.n) == ("met", 0.0, 100)
    assert first.figure.value == pytest.approx(1.0)
    assert later.remark == "in the measured time of watch"
