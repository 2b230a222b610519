"""Size budgets of DESIGN.md 8, checked over the sources, and shown to fail on a violation."""

import ast
import statistics
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
RUST = sorted((ROOT / "crates").rglob("*.rs"))
FILE_STOP, FILE_MEDIAN = 600, 120
FUNCTION_STOP, FUNCTION_MEDIAN = 60, 10


def function_lengths(source: str) -> dict[str, int]:
    """Lines of every function, without its docstring: documentation is not what makes a function long."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
            found[f"{node.name}:{node.lineno}"] = (node.end_lineno or 0) - body[0].lineno + 2
    return found


def too_long(lengths: dict[str, int], limit: int) -> dict[str, int]:
    return {name: length for name, length in lengths.items() if length > limit}


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


@pytest.mark.parametrize("path", SOURCES + RUST, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_is_over_its_limit(path: Path) -> None:
    assert lines(path) <= FILE_STOP, "split it"


def test_no_function_is_over_its_limit() -> None:
    found = {}
    for path in SOURCES:
        for name, length in too_long(function_lengths(path.read_text()), FUNCTION_STOP).items():
            found[f"{path.relative_to(ROOT)}:{name}"] = length
    assert not found


def test_medians_stay_small() -> None:
    files = [lines(path) for path in SOURCES if path.name != "__init__.py"]
    functions = [length for path in SOURCES for length in function_lengths(path.read_text()).values()]
    assert statistics.median(files) < FILE_MEDIAN
    assert statistics.median(functions) < FUNCTION_MEDIAN


def test_every_function_is_annotated() -> None:
    missing = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.returns is None
    ]
    assert not missing


def test_a_long_function_is_found() -> None:
    source = "def long() -> None:\n" + "    pass\n" * (FUNCTION_STOP + 1)
    assert too_long(function_lengths(source), FUNCTION_STOP)
    assert not too_long(function_lengths("def short() -> None:\n    pass\n"), FUNCTION_STOP)
