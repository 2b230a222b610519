"""What is wrong with a command line is reported in three parts: what happened, what was expected, what to do next."""

import ast
from pathlib import Path

import pytest

from pileup.cli import main

SOURCES = Path(__file__).resolve().parents[2] / "src" / "pileup"
PARTS = 3


def usage_errors(path: Path) -> list[ast.Call]:
    """Return the places where a module raises UsageError."""
    tree = ast.parse(path.read_text())
    return [each for each in ast.walk(tree) if isinstance(each, ast.Call) and name_of(each) == "UsageError"]


def name_of(call: ast.Call) -> str:
    """Return what is called, empty for what belongs to something else."""
    return call.func.id if isinstance(call.func, ast.Name) else ""


def test_d13_every_usage_error_has_three_parts() -> None:
    found = [(path, call) for path in sorted(SOURCES.rglob("*.py")) for call in usage_errors(path)]
    assert len(found) > 20, "it finds them"
    short = [f"{path.name}:{call.lineno}" for path, call in found if len(call.args) < PARTS]
    assert short == []


@pytest.mark.parametrize("words", [["rn"], ["run"], ["run", "--nix", "x"], ["show"], ["export", "--to"]])
def test_d13_what_click_refuses_has_three_parts(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    what, expected, hint = capsys.readouterr().err.splitlines()
    assert what.startswith("error: ")
    assert not what.endswith(".")
    assert expected.startswith("  expected pileup ")
    assert hint.endswith(" --help")
