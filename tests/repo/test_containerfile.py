"""The container file fits the tree; where something builds images, it is built and used."""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from tests.support import pileup

ROOT = Path(__file__).resolve().parents[2]
BUILDING = 1800
"""Seconds that a build and its use may take."""
TEXT = (ROOT / "Containerfile").read_text()
LINES = re.sub(r"\\\n\s*", " ", re.sub(r"^#.*\n", "", TEXT, flags=re.MULTILINE)).splitlines()
STEPS = [(line.split()[0], line.partition(" ")[2].strip()) for line in LINES if line]


def given(word: str) -> list[str]:
    return [rest for name, rest in STEPS if name == word]


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def test_it_has_known_instructions_only_and_begins_with_an_image() -> None:
    known = {"FROM", "RUN", "COPY", "LABEL", "USER", "WORKDIR", "ENV", "ENTRYPOINT", "CMD"}
    assert {name for name, _ in STEPS} <= known
    assert STEPS[0][0] == "FROM"


def test_stages_that_are_copied_from_are_there() -> None:
    stages = re.findall(r"^FROM \S+ AS (\S+)", TEXT, flags=re.MULTILINE)
    assert [name for rest in given("COPY") for name in re.findall(r"--from=(\S+)", rest)] == stages == ["build"]


def test_what_is_copied_is_there_and_not_ignored() -> None:
    ignored = [line for line in (ROOT / ".containerignore").read_text().splitlines() if line[:1] not in ("", "#")]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = [
        "src",
        "crates",
        "examples",
        "Cargo.lock",
        "constraints.txt",
        project["readme"],
        *project["license-files"],
    ]
    assert all((ROOT / name).exists() for name in needed)
    assert not set(needed) & set(ignored)
    assert (ROOT / ".dockerignore").read_text() == (ROOT / ".containerignore").read_text()


def test_its_compilers_are_those_that_the_page_about_installing_names() -> None:
    """Debian 12 has Python 3.11, and as rustc-web a Rust that is new enough; `rustc` is 1.63."""
    images = {rest.partition(" AS ")[0] for rest in given("FROM")}
    assert images == {"docker.io/library/debian:bookworm-slim"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert version(project["requires-python"].removeprefix(">=")) <= version("3.11")
    installed = set(re.findall(r"[\w-]+", next(rest for rest in given("RUN") if "apt-get" in rest)))
    assert {"cargo-web", "rustc-web", "python3-venv"} <= installed
    assert not {"rustc", "cargo"} & installed
    page = (ROOT / "docs/install.md").read_text()
    (rust,) = re.findall(r"`apt-get install rustc-web cargo-web`, of its security updates \(([0-9.]+)\)", page)
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    assert version(rust) >= version(cargo["rust-version"])


def test_it_runs_as_nobody_in_particular() -> None:
    (user,) = given("USER")
    assert int(user.partition(":")[0]) > 0
    assert f"--uid {user.partition(':')[0]} " in TEXT
    assert json.loads(given("ENTRYPOINT")[0]) == ["pileup"]


def test_the_tool_that_builds_is_that_of_make_dist() -> None:
    (maturin,) = re.findall(r"maturin==[0-9.]+", TEXT)
    assert f'"{maturin}"' in (ROOT / "tools/dist.py").read_text()


def test_where_nothing_builds_images_the_tool_says_so(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools/image.py")],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "no podman, docker or buildah works here; expected one of them\n  apt-get install podman" in done.stdout


@pytest.fixture
def image(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("image")


def test_what_is_typed_in_the_image_is_read_as_it_is_printed(image: ModuleType, tmp_path: Path) -> None:
    told = {}
    for words, read in image.USES:
        if words[0] != "run":  # tests/repo/test_dist.py
            done = pileup(*words, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            told[words[0]] = read(done.stdout)
    assert told["--version"].startswith("pileup ")
    assert int(told["list"].removesuffix(" tests")) > 10


@pytest.mark.long
def test_the_image_is_built_and_used(image: ModuleType) -> None:
    """With a base image made here where that can be done: no registry of images is needed then."""
    own_base = os.geteuid() == 0 and bool(shutil.which("buildah") and shutil.which("debootstrap"))
    words = ["--own-base"] if own_base else []
    if not image.builder(own_base):
        pytest.skip("no podman, docker or buildah works here; apt-get install podman, then: make image")
    command = [sys.executable, str(ROOT / "tools/image.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=BUILDING, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pileup run suite:first-run --quiet --json: passed" in done.stdout
