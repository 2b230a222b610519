"""The share of what was measured that pileup itself costs."""

import pytest

from pileup.stats.cases import CaseData
from pileup.stats.overhead import overhead

INFO = {"overhead": {"native": 400.0, "python": 2000.0}}
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
    data = CaseData(OPEN | {"engine": engine}, [frame(1, row([median] * 20))], None)
    assert overhead(INFO, [data]).endswith(told)


def test_the_case_that_it_weighs_on_most_is_named(row, frame):
    cases = [
        CaseData(OPEN | {"engine": "native", "name": name}, [frame(1, row([median] * 20))], None)
        for name, median in (("slow", 10**7), ("quick", 40_000))
    ]
    assert overhead(INFO, cases).endswith("that is 1 % of the median response of quick, the most")


def test_a_check_has_no_share(row, frame):
    data = CaseData(OPEN | {"engine": "native", "load_kind": "once"}, [frame(1, row([40_000]))], None)
    assert "what pileup itself costs here" in overhead(INFO, [data])


def test_what_was_not_calibrated_is_not_told():
    assert overhead({}, []) == ""
    assert overhead({"overhead": {"native": None}}, []) == ""
