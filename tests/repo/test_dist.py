"""What goes into the packages. That they build, install and run without Rust is checked by `make dist` itself."""

import json
import os
import platform
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from tests.support import pileup, run_folder, tool

ROOT = Path(__file__).resolve().parents[2]
SUITE = """
pileup: 1
title: A check
tests: [{name: one, use: noop}]
criteria: [{id: C1, says: "One passed", check: count(one.passed) == 1}]
"""


@pytest.fixture(scope="module")
def dist() -> ModuleType:
    return tool("dist")


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


def test_a_wheel_that_lacks_something_is_found(dist: ModuleType, tree: Path, tmp_path: Path) -> None:
    dist.stage(tree, tmp_path / "copy")
    package = dist.package_files(tmp_path / "copy")
    assert package == ["pileup/a.py", "pileup/suites/first-run.yaml", "pileup/suites/own.py"]
    papers = ["p-1.dist-info/licenses/LICENSE", "p-1.dist-info/sboms/pileup-py.cyclonedx.json"]
    names = ["pileup/_core/_native.abi3.so", "pileup/py.typed", *package, *papers]
    assert dist.wheel_faults(names, package) == []
    assert dist.wheel_faults([], package) == [
        f"{name.removeprefix('p-1.dist-info/')} is not in the wheel" for name in names
    ]


def test_what_the_program_reads_at_run_time_is_packed(dist: ModuleType) -> None:
    packed = {str(path) for path in dist.tree_files(ROOT)}
    kept = {"src/pileup/cli/skeletons/suite/thing_name.yaml.txt", "src/pileup/py.typed", "examples/first-run.yaml"}
    assert kept | {"tools/build_backend.py", "tools/rust.py", "tools/trained.py", "LICENSE"} <= packed


def test_wheels_are_made_for_this_processor_first_and_no_other_is_forgotten(dist: ModuleType) -> None:
    here, missing = dist.targets()
    assert here[0] == platform.machine()
    assert sorted([*here, *missing]) == ["aarch64", "x86_64"]


def test_a_command_that_fails_ends_it_with_what_it_said(dist: ModuleType) -> None:
    with pytest.raises(SystemExit, match=r"no such thing\s+make dist: .* ended with 3"):
        dist.run(sys.executable, "-c", "print('no such thing'); raise SystemExit(3)")


@pytest.mark.parametrize(("wanted", "code", "verdict"), [("1", 0, "passed"), ("2", 4, "failed")])
def test_the_verdict_is_that_of_the_run(wanted: str, code: int, verdict: str, dist: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE.replace("== 1", f"== {wanted}"))
    done = pileup("run", "suite.yaml", "--quiet", "--json", cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert dist.verdict(done.stdout) == verdict


def test_the_verdict_is_found_by_the_last_line_too(tmp_path: Path) -> None:
    from benchmarks.admin import verdict_told

    (tmp_path / "suite.yaml").write_text(SUITE)
    done = pileup("run", "suite.yaml", "--quiet", cwd=tmp_path)
    assert verdict_told(done.stdout, tmp_path) == "passed"
    assert run_folder(done).is_dir()


def test_plug_ins_that_do_not_load_are_found(dist: ModuleType, tmp_path: Path) -> None:
    listed = pileup("list", "--json", cwd=tmp_path).stdout
    found = json.loads(listed)
    assert dist.unavailable(listed) == []
    names = {each["name"]: each for plugins in found.values() for each in plugins}
    assert set(names) > dist.OF_EXTRAS, "they are there, and need packages that the wheel does not bring"
    for name in ("noop", *dist.OF_EXTRAS):
        names[name] |= {"available": False, "about": "unavailable: no such module"}
    assert set(dist.unavailable(json.dumps(found))) == {"noop: unavailable: no such module"}


def test_unpacked_sources_are_newer_than_what_was_built_before(dist: ModuleType, tree: Path) -> None:
    old = tree / "src/pileup/a.py"
    os.utime(old, (10**9, 10**9))
    begin = time.time()
    dist.freshen(tree)
    assert old.stat().st_mtime > begin - 2


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PATH with what an installation calls, but Rust."""
    folder = tmp_path_factory.mktemp("bin")
    for name in ("sh", "env"):
        (folder / name).symlink_to(f"/usr/bin/{name}")
    return folder


def shim(folder: Path, name: str, says: str) -> None:
    """Put a program of that name into a folder, which prints one line."""
    (folder / name).write_text(f"#!/bin/sh\necho '{says}'\n")
    (folder / name).chmod(0o755)


@pytest.mark.parametrize(
    ("there", "told"),
    [
        ({}, "no cargo is here"),
        ({"cargo": "cargo 1.95.0"}, "no rustc is here"),
        ({"cargo": "cargo 0.66.0", "rustc": "rustc 1.63.0 (4b91a6ea7 2022-08-08)"}, "rustc 1.63.0 is here"),
        ({"cargo": "cargo 1.95.0", "rustc": ""}, "a rustc without a version is here"),
    ],
)
def test_pip_says_which_rust_the_sources_need_and_how_to_get_it(
    there: dict[str, str], told: str, programs: Path, tmp_path: Path
) -> None:
    for name, says in there.items():
        shim(tmp_path, name, says)
    words = ("-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--disable-pip-version-check")
    done = subprocess.run(
        [sys.executable, *words, "--wheel-dir", str(tmp_path), str(ROOT)],
        env={"PATH": f"{tmp_path}:{programs}", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    oldest = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
    assert done.returncode != 0
    assert f"error: {told}; expected rustc {oldest} or newer, and cargo, to build the engine of pileup" in said
    assert "apt-get install rustc-web cargo-web" in said
    assert "https://rustup.rs" in said
    assert "Traceback" not in said


def test_a_rust_that_is_new_enough_is_taken(tmp_path: Path, programs: Path) -> None:
    for name in ("rustc", "cargo"):
        shim(tmp_path, name, f"{name} 1.188.0")
    code = "import rust; print(rust.fault())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT / "tools",
        env={"PATH": f"{tmp_path}:{programs}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "None\n"
