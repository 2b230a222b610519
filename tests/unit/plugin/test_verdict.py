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


class Mute(Exception):
    """An exception that cannot be shown."""

    def __str__(self) -> str:
        raise ValueError("no words")

    __repr__ = __str__


def test_what_came_back() -> None:
    told = "expected nothing, or an exception that says what failed"
    assert verdict_of(None) == verdict_of(True) == (Outcome.PASSED, "")
    assert verdict_of(False) == (Outcome.FAILED, f"the test returned False; {told}")
    assert verdict_of({"passed": 7}) == (Outcome.FAILED, f"the test returned {{'passed': 7}}; {told}")
    assert verdict_of(Mute()) == (Outcome.FAILED, f"the test returned a Mute; {told}")
    assert len(verdict_of("x" * 10_000)[1]) < 200


def test_an_exception_without_words_is_named() -> None:
    outcome, message = verdict_on(Mute())
    assert (outcome, message) == (Outcome.FAILED, "Mute: (its message cannot be shown)")
