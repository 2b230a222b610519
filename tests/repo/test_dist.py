"""What goes into the packages. That they build, install and run without Rust is checked by `make dist` itself."""

import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def dist() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dist", ROOT / "tools/dist.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small project as a checkout: one file committed, one new, one ignored, one removed."""
    root = tmp_path / "tree"
    for name in ("src/pileup/a.py", "src/pileup/b.so", "examples/first-run.yaml", "examples/own.py", "gone.txt"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    (root / ".gitignore").write_text("*.so\n/runs/\n")
    (root / "runs").mkdir()
    (root / "runs/old.txt").touch()
    for command in (["init", "-q"], ["add", "gone.txt", "src"]):
        subprocess.run(["git", "-C", str(root), *command], check=True)
    (root / "gone.txt").unlink()
    return root


WANTED = [".gitignore", "examples/first-run.yaml", "examples/own.py", "src/pileup/a.py"]


def test_what_git_knows_or_would_know_is_packed(dist: ModuleType, tree: Path) -> None:
    assert [str(path) for path in dist.tree_files(tree)] == WANTED


def test_without_git_what_tools_have_made_is_left_out(dist: ModuleType, tree: Path) -> None:
    (tree / ".git").rename(tree / "target")
    (tree / "src/__pycache__").mkdir()
    (tree / "src/__pycache__/a.pyc").touch()
    assert [str(path) for path in dist.tree_files(tree)] == WANTED


def test_the_suites_go_into_the_package_and_the_tree_stays_as_it_is(
    dist: ModuleType, tree: Path, tmp_path: Path
) -> None:
    dist.stage(tree, tmp_path / "copy")
    suites = tmp_path / "copy/src/pileup/suites"
    assert sorted(path.name for path in suites.iterdir()) == ["first-run.yaml", "own.py"]
    assert not (tree / "src/pileup/suites").exists()


def test_the_path_of_the_check_has_no_compiler(
    dist: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("rust", "tools"):
        (tmp_path / name).mkdir()
    (tmp_path / "rust/cargo").touch()
    path = f"{tmp_path / 'rust'}:{tmp_path / 'tools'}:/usr/bin"
    assert dist.without_compilers(path) == f"{tmp_path / 'tools'}:/usr/bin:/bin"


def test_a_wheel_without_its_suites_or_engine_is_found(dist: ModuleType) -> None:
    names = ["pileup/_core/_native.abi3.so", "pileup/py.typed", "pileup/suites/first-run.yaml"]
    assert dist.wheel_faults(names, ["first-run.yaml"]) == []
    assert dist.wheel_faults(names[1:], ["own.yaml"]) == [
        "pileup/_core/_native.abi3.so is not in the wheel",
        "pileup/suites/own.yaml is not in the wheel",
    ]


def test_a_command_that_fails_ends_it_with_what_it_said(dist: ModuleType) -> None:
    with pytest.raises(SystemExit, match=r"no such thing\s+make dist: .* ended with 3"):
        dist.run(sys.executable, "-c", "print('no such thing'); raise SystemExit(3)")


def test_unpacked_sources_are_newer_than_what_was_built_before(dist: ModuleType, tree: Path) -> None:
    old = tree / "src/pileup/a.py"
    os.utime(old, (10**9, 10**9))
    begin = time.time()
    dist.freshen(tree)
    assert old.stat().st_mtime > begin - 2
