"""Conditions of `pileup compare --fail-if` are read, or refused with what is known."""

import pytest

from pileup.model.gate import Gate, parse


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("worse", ("worse", "", "", ">=", None)),
        ("p99>5%", ("p99", "", "", ">", 0.05)),
        (" rate(read) < -5 % ", ("rate", "read", "", "<", -0.05)),
        ("not_passed( read.open ) >= 0.01", ("not_passed", "read", "open", ">=", 0.01)),
        ("worse(read) > 10 %", ("worse", "read", "", ">", 0.1)),
    ],
)
def test_a_condition_is_read(text: str, wanted: tuple[object, ...]) -> None:
    assert parse(text) == Gate(text.strip(), *wanted)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("p95 > 5 %", "there is no metric 'p95'; known are rate, throughput"),
        ("p99", "does not say which change is too large"),
        ("p99 > 5 ms", "is a time"),
        ("p99 5 %", "is not a condition"),
        ("", "is not a condition"),
        ("p99 > > 5 %", "is not a number"),
    ],
)
def test_what_is_wrong_is_said(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=r"\S") as problem:
        parse(text)
    assert said in str(problem.value)
