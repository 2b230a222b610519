"""The plan of one iteration: what is left of a suite when somebody tries a test of it."""

from pathlib import Path

import pytest

from pileup.model.errors import UsageError
from pileup.model.plan import Plan
from pileup.run.foreground import one_iteration
from pileup.suite import load

SUITE = """
pileup: 1
title: To be tried
targets: {nothing: {kind: noop}}
tests:
  - {name: other, use: noop}
  - {name: filled, use: noop, load: {times: 5}}
  - {name: warmed, use: noop, after: [filled], load: {clients: 3, for: 1 h}}
  - {name: wanted, use: noop, after: [warmed], load: {rate: 5 /s, for: 1 h}, isolate: process, cleanup: never}
  - {name: beside, use: noop, with: [wanted], load: {every: 1 s}}
scan: {wanted.cost: [1 ms, 2 ms]}
repeat: 3
monitors: [{use: node}]
criteria: [{id: C, says: "Never", check: count(wanted) > 1e9}]
delay: 5 s
places: {processes: 4}
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    (tmp_path / "suite.yaml").write_text(SUITE)
    return load(tmp_path / "suite.yaml")


def test_it_has_the_test_once_and_what_it_needs(plan: Plan) -> None:
    found, case = one_iteration(plan, "wanted")
    assert [each.test.name for each in found.cases] == ["filled", "warmed", "wanted"]
    assert [each.load.kind for each in found.cases] == ["times", "once", "once"]  # of a load one iteration will do
    assert [(each.id, each.after) for each in found.cases] == [(1, ()), (2, (1,)), (3, (2,))]
    assert case is found.cases[-1]
    assert case.point == {"wanted.cost": "1 ms"}
    assert case.test.options["cost"] == plan.case(4).test.options["cost"]


def test_nothing_else_of_the_suite_is_done(plan: Plan) -> None:
    found, case = one_iteration(plan, "wanted")
    suite = found.suite
    assert not any((suite.monitors, suite.criteria, suite.faults, suite.reports, suite.delay))
    assert "reports" in suite.model_fields_set  # none, rather than those that every run writes
    assert suite.places.local
    assert (suite.isolate, case.test.isolate, case.test.cleanup) == ("thread", None, "always")
    assert suite.limits == plan.suite.limits


def test_a_role_is_done_alone(plan: Plan) -> None:
    found, case = one_iteration(plan, "beside")
    assert [each.test.name for each in found.cases] == ["beside"]
    assert not case.role


def test_a_test_that_there_is_not_is_told(plan: Plan) -> None:
    with pytest.raises(UsageError, match="the suite has no test 'want'; expected 'wanted'"):
        one_iteration(plan, "want")
