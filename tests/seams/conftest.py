"""Packages outside of pileup, installed as anybody's: the toys, and one for Redis."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TOYS, REDIS = (Path(__file__).parent / name for name in ("toys", "pileup-redis"))
SOURCES = {TOYS: "pileup_toys", REDIS: "src/pileup_redis"}


def project(folder: Path) -> dict[str, Any]:
    """Return what a package says of itself."""
    found: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    return found


GROUPS: dict[str, dict[str, str]] = project(TOYS)["entry-points"]
Command = Callable[..., "subprocess.CompletedProcess[str]"]


def install(folder: Path, site: Path) -> None:
    """Install a package as an installer leaves it."""
    told, module = project(folder), folder / SOURCES[folder]
    (site / module.name).symlink_to(module)
    info = site / f"{module.name}-{told['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {told['name']}\nVersion: {told['version']}\n")
    groups: dict[str, dict[str, str]] = told["entry-points"]
    lines = [line for group, entries in groups.items() for line in (f"[{group}]", *map(" = ".join, entries.items()))]
    (info / "entry_points.txt").write_text("\n".join([*lines, ""]))


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Install the packages, and return the environment that has them."""
    site = tmp_path_factory.mktemp("site")
    for folder in SOURCES:
        install(folder, site)
    paths = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


@pytest.fixture(scope="session")
def installed(site: dict[str, str]) -> Command:
    """Return what runs the command line with the packages."""

    def run(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        environment = {**site, "PILEUP_RUNS": str(cwd / "runs"), **environment}
        command = [sys.executable, "-m", "pileup", *arguments]
        return subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120, check=False
        )

    return run
