"""tools/tests.py: what failed is tried once more, what passes then is listed, and what takes long is, too."""

from pathlib import Path
from types import ModuleType

import pytest

from tests.support import tool

TESTS = """
from pathlib import Path

MARK = Path(__file__).with_name("mark")


def test_fails_once():
    there = MARK.exists()
    MARK.touch()
    assert there


def test_passes():
    pass
"""
FAILS = "\n\ndef test_fails():\n    assert False\n"


@pytest.fixture(name="tool")
def tests_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The tool, at work in a project of its own."""
    module = tool("tests")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # half the time
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_it.py").write_text(TESTS)
    return module


def test_what_passes_only_at_the_second_try_is_listed(
    tool: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed, slow = tmp_path / tool.LIST, tmp_path / tool.SLOW
    listed.parent.mkdir()
    listed.write_text("fast: test_it.py::test_of_before\nlong: test_it.py::test_of_others\n")
    slow.write_text("fast: 99.0 s test_it.py::test_of_before\n")
    assert tool.main(["fast", "-q"]) == 0
    assert listed.read_text() == "long: test_it.py::test_of_others\nfast: test_it.py::test_fails_once\n"
    assert slow.read_text() == "", "of this step, and of no other run"
    told = capsys.readouterr().out
    assert "passed only at the second try (also in target/second-try.txt):\n  test_it.py::test_fails_once\n" in told


def test_what_fails_twice_has_failed_and_is_not_listed(tool: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(FAILS)
    assert tool.main(["long", "-q"]) == 1
    assert (tmp_path / tool.LIST).read_text() == ""


def test_slow_tests_of_a_step_with_a_limit_are_listed_and_fail_nothing(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mark").touch()
    monkeypatch.setitem(tool.LIMITS, "fast", -1.0)
    assert tool.main(["fast", "-q"]) == 0
    names = {line.partition(" s ")[2] for line in (tmp_path / tool.SLOW).read_text().splitlines()}
    assert names == {"test_it.py::test_fails_once", "test_it.py::test_passes"}
    assert "took longer than -1 s (also in target/slow-tests.txt):" in capsys.readouterr().out


def test_the_longest_comes_first_and_what_is_short_is_left_out(tool: ModuleType, tmp_path: Path) -> None:
    case = '<testcase classname="tests.a" name="test_{0}" time="{0}"/>'
    report = tmp_path / "r.xml"
    cases = "".join(map(case.format, ("3.5", "20.04", "21")))
    report.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    assert tool.slow(report, 20) == ["21.0 s tests/a.py::test_21", "20.0 s tests/a.py::test_20.04"]
    assert tool.slow(tmp_path / "none.xml", 20) == []


def test_without_a_name_of_a_step_the_usage_is_printed(tool: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert tool.main([]) == tool.main(["-q"]) == 2
    assert "python tools/tests.py NAME" in capsys.readouterr().out
