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
