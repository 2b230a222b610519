"""Cases in order, their bounds, and limits that forbid them."""

from collections.abc import Callable
from math import ceil, sqrt

import pytest

from pileup.model.loads.load import Load
from pileup.model.plan import Plan, Totals
from tests.unit.suite.conftest import HEAD, ONE

S = 10**9


def load_of(words: dict[str, object]) -> Load:
    return Load.model_validate(words)


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ({}, 1),
        ({"times": 7}, 7),
        ({"clients": 3, "times": 7}, 7),
        ({"clients": 3, "for": "10 s"}, None),
        ({"rate": 10, "for": "10 s"}, 100),
        ({"rate": 10, "for": "10 s", "ramp": "2 s", "warm_up": "3 s"}, 140),
        ({"rate": 10, "for": "10 s", "times": 20}, 20),
        ({"rate": 10, "times": 20}, 20),
        ({"rate": 10, "for": "10 s", "arrivals": "poisson"}, 100 + 6 * 10),
        ({"rate": "7 /min", "for": "1 h", "arrivals": "poisson"}, ceil(420 + 6 * sqrt(420))),
    ],
)
def test_the_largest_number_of_iterations(words: dict[str, object], number: int | None) -> None:
    assert load_of(words).iterations == number


@pytest.mark.parametrize(
    ("load", "seconds"),
    [
        ("{}", 60),
        ("{times: 3}", 180),
        ("{times: 3, think: 1 s}", 183),
        ("{clients: 2, times: 3}", 120),
        ("{clients: 2, for: 10 s}", 70),
        ("{clients: 2, for: 10 s, ramp: 3 s, warm_up: 2 s}", 75),
        ("{clients: 2, for: 1 h, times: 2}", 60),
        ("{rate: 2, for: 10 s, delay: 7 s}", 77),
        ("{rate: 2, for: 10 s, delay: {uniform: [1 s, 9 s]}}", 79),
        ("{rate: 2, times: 10}", 65),
    ],
)
def test_the_longest_time_counts_every_time_out(plan: Callable[..., Plan], load: str, seconds: int) -> None:
    made = plan(HEAD + f"tests: [{{name: a, use: noop, timeout: 1 min, load: {load}}}]\n")
    assert made.cases[0].longest == seconds * S


def test_each_operation_of_a_native_test_may_take_the_time_out(plan: Callable[..., Plan]) -> None:
    fill = "{name: a, use: storage.write, options: {files: 5}, timeout: 10 s, load: {times: 2}}"
    made = plan(HEAD + f"targets: {{d: {{kind: posix}}}}\ntests: [{fill}]\n")
    assert made.cases[0].longest == 2 * 5 * 10 * S


def test_the_suites_delay_counts_where_a_test_has_none(plan: Callable[..., Plan]) -> None:
    made = plan(HEAD + "delay: 5 s\ntests: [{name: a, use: noop}, {name: b, use: noop, load: {delay: 1 s}}]\n")
    assert [case.longest for case in made.cases] == [65 * S, 61 * S]


def test_cases_stand_in_the_order_of_the_file_unless_after_says_otherwise(plan: Callable[..., Plan]) -> None:
    text = (
        "tests:\n- {name: c, use: noop, after: [a, b, a]}\n- {name: b, use: noop}\n- {name: a, use: noop, after: [b]}\n"
    )
    made = plan(HEAD + text)
    assert [(case.id, case.name, case.after) for case in made.cases] == [(1, "b", ()), (2, "a", (1,)), (3, "c", (1, 2))]


def test_operations_and_bytes_come_from_the_tests(plan: Callable[..., Plan]) -> None:
    made = plan(
        HEAD + "targets: {d: {kind: posix}}\ntests:\n"
        "- {name: a, use: storage.write, options: {files: 5, size: 1 KiB}, load: {times: 2}}\n"
        "- {name: b, use: noop, load: {rate: 10, for: 1 s}}\n"
    )
    assert [(case.operations, case.bytes) for case in made.cases] == [(10, 10240), (10, 0)]
    assert made.totals() == Totals(
        expected=made.cases[0].expected + made.cases[1].expected,
        longest=made.cases[0].longest + made.cases[1].longest,
        operations=20,
        bytes=10240,
    )


def test_a_case_without_a_bound_leaves_the_totals_open(plan: Callable[..., Plan]) -> None:
    made = plan(HEAD + "tests: [{name: a, use: noop, load: {clients: 1, for: 1 s}}, {name: b, use: noop}]\n")
    assert made.cases[0].operations is None
    assert made.totals().operations is None


@pytest.mark.parametrize(
    ("limits", "refused"),
    [
        ("bytes: 10 KiB", False),
        ("bytes: 10239 B", True),
        ("operations: 20", False),
        ("operations: 19", True),
        ("duration: 3 s", False),
        ("duration: 2 s", True),
    ],
)
def test_limits_forbid_what_is_bound_to_pass_them(faults: Callable[..., list[str]], limits: str, refused: bool) -> None:
    text = (
        HEAD + "targets: {d: {kind: posix}}\ntests:\n"
        "- {name: a, use: storage.write, options: {files: 5, size: 1 KiB}, load: {times: 2}}\n"
        "- {name: b, use: noop, load: {rate: 5, for: 2 s, warm_up: 0 s}}\n"
        "- {name: c, use: noop, load: {clients: 5, for: 1 s}}\n"
        f"limits: {{{limits}}}\n"
    )
    assert bool(faults(text)) is refused


def test_time_outs_alone_do_not_forbid(plan: Callable[..., Plan]) -> None:
    assert plan(ONE + "limits: {duration: 1 s}\n").cases[0].longest == 60 * S


def test_what_may_be_left_out_is_written_out(plan: Callable[..., Plan]) -> None:
    made = plan(
        HEAD + "targets: {d: {kind: posix}}\ntests: [{name: a, use: storage.write}, {name: b, use: noop}]\n"
        "monitors: [{use: node}, {use: node, name: n}]\n"
    )
    assert [case.test.target for case in made.cases] == ["d", None]
    assert [test.target for test in made.suite.tests] == ["d", None]
    assert [monitor.name for monitor in made.suite.monitors] == ["node", "n"]


def test_the_digest_follows_file_and_values(plan: Callable[..., Plan]) -> None:
    text = ONE + "variables: {a: 1, b: 2}\n"
    digests = {
        plan(text).digest,
        plan(text, {"a": "1"}).digest,
        plan(text + "#\n").digest,
        plan(text, {"b": "1"}).digest,
    }
    assert len(digests) == 4
    assert plan(text).digest == plan(text).digest
    assert plan(text, {"a": "3", "b": "4"}).digest == plan(text, {"b": "4", "a": "3"}).digest


@pytest.mark.long
def test_two_thousand_tests_are_planned_in_a_moment(plan: Callable[..., Plan]) -> None:
    lines = [f"- {{name: t{number}, use: noop, after: [t{number // 2}]}}\n" for number in range(1, 2000)]
    made = plan(HEAD + "tests:\n- {name: t0, use: noop}\n" + "".join(lines))
    assert len(made.cases) == 2000
