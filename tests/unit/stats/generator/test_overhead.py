"""The share of what was measured that pileup itself costs."""

import pytest

from pileup.model import self_metrics
from pileup.stats.cases import CaseData
from pileup.stats.generator.overhead import overhead
from pileup.stats.monitors import MetricSeries
from tests.manifests import case_of, run_of

INFO = run_of({"overhead": {"native": 400.0, "python": 2000.0}})
OPEN = {"id": 1, "name": "copy", "test": "copy", "load_kind": "open", "rate": 10.0, "clients": 4}


@pytest.mark.parametrize(
    ("median", "engine", "told"),
    [
        (40_000, "native", "that is 1 % of the median response of copy"),
        (40_000, "python", "that is 5 % of the median response of copy"),
        (20_000_000, "native", "that is less than 0.01 % of the median response of copy"),
        (300, "native", "that is all of the median response of copy"),
    ],
)
def test_the_share_is_of_the_median(row, frame, median, engine, told):
    data = CaseData(case_of(OPEN | {"engine": engine}), [frame(1, row([median] * 20))], None)
    assert overhead(INFO, [data]).endswith(told)


def test_the_case_that_it_weighs_on_most_is_named(row, frame):
    cases = [
        CaseData(case_of(OPEN | {"engine": "native", "name": name}), [frame(1, row([median] * 20))], None)
        for name, median in (("slow", 10**7), ("quick", 40_000))
    ]
    assert overhead(INFO, cases).endswith("that is 1 % of the median response of quick, the most")


def test_a_check_has_no_share(row, frame):
    data = CaseData(case_of(OPEN | {"engine": "native", "load_kind": "once"}), [frame(1, row([40_000]))], None)
    assert "what pileup itself costs here" in overhead(INFO, [data])


def test_what_was_not_calibrated_is_not_told():
    assert overhead(run_of({}), []) == ""
    assert overhead(run_of({"overhead": {}}), []) == ""


def taken(metric: str, values: list[float], place: int = 0) -> MetricSeries:
    return MetricSeries("pileup", metric, self_metrics.label(place), "", "here", list(range(len(values))), values)


def test_what_pileup_took_is_told():
    series = [taken("total_cpu", [2.0, 4.0]), taken("cpu", [1.0, 1.0]), taken("rss", [2.0**26, 2.0**27])]
    told = (
        "all in all pileup took 3 % of a core on average, commands it started included, and at most 128 MiB of memory"
    )
    assert overhead(run_of({}), [], series) == told
    assert overhead(INFO, [], series).endswith(f"here; {told}")
    assert overhead(run_of({}), [], series[1:2]) == ""


def test_what_places_took_is_added_up():
    series = [
        taken("total_cpu", [2.0, 4.0]),
        taken("total_cpu", [10.0], 1),
        taken("rss", [2.0**26]),
        taken("rss", [9.0], 1),
    ]
    told = "all in all pileup took 13 % of a core on average at 2 places together, commands it started included"
    assert overhead(run_of({}), [], series) == f"{told}, and at most 64 MiB of memory at one"
