"""Variables in the texts of a suite."""

from collections.abc import Callable

import pytest

from pileup.model.plan import Plan
from tests.unit.suite.conftest import ONE


def suite(about: str, variables: str) -> str:
    return ONE + f"variables: {variables}\nabout: {about}\n"


@pytest.mark.parametrize(
    ("about", "filled"),
    [
        ("$a", "x"),
        ("${a}", "x"),
        ("'$a-$a ${a}a'", "x-x xa"),
        ("$$a", "$a"),
        ("$$$a", "$x"),
        ("costs 5$ and $5", "costs 5$ and $5"),
        ("${b-c}", "hyphen"),
        ("$d", "x and x"),
        ("$e", "null"),
    ],
)
def test_a_text_is_filled(plan: Callable[..., Plan], about: str, filled: str) -> None:
    assert plan(suite(about, "{a: x, b-c: hyphen, d: $a and $a, e: 'null'}")).suite.about == filled


def test_an_empty_variable_may_be_set_and_must_be_when_it_is_used(
    plan: Callable[..., Plan], faults: Callable[..., list[str]]
) -> None:
    text = suite("$a", "{a: }")
    assert plan(text, {"a": "given"}).suite.about == "given"
    assert plan(text, {"a": ""}).suite.about == ""
    assert faults(text) == ["5:8: the variable 'a' has no value; expected one (--set a=VALUE)"]
    assert plan(suite("unused", "{a: }")).suite.about == "unused"


def test_a_variable_used_before_it_is_defined_is_a_fault(faults: Callable[..., list[str]]) -> None:
    assert "used before it has a value" in faults(suite("x", "{a: $b, b: $a}"))[0]


def test_an_environment_variable_is_none(faults: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/root")
    assert "there is no variable '$HOME'" in faults(suite("$HOME", "{a: x}"))[0]


def test_words_are_not_filled(faults: Callable[..., list[str]]) -> None:
    assert "unknown word '$a'" in faults(suite("x", "{a: seed}") + "$a: 3\n")[0]
