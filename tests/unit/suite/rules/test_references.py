"""Rules between the parts of a suite that the corpus of bad suites does not show."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pileup.model.plan import Plan
from tests.unit.suite.conftest import HEAD, ONE

MINE = '''
from pileup.plugin import Test, option

class Good(Test):
    """Count."""
    number: int = option(1, ge=1)

    def run(self, op):
        self.report("speed", 3.0)

class Bad(Good):
    def check(self):
        return self.nothing_like_it

class Unbound(Good):
    def bounds(self, iterations):
        return 1 / 0
'''


def test_a_plug_in_from_a_file_beside_the_suite(plan: Callable[..., Plan], tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    made = plan(HEAD + "tests: [{name: a, use: ./mine.py:Good, options: {number: 3}}]\n")
    assert made.cases[0].test.use == "./mine.py:Good"


def test_a_mistake_in_a_users_plug_in_is_shown_at_its_line(faults: Callable[..., list[str]], tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    uses = [
        f"- {{name: t{number}, use: './mine.py:{name}'}}\n" for number, name in enumerate(("Bad", "Goood", "Unbound"))
    ]
    found = faults(HEAD + "tests:\n" + "".join(uses))
    assert "mine.py:13: AttributeError" in found[0]
    assert "return self.nothing_like_it" in found[0]
    assert "Goood" in found[1]
    assert "mine.py:17: ZeroDivisionError" in found[2]


def test_a_file_that_does_not_load_is_a_fault(faults: Callable[..., list[str]], tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import nothing_like_it\n")
    found = faults(HEAD + "tests: [{name: a, use: './broken.py:X'}]\n")
    assert found[0].startswith("3:24: broken.py:1: ModuleNotFoundError")


@pytest.mark.parametrize(
    ("check", "right"),
    [
        ("min(a.speed) > 200", True),
        ("max(node.load1) < 50", True),
        ("max(node.cpu[of=all]) < 50", True),
        ("p99(a.response) < 3 s", True),
        ("p99(a.response) < 3", False),
        ("rate(b.speed) > 3 MB/s", False),
        ("max(b.speed) > 3", False),
        ("max(nod.load1) < 50", False),
        ("max(node) < 50", False),
    ],
)
def test_checks_name_what_there_is(faults: Callable[..., list[str]], tmp_path: Path, check: str, right: bool) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    suite = HEAD + "tests: [{name: a, use: './mine.py:Good'}, {name: b, use: noop}]\nmonitors: [{use: node}]\n"
    found = faults(suite + f"criteria: [{{id: C1, says: x, check: '{check}'}}]\n")
    assert (not found) is right, found


def test_a_test_may_say_its_target_when_it_needs_none(plan: Callable[..., Plan]) -> None:
    made = plan(HEAD + "targets: {t: {kind: noop}}\ntests: [{name: a, use: noop, target: t}]\n")
    assert made.cases[0].test.target == "t"


def test_faults_between_parts_are_told_beside_faults_within(faults: Callable[..., list[str]]) -> None:
    found = faults(
        HEAD + "tests:\n- {name: a, use: noop, timeout: 3, after: [b]}\n- {name: b, use: noop, after: [a], wrd: 1}\n"
    )
    assert len(found) == 3
    assert "a -> b -> a" in found[1]


def test_a_test_that_is_not_understood_may_still_be_named(faults: Callable[..., list[str]]) -> None:
    found = faults(HEAD + "tests:\n- {name: a}\n- {name: b, use: noop, after: [a]}\n")
    assert len(found) == 1
    assert "`use` is missing" in found[0]


def test_a_file_that_cannot_be_read_is_a_fault(tmp_path: Path) -> None:
    from pileup.model.errors import SuiteError
    from pileup.suite import load

    with pytest.raises(SuiteError, match="cannot be read"):
        load(tmp_path / "nothing.yaml", {})


def test_a_good_suite_has_no_faults(faults: Callable[..., list[str]]) -> None:
    assert faults(ONE) == []


@pytest.mark.parametrize("title", ['"red \\e[31m"', '"two\\nlines"', '"\\0"'])
def test_a_title_is_a_line_of_printable_text(faults: Callable[..., list[str]], title: str) -> None:
    assert "expected one line of printable text" in faults(ONE.replace("title: t", f"title: {title}"))[0]
