"""Any expression comes out as Python's fractions say, and any text at all is a value or a fault in words."""

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pileup.suite.arithmetic import compute
from tests.support import examples

Expression = tuple[str, Fraction]


def joined(parts: tuple[Expression, str, Expression]) -> Expression:
    (left, first), sign, (right, second) = parts
    assume(sign != "/" or second)
    value = {"+": lambda: first + second, "-": lambda: first - second, "*": lambda: first * second}
    return f"({left} {sign} {right})", value.get(sign, lambda: first / second)()


numbers = st.integers(0, 999).map(lambda number: (str(number), Fraction(number)))
decimals = st.integers(1, 99999).map(lambda number: (f"{number / 1000:.3f}", Fraction(number, 1000)))
expressions = st.recursive(
    numbers | decimals, lambda below: st.tuples(below, st.sampled_from("+-*/"), below).map(joined), max_leaves=12
)


@settings(max_examples=examples(200), deadline=None)
@given(expression=expressions)
def test_numbers_and_times_come_out_as_fractions_do(expression: Expression) -> None:
    text, value = expression
    assume(len(text) < 180 and abs(value) < 10**9)
    found = compute(text, str)
    assert float(found) == pytest.approx(float(value), rel=1e-15, abs=0)
    number, _, unit = compute(f"{text} * 1 s", str).partition(" ")
    factor = {"d": 86400 * 10**9, "h": 3600 * 10**9, "min": 60 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
    assert int(number) * factor[unit] == round(value * 10**9)


@settings(max_examples=examples(300), deadline=None)
@given(text=st.text(st.sampled_from("0123456789.eE+-*/() $abc{}smin/hMiB%"), max_size=40) | st.text(max_size=220))
def test_any_text_is_a_value_or_a_fault(text: str) -> None:
    try:
        found = compute(text, lambda name: f"{len(name)} s")
    except ValueError as problem:
        assert "; expected " in str(problem)
    else:
        assert found[-1].isalnum() or found.endswith("/s")
