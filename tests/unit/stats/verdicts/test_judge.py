"""T4: what a figure says of a check, and which exit code follows: the whole table of docs/verdicts.md."""

import math
import re

import pytest

from pileup.model import check as checks
from pileup.model.exits import PRECEDENCE, ExitCode, combine
from pileup.model.figures import Figure, Interval
from pileup.model.results import CriterionResult
from pileup.model.verdict import Verdict
from pileup.stats.run import of_criterion
from pileup.stats.verdicts.judge import against, needed
from tests.support import ROOT

PAGE = ROOT / "docs" / "verdicts.md"
MS = 10**6


def rows() -> list[list[str]]:
    text = PAGE.read_text().partition("<!-- matrix -->")[2].partition("<!-- end of matrix -->")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.strip().splitlines()[2:]]


def number(text: str) -> float | None:
    return float(text) * MS if text else None


def figure(value: str, interval: str, above: str) -> Figure:
    ends = re.fullmatch(r"(\S+) to (\S+)", interval)
    found = Interval(float(ends[1]) * MS, float(ends[2]) * MS) if ends else None
    return Figure(number(value), "time", found, 100, "", number(above))


def criterion(verdict: Verdict, confidence: str) -> CriterionResult:
    told = ("C1", "it is fast", "p90(q) < 1 s", "full", verdict, Figure(None), "< 1 s", "")
    return CriterionResult(*told, confidence=confidence)


def test_the_table_has_every_verdict() -> None:
    assert {row[4] for row in rows()} == {str(verdict) for verdict in Verdict}


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_the_table_of_the_page(row: list[str]) -> None:
    _, value, interval, above, said, estimate, shown = row
    verdict = Verdict(said)
    if verdict is not Verdict.NOT_COVERED:
        assert against(checks.parse("p90(q) < 1 s"), figure(value, interval, above)) is verdict
    assert of_criterion(criterion(verdict, "estimate")) == int(estimate)
    assert of_criterion(criterion(verdict, "shown")) == int(shown)


def test_a_bound_decides_the_other_way_round_for_larger_than() -> None:
    slow, soon = Figure(None, "time", Interval(2e9, math.inf), 9, "", 2e9), Figure(None, "time", None, 9, "", 5e8)
    check = checks.parse("p90(q) > 1 s")
    assert (against(check, slow), against(check, soon)) == (Verdict.MET, Verdict.UNKNOWN)


@pytest.mark.parametrize(
    ("text", "value", "interval", "verdict"),
    [
        ("count(q) >= 10", 9.0, None, Verdict.NOT_MET),
        ("max(q) < 1 s", 2e9, None, Verdict.NOT_MET),
        ("fraction(q.failed) <= 0 %", 0.0, Interval(0.0, 0.003), Verdict.MET),
        ("fraction(q.failed) < 0.1 %", 0.0, Interval(0.0, 0.003), Verdict.MET_NOT_SHOWN),
        ("rate(q) >= 60 /s", 59.4, Interval(53.6, 65.2), Verdict.NOT_MET_NOT_SHOWN),
        ("rate(q) >= 60 /s", 80.0, Interval(75.0, 85.0), Verdict.MET),
    ],
)
def test_t04_what_is_counted_is_a_fact_and_what_is_estimated_has_an_interval(
    text: str, value: float, interval: Interval | None, verdict: Verdict
) -> None:
    assert against(checks.parse(text), Figure(value, "", interval, 1185)) is verdict


def test_what_is_not_shown_says_what_would_show_it() -> None:
    check = checks.parse("fraction(q.failed) < 0.1 %")
    seen = Figure(0.0, "fraction", Interval(0.0, 0.00323), 1185)
    assert needed(check, seen, Verdict.MET_NOT_SHOWN) == "0 failures of 3,838 would (there are 1,185)"
    bursts = Figure(0.0, "fraction", Interval(0.0, 0.0318), 1185)
    assert needed(check, bursts, Verdict.MET_NOT_SHOWN) > needed(check, seen, Verdict.MET_NOT_SHOWN)
    near = Figure(59.4, "rate", Interval(53.6, 65.2), 600)
    assert "94 times" in needed(checks.parse("rate(q) >= 60 /s"), near, Verdict.NOT_MET_NOT_SHOWN)
    assert needed(check, seen, Verdict.MET) == ""


def test_t13_what_has_failed_has_failed_whatever_else_is_not_known() -> None:
    assert [int(code) for code in PRECEDENCE] == [70, 6, 7, 5, 1, 4, 8]
    assert combine([ExitCode.UNKNOWN, ExitCode.CASE_FAILED]) is ExitCode.CASE_FAILED
    assert combine([ExitCode.UNKNOWN, ExitCode.CRITERION_NOT_MET]) is ExitCode.CRITERION_NOT_MET
