"""Values that are computed from variables: exact, with their dimension, and nothing but arithmetic."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pileup.model.plan import Plan
from pileup.suite import load
from pileup.suite.arithmetic import compute
from tests.unit.suite.conftest import HEAD

VALUES = {"minute": "2 s", "slots": "500", "share": "5 %", "speed": "10 MB/s", "site": "fnal", "less": "-3", "b-c": "7"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2 * $minute", "4 s"),
        ("2*$minute", "4 s"),
        ("${minute} * 30", "1 min"),
        ("12 h / 2", "6 h"),
        ("1 min + 30 s - 5 s", "85 s"),
        ("1 s / 3", "333333333 ns"),
        ("0 * $minute", "0 s"),
        ("$slots / 60 s", "8.3333333333333333 /s"),
        ("$slots / 1 min * 6", "50 /s"),
        ("$slots * $share", "25"),
        ("2 * ($slots + 50) * 10", "11000"),
        ("10 - 2 - 3", "5"),
        ("100 / 10 / 5", "2"),
        ("2 + 3 * 4", "14"),
        ("0.1 + 0.2", "0.3"),
        ("1e3 * 2.5e-1", "250"),
        ("$speed * 1 min", "600000000 B"),
        ("1 GiB / 8 s", "134217728 B/s"),
        ("64 MiB / 1 KiB", "65536"),
        ("6 /h * 1 d", "144"),
        ("5 /min + 1 /s", "1.0833333333333333 /s"),
        ("100 Mbit/s", "12500000 B/s"),
        ("20 % * 10", "2"),
        ("5 + $less", "2"),
        ("${b-c} * 2", "14"),
        ("1 d * 0.5", "12 h"),
        (f"{'(' * 90}1{')' * 90}", "1"),
    ],
)
def test_what_comes_out_is_exact(text: str, found: str) -> None:
    assert compute(text, VALUES.__getitem__) == found


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "'' cannot be computed as something is missing at its end"),
        ("2 *", "'2 *' cannot be computed as something is missing at its end"),
        ("2 apples", "from 'apples' on"),
        ("2 h * bad", "from 'bad' on"),
        ("2min2", "from '2min2' on"),
        ("(1 + 2", "something is missing at its end"),
        ("1 + 2)", "from ')' on"),
        ("2 ** 3", "from '* 3' on"),
        ("-1", "from '-1' on"),
        ("__import__('os')", "cannot be computed from \"__import__('os')\" on"),
        ("2 * 3 s + 1", "a number is added to a time, or taken from it; expected two of one kind"),
        ("1 / ($slots - 500)", "divides by zero; expected another divisor"),
        ("$site * 2", "the variable 'site' is 'fnal'; expected a number or a quantity"),
        ("1 s * 1 s", "the result is a time^2; expected a time"),
        ("1e300 * 2", "larger than 9223372036854775808; expected a number that fits"),
        ("1 + " * 60 + "1", "241 characters are to be computed; expected at most 200"),
    ],
)
def test_what_is_no_arithmetic_is_told(text: str, told: str) -> None:
    with pytest.raises(ValueError, match="; expected ") as problem:
        compute(text, VALUES.__getitem__)
    assert told in str(problem.value)


SCALED = """
variables: {minute: 1 min, clients: 5, jobs: = 1100 * $clients, rest: = $jobs / (60 * $minute)}
about: $jobs at $rest
tests:
  - name: a
    use: noop
    load: {clients: $clients, for: = 10 * $minute, think: {uniform: [= $minute / 2, = $minute * 2]}}
  - {name: b, use: noop, with: [a], load: {every: = 2 * $minute}}
  - {name: c, use: noop, load: {rate: = $jobs / $minute, for: = 5 s}}
"""


@pytest.mark.parametrize(("values", "minute"), [({}, 60), ({"minute": "1 s"}, 1), ({"minute": "= 2 * 250 ms"}, 0.5)])
def test_days_can_be_minutes(plan: Callable[..., Plan], values: dict[str, str], minute: float) -> None:
    suite = plan(HEAD + SCALED, values).suite
    a, b, c = (test.load for test in suite.tests)
    unit = int(minute * 1e9)
    assert a.think is not None
    assert (a.for_, a.think.uniform, b.every, c.rate) == (10 * unit, (unit // 2, 2 * unit), 2 * unit, 5500 / minute)
    assert suite.variables["jobs"] == "5500"


def test_xml_computes_as_yaml_does(tmp_path: Path, fake_plugins: None) -> None:
    path = tmp_path / "suite.xml"
    path.write_text(
        '<suite pileup="1" title="t"><variables minute="2 s"/>'
        '<test name="a" use="noop"><load times="3"><think>= 3 * $minute</think></load></test></suite>'
    )
    think = load(path).suite.tests[0].load.think
    assert think is not None
    assert think.fixed == 6 * 10**9


def test_faults_stand_where_the_text_stands(faults: Callable[..., list[str]]) -> None:
    text = HEAD + "tests:\n  - {name: a, use: noop, load: {every: = 2 * $minit, for: = 1 s + 2, clients: = 1 / 0}}\n"
    found = faults(text + "variables: {minute: 1 s}\n")
    assert [each.partition(" ")[0] for each in found] == ["4:40:", "4:59:", "4:79:"]
    assert "there is no variable '$minit'; expected '$minute'" in found[0]
    assert "a number is added to a time" in found[1]
    assert "divides by zero" in found[2]


@pytest.mark.parametrize("text", ["=2", "==", "a = 2", "'=x'"])
def test_a_text_without_the_sign_is_a_text(plan: Callable[..., Plan], text: str) -> None:
    assert plan(HEAD + f"about: {text}\ntests: [{{name: a, use: noop}}]\n").suite.about == text.strip("'")


def test_a_computed_value_of_the_wrong_dimension_is_a_fault(faults: Callable[..., list[str]]) -> None:
    (told,) = faults(HEAD + "tests: [{name: a, use: noop, load: {every: = 2 * 3}}]\n")
    assert "'6' has no unit; expected a time" in told
