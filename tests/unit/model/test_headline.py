"""A run in one sentence: what was tested, the verdict, and why."""

from dataclasses import replace

import pytest

from pileup.model.bottleneck import BottleneckRow, LimitedBy
from pileup.model.ending import StoppedBy
from pileup.model.exits import ExitCode
from pileup.model.headline import headline
from pileup.model.record import CaseOutcome
from pileup.model.verdict import RunVerdict, Verdict
from tests.unit.builtin.reports import synthetic


def of(code: ExitCode, verdict: RunVerdict, **more):
    return headline(replace(synthetic.simple(), exit_code=code, verdict=verdict, **more))


def test_what_passed_is_said_with_its_criteria():
    found = str(of(ExitCode.PASSED, RunVerdict.PASSED))
    assert found == "Tested se (practice-storage) with copy for 1 min 2 s: passed, 1 of 1 criterion met."
    (met,) = synthetic.simple().criteria
    unsure = (met, replace(met, id="C2", verdict=Verdict.MET_NOT_SHOWN))
    found = of(ExitCode.PASSED, RunVerdict.PASSED, criteria=unsure).why
    assert found == "2 of 2 criteria met (C2 is met, not shown)"


def test_without_criteria_the_cases_speak():
    found = of(ExitCode.PASSED, RunVerdict.PASSED, criteria=())
    assert found.why == "1 of 1 case passed; there are no criteria"


def test_the_criterion_that_is_not_met_is_named_with_its_figure():
    criteria = synthetic.criteria()
    twice = (*criteria, replace(criteria[1], id="C9"))
    found = of(ExitCode.CRITERION_NOT_MET, RunVerdict.FAILED, criteria=twice)
    assert str(found).endswith(
        ": failed, because criterion C2 is not met (0.47 % (0.235-0.705 %), wanted < 0.1 %); so are 2 other criteria."
    )


def test_the_case_that_failed_is_named_with_its_reason():
    found = headline(synthetic.rich())
    assert found.tested == "Tested se (practice-storage) with 8 tests for 1 min 2 s"
    assert found.why == "case stat (and 1 more case) failed: fraction(stat.failed) > 0 % holds: 0.4 %"


def test_a_target_that_cannot_be_reached_is_the_reason():
    found = of(ExitCode.TARGET_UNREACHABLE, RunVerdict.FAILED, cases=synthetic.rich().cases)
    assert found.why.startswith("case tape could not reach its target: credentials have expired")


def test_who_stopped_a_run_is_the_reason():
    run = replace(synthetic.simple().run, stopped="user: SIGINT", stopped_by=StoppedBy.USER)
    assert of(ExitCode.STOPPED_BY_USER, RunVerdict.STOPPED, run=run).why == "it was stopped: user: SIGINT"


@pytest.mark.parametrize("reason", ["", "too few: 3, 10 are needed"])
def test_what_is_not_known_is_said_with_its_cause(reason):
    (met,) = synthetic.simple().criteria
    unknown = replace(met, verdict=Verdict.UNKNOWN, reason=reason)
    found = of(ExitCode.UNKNOWN, RunVerdict.UNKNOWN, criteria=(unknown,)).why
    assert found == f"criterion C1 is unknown{f' ({reason})' * bool(reason)}"
    row = BottleneckRow("copy", LimitedBy.PILEUP, "", "")
    assert "pileup was the bottleneck of copy" in of(ExitCode.UNKNOWN, RunVerdict.UNKNOWN, bottlenecks=(row,)).why


def test_a_run_without_a_case_is_a_sentence_too():
    assert str(headline(synthetic.empty())) == "Tested: unknown, because it has not ended."
    case = replace(synthetic.simple().cases[0], outcome=CaseOutcome.NOT_RUN, reason="needs fill, which failed")
    found = of(ExitCode.CASE_FAILED, RunVerdict.FAILED, cases=(case,))
    assert found.why == "case copy did not run: needs fill, which failed"


def test_a_long_reason_is_cut():
    case = replace(synthetic.simple().cases[0], outcome=CaseOutcome.ERROR, reason="x" * 999)
    assert len(of(ExitCode.CASE_FAILED, RunVerdict.FAILED, cases=(case,)).why) < 250


def test_a_simulation_tests_nothing():
    run = replace(synthetic.simple().run, simulated=True)
    assert of(ExitCode.PASSED, RunVerdict.PASSED, run=run).tested.startswith("Simulated se")
