"""How values out of bounds are reported."""

from collections.abc import Callable

import pytest

from pileup.suite.problems import MOST, Position, Problems, TooManyProblemsError, near
from tests.unit.suite.conftest import HEAD


@pytest.mark.parametrize(
    ("test", "fault"),
    [
        ("{name: a, use: noop, options: {cost: 2 h}}", "`cost` is '2 h'; expected at most 1 h"),
        ("{name: a, use: command, options: {command: x, share: 1.5}}", "`share` is '1.5'; expected at most 1"),
        ("{name: a, use: noop, load: {times: 0}}", "`times` is '0'; expected at least 1"),
        ("{name: a, use: noop, scope: everywhere}", "`scope` is 'everywhere'; expected one of case, point, run"),
        ("{name: a, use: noop, cleanup: pased}", "`cleanup` is 'pased'; expected 'passed'"),
        (
            "{name: a, use: noop, load: {times: 2, think: {lognormal: [1 s, 11]}}}",
            "`lognormal` is '11'; expected at most 10",
        ),
    ],
)
def test_a_bound_is_told_in_the_unit_of_its_word(faults: Callable[..., list[str]], test: str, fault: str) -> None:
    assert [each.partition(": ")[2] for each in faults(HEAD + f"tests: [{test}]\n")] == [fault]


def test_names_that_are_near_come_first() -> None:
    assert near("clinets", ["clients", "rate"]) == "'clients'"
    assert near("zzz", ["clients", "rate"]) == "one of clients, rate"
    assert near("zzz", ["clients"], "a word") == "a word"
    assert near("zzz", []) == ""


def test_faults_are_told_once_and_in_the_order_of_the_file() -> None:
    faults = Problems("f")
    for rank, line in ((1, 1), (0, 3), (0, 2), (0, 3)):
        faults.add(Position(rank, line, 1, "--set x" if rank else ""), "wrong")
    assert [fault.where for fault in faults.error().problems] == ["f:2:1", "f:3:1", "--set x"]


def test_the_search_ends_at_a_number_of_faults() -> None:
    faults = Problems("f")
    with pytest.raises(TooManyProblemsError):
        for line in range(MOST + 1):
            faults.add(Position(0, line, 1), "wrong")
    assert len(faults.error().problems) == MOST + 1
