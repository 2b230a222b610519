"""When a case has failed."""

import pytest

from pileup.model.record import ERROR, FAILED, PASSED, UNKNOWN, Phase
from pileup.stats import judge_case
from tests.manifests import case_of

ONCE = {"id": 1, "name": "copy", "test": "copy", "load_kind": "once", "fail_when": None}
TIMES = {**ONCE, "load_kind": "times"}
CLOSED = {**ONCE, "load_kind": "closed"}


def test_a_check_passes_when_all_passed(row, frame):
    assert judge_case(case_of(ONCE), [frame(1, row([5]))]) == (PASSED, "")
    assert judge_case(case_of(TIMES), [frame(1, row([5, 6])), frame(2, row([7]))]) == (PASSED, "")


@pytest.mark.parametrize("outcome", ["failed", "refused", "ambiguous", "unfinished", "lost"])
def test_a_check_fails_when_one_did_not_pass(row, frame, outcome):
    told = judge_case(case_of(TIMES), [frame(1, row([5])), frame(2, row(**{outcome: 1}))], Phase.MEASURE, "disk full")
    assert told == (FAILED, f"1 of 2 iterations did not pass (1 {outcome}): disk full")


def test_a_single_failure_is_told_by_its_message(row, frame):
    frames = [frame(1, row(failed=1))]
    assert judge_case(case_of(ONCE), frames, 3, lambda: "exit code 3, expected 0") == (
        FAILED,
        "exit code 3, expected 0",
    )
    assert judge_case(case_of(ONCE), frames) == (FAILED, "1 failed")


def test_the_message_is_not_looked_for_when_all_passed(row, frame):
    def never():
        raise AssertionError

    assert judge_case(case_of(CLOSED), [frame(1, row([5]))], 3, never)[0] == PASSED


@pytest.mark.parametrize("kind", ["once", "times", "closed", "open"])
def test_nothing_measured_is_unknown(row, frame, kind):
    told = {**ONCE, "load_kind": kind}
    assert judge_case(case_of(told), []) == (UNKNOWN, "nothing was measured")
    assert judge_case(case_of(told), [frame(1, row([5], phase=2), phase=2)]) == (UNKNOWN, "nothing was measured")


def test_bytes_that_came_are_something(row, frame):
    told = judge_case(case_of(CLOSED), [frame(1, row(bytes_that_came=4096))])
    assert told == (PASSED, "no iteration was due in the measured time")


def test_a_load_fails_when_nothing_passed(row, frame):
    assert judge_case(case_of(CLOSED), [frame(1, row(failed=3))], 3, "no route") == (
        FAILED,
        "nothing passed (3 failed): no route",
    )
    assert judge_case(case_of({**ONCE, "load_kind": "open"}), [frame(1, missed=9)]) == (
        FAILED,
        "nothing passed (9 missed)",
    )


def test_a_load_that_passed_tells_what_did_not(row, frame):
    frames = [frame(1, row([5] * 300, ambiguous=2)), frame(2, phase=4, missed=1)]
    assert judge_case(case_of(CLOSED), frames) == (PASSED, "2 ambiguous, 1 missed")


@pytest.mark.parametrize("outcome", ["failed", "refused", "ambiguous", "unfinished", "lost"])
def test_t05_a_load_fails_when_more_than_one_in_a_hundred_did_not_pass(row, frame, outcome):
    few, many = [frame(1, row([5] * 990, **{outcome: 10}))], [frame(1, row([5] * 989, **{outcome: 11}))]
    assert judge_case(case_of(CLOSED), few)[0] == PASSED
    told = f"1.1 % did not pass (11 {outcome}), more than 1 %: refuses"
    assert judge_case(case_of(CLOSED), many, 3, "refuses") == (FAILED, told)
    assert judge_case(case_of(CLOSED), [frame(1, row([5] * 98), missed=2)])[0] == FAILED, "what was missed was due"


def test_t05_fail_when_takes_the_place_of_that_and_never_of_all(row, frame):
    half, none = [frame(1, row([5] * 50, refused=50))], [frame(1, row(refused=50))]
    assert judge_case(case_of({**CLOSED, "fail_when": "fraction(copy.failed) > 5 %"}), half)[0] == PASSED
    assert judge_case(case_of({**CLOSED, "fail_when": "fraction(copy.failed) > 5 %"}), none)[0] == FAILED
    assert judge_case(case_of({**CLOSED, "fail_when": "never"}), none)[0] == PASSED


def test_fail_when_holds_for_a_check_too(row, frame):
    failed = [frame(1, row([5], failed=1))]
    assert judge_case(case_of(ONCE), failed)[0] == FAILED
    assert judge_case(case_of({**ONCE, "fail_when": "never"}), failed)[0] == PASSED
    assert judge_case(case_of({**ONCE, "fail_when": "fraction(copy.failed) > 60 %"}), failed)[0] == PASSED
    assert judge_case(case_of({**ONCE, "fail_when": "fraction(copy.failed) > 40 %"}), failed)[0] == FAILED


def test_t05_fail_when_knows_that_no_answer_is_slower_than_anything(row, frame):
    asked = {**CLOSED, "fail_when": "p90(copy) > 1 min", "timeout": 10**9}
    assert judge_case(case_of(asked), [frame(1, row([5] * 50, refused=50))])[0] == FAILED


def test_t12_so_many_times_by_several_clients_is_a_check_too(row, frame):
    told = {**CLOSED, "times": 1000, "for": None}
    assert judge_case(case_of(told), [frame(1, row([5] * 999, refused=1))])[0] == FAILED
    assert judge_case(case_of({**told, "for": 10**9}), [frame(1, row([5] * 999, refused=1))])[0] == PASSED
    assert judge_case(case_of({**told, "fail_when": "never"}), [frame(1, row([5] * 9, refused=1))])[0] == PASSED


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("fraction(copy.failed) > 5 %", FAILED),
        ("fraction(copy.failed) > 20 %", PASSED),
        ("count(copy.failed) >= 1", FAILED),
        ("p99(copy) > 1 ns", PASSED),  # too few to say
        ("max(copy) > 1 ms", PASSED),
        ("max(copy.read) > 1 ms", FAILED),
        ("fraction(other.failed) > 5 %", ERROR),
        ("min(copy.speed) < 3 MB/s", ERROR),
    ],
)
def test_fail_when(row, frame, text, outcome):
    frames = [frame(1, row([5] * 9, failed=1), row([2_000_000], "read", iteration=False))]
    assert judge_case(case_of({**CLOSED, "fail_when": text}), frames)[0] == outcome


def test_preparation_is_judged_by_its_own_phase(row, frame):
    frames = [frame(1, row(phase=0, failed=1), phase=0), frame(2, row([5]))]
    assert judge_case(case_of(ONCE), frames, Phase.SETUP)[0] == FAILED
    assert judge_case(case_of(ONCE), frames)[0] == PASSED
