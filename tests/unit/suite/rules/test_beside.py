"""Roles, faults and cooldowns that are right; the corpus of bad suites shows those that are not."""

from collections.abc import Callable

import pytest

from pileup.model.plan import Plan
from tests.unit.suite.conftest import HEAD

TESTS = """targets:
  se: {kind: practice-storage, launch: {}}
  site: {kind: http, url: http://127.0.0.1:1/}
tests:
  - {name: a, use: noop, load: {clients: 1, for: 10 s}}
  - {name: b, use: noop, after: [a], load: {rate: 1, for: 10 s}}
"""


@pytest.mark.parametrize(
    ("words", "longest"),
    [
        ("with: [a], load: {clients: 1}", 10 + 60 + 60),
        ("with: [a, b], load: {every: 1 s}", 2 * (10 + 60) + 60),
        ("with: [a], load: {clients: 1, for: 5 s}", 10 + 60 + 5 + 60),
        ("with: [a], load: {times: 2}", 10 + 60 + 2 * 60),
        ("with: [b], after: [a], load: {clients: 1}", 10 + 60 + 60),
    ],
)
def test_a_role(plan: Callable[..., Plan], words: str, longest: int) -> None:
    made = plan(HEAD + TESTS + f"  - {{name: role, use: noop, {words}}}\n")
    role = next(case for case in made.cases if case.role)
    assert role.longest == longest * 10**9
    assert made.totals().longest == 2 * (10 + 60) * 10**9


def test_a_role_may_need_what_is_before_its_main(plan: Callable[..., Plan]) -> None:
    made = plan(HEAD + TESTS + "  - {name: role, use: noop, after: [a], with: [b], load: {clients: 1}}\n")
    names = [case.name for case in made.cases]
    assert names.index("a") < names.index("role")


def test_a_role_that_its_main_needs_by_way_of_others_is_a_fault(faults: Callable[..., list[str]]) -> None:
    more = "  - {name: role, use: noop, with: [last], load: {clients: 1}}\n"
    more += "  - {name: between, use: noop, after: [role]}\n"
    more += "  - {name: last, use: noop, after: [between], load: {clients: 1, for: 1 s}}\n"
    found = faults(HEAD + TESTS + more)
    assert len(found) == 1
    assert "'last' needs 'role', which runs alongside it and ends with it" in found[0]


@pytest.mark.parametrize(
    "fault",
    [
        "{at: 1 s, do: restart, target: se}",
        "{at: 1 s, do: kill, target: se, for: 1 s, during: [b]}",
        "{at: 1 s, do: pause, target: se, for: 1 s}",
        "{at: 1 s, do: continue, target: se}",
        "{at: 1 s, do: kill, target: se.server}",
        "{at: 1 s, do: command, run: ls}",
        "{at: 1 s, do: command, run: ls, target: site}",
    ],
)
def test_a_fault(plan: Callable[..., Plan], fault: str) -> None:
    assert len(plan(HEAD + TESTS + f"faults: [{fault}]\n").suite.faults) == 1


@pytest.mark.parametrize("cooldown", ["{at_most: 1 min}", "{until: last(node.load1) < 1, at_most: 1 min}"])
def test_a_cooldown(plan: Callable[..., Plan], cooldown: str) -> None:
    made = plan(HEAD + TESTS + f"monitors: [{{use: node}}]\ncooldown: {cooldown}\n")
    assert made.suite.cooldown is not None
    assert made.suite.cooldown.at_most == 60 * 10**9


def test_a_cooldown_without_its_monitor_is_a_fault(faults: Callable[..., list[str]]) -> None:
    found = faults(HEAD + TESTS + "cooldown: {until: last(node.load1) < 1, at_most: 1 min}\n")
    assert len(found) == 1
    assert "`until`" in found[0]


def test_a_criterion_may_speak_of_the_time_to_rest(plan: Callable[..., Plan], faults: Callable[..., list[str]]) -> None:
    words = "criteria: [{id: C, says: It rests soon, check: max(cooldown.time_to_idle) < 1 min}]\n"
    cooldown = "monitors: [{use: node}]\ncooldown: {until: last(node.load1) < 1, at_most: 1 min}\n"
    assert plan(HEAD + TESTS + cooldown + words).suite.criteria[0].check == "max(cooldown.time_to_idle) < 1 min"
    assert "no test or monitor 'cooldown'" in faults(HEAD + TESTS + words)[0]


def test_a_fault_of_a_process_that_the_server_has_not(faults: Callable[..., list[str]]) -> None:
    found = faults(HEAD + TESTS + "faults: [{at: 1 s, do: kill, target: se.data_base}]\n")
    assert found[0].endswith("the server of target 'se' has no process 'data_base'; expected 'server'")


def test_a_fault_under_a_role_alone_has_no_load(faults: Callable[..., list[str]]) -> None:
    tests = TESTS.replace("load: {clients: 1, for: 10 s}", "").replace("after: [a], load", "with: [a], load")
    found = faults(HEAD + tests.replace("noop, }", "noop}") + "faults: [{at: 1 s, do: restart, target: se}]\n")
    assert "no test has a sustained load for this fault" in found[0]
