"""What a test returned or raised becomes an outcome with a message."""

import importlib
from pathlib import Path

import pytest

from pileup.model.errors import Ambiguous, Failed, Refused
from pileup.model.record import Outcome
from pileup.plugin.verdict import Judge, verdict_of, verdict_on


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


def test_p2_a_verdict_without_words_names_the_line() -> None:
    found = []
    for problem in (AssertionError(), TimeoutError(), Failed(""), SystemExit(3)):
        try:
            raise problem
        except BaseException as raised:
            found.append(verdict_on(raised)[1].partition(":")[0])
    assert found == [
        "the test failed without a reason (test_verdict.py",
        "no answer in time (test_verdict.py",
        "the test failed without a reason (test_verdict.py",
        "the test called exit(3) (test_verdict.py",
    ]


def test_p2_a_test_of_an_installed_package_has_its_line_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where packages are installed everything looks like a library."""
    site = tmp_path / "lib" / "python3.13" / "site-packages"
    (site / "pileup_p2").mkdir(parents=True)
    (site / "pileup_p2" / "__init__.py").write_text("")
    (site / "pileup_p2" / "tests.py").write_text(
        "import json\nfrom pileup.plugin import Test\n\nclass Mine(Test):\n"
        "    def run(self, op):\n        json.loads('{')\n"
    )
    monkeypatch.syspath_prepend(site)
    test = importlib.import_module("pileup_p2.tests").Mine()
    try:
        test.run(None)
    except ValueError as problem:
        assert Judge(test)(problem)[1].endswith("(tests.py:6)")
        assert "tests.py" not in verdict_on(problem)[1]


def test_a_message_that_is_no_text_is_kept_as_far_as_it_goes() -> None:
    assert verdict_on(ValueError("caf\udce9")) == (Outcome.FAILED, "ValueError: caf\\udce9")
