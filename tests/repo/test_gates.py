"""Each gate of `make lint` and `make test` is shown to close: it passes on the tree and fails on a violation."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


def run(*command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    import os

    return subprocess.run(
        [str(BIN / command[0]), *command[1:]],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The Python sources and their configuration, to be broken."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    ignored = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=ignored)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "line", "named"),
    [
        ("record/bad.py", "import pileup.cli", "pileup.record.bad -> pileup.cli"),
        ("model/bad.py", "import pileup.plugin", "pileup.model.bad -> pileup.plugin"),
        ("builtin/storage/bad.py", "import pileup.run.machine", "pileup.builtin"),
        ("stats/bad.py", "import pileup.builtin.tests", "pileup.builtin"),
        ("newlayer/__init__.py", "", "newlayer"),
    ],
)
def test_the_layer_contract_fails_on_a_violation(copy: Path, file: str, line: str, named: str) -> None:
    path = copy / "src/pileup" / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'"""Bad."""\n\n{line}\n')
    # an installed pileup must not be in for the broken copy
    result = run("lint-imports", "--no-cache", cwd=copy, PYTHONPATH=str(copy / "src"))
    assert result.returncode != 0
    assert named in result.stdout + result.stderr


def test_the_layer_contract_holds_on_the_copy(copy: Path) -> None:
    result = run("lint-imports", "--no-cache", cwd=copy, PYTHONPATH=str(copy / "src"))
    assert result.returncode == 0, result.stdout


def test_strict_typing_fails_on_a_violation(copy: Path) -> None:
    bad = copy / "bad.py"
    bad.write_text("def unannotated(x):\n    return x + 1\n")
    result = run("mypy", "bad.py", "--cache-dir", str(copy / "cache"), cwd=copy)
    assert result.returncode != 0
    assert "no-untyped-def" in result.stdout


def test_the_linter_fails_on_a_violation(copy: Path) -> None:
    bad = copy / "src/pileup/model/bad.py"
    bad.write_text("import os\nprint(eval('1'))\n")
    result = run("ruff", "check", "--no-cache", str(bad), cwd=copy)
    assert result.returncode != 0
    for rule in ("T201", "F401", "S307", "D100"):
        assert rule in result.stdout


def test_a_warning_fails_a_test(copy: Path) -> None:
    (copy / "tests").mkdir()
    (copy / "tests/test_warns.py").write_text("import warnings\n\ndef test_it():\n    warnings.warn('old')\n")
    result = run("pytest", "-q", "-p", "no:cacheprovider", cwd=copy)
    assert result.returncode == 1
    assert "UserWarning: old" in result.stdout
