"""What a test returned or raised becomes an outcome with a message."""

import pytest

from pileup.model.errors import Ambiguous, Failed, Refused
from pileup.model.record import Outcome
from pileup.plugin.verdict import verdict_of, verdict_on


@pytest.mark.parametrize(
    ("problem", "outcome", "message"),
    [
        (Failed("3 entries", "5"), Outcome.FAILED, "3 entries; expected 5"),
        (Refused("no"), Outcome.REFUSED, "no"),
        (Ambiguous("gone"), Outcome.AMBIGUOUS, "gone"),
        (TimeoutError(), Outcome.AMBIGUOUS, "no answer in time"),
        (AssertionError("1 == 2"), Outcome.FAILED, "1 == 2"),
        (AssertionError(), Outcome.FAILED, "the test failed without a reason"),
        (SystemExit(3), Outcome.FAILED, "the test called exit(3)"),
    ],
    ids=repr,
)
def test_what_was_raised(problem: BaseException, outcome: Outcome, message: str) -> None:
    assert verdict_on(problem) == (outcome, message)


def test_a_mistake_is_named_at_the_users_line() -> None:
    try:
        {}["size"]
    except KeyError as problem:
        outcome, message = verdict_on(problem)
    assert outcome is Outcome.FAILED
    assert message.startswith("KeyError: 'size' (test_verdict.py:")


def test_what_came_back() -> None:
    assert verdict_of(None) == verdict_of(7) == (Outcome.PASSED, "")
    assert verdict_of(False) == (Outcome.FAILED, "the test returned False")
