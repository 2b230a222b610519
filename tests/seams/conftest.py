"""The package of toys, installed as anybody's."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

TOYS = Path(__file__).parent / "toys"
PROJECT = tomllib.loads((TOYS / "pyproject.toml").read_text())["project"]
GROUPS: dict[str, dict[str, str]] = PROJECT["entry-points"]
Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Install the package as an installer leaves it, and return the environment that has it."""
    site = tmp_path_factory.mktemp("site")
    (site / "pileup_toys").symlink_to(TOYS / "pileup_toys")
    info = site / f"pileup_toys-{PROJECT['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {PROJECT['name']}\nVersion: {PROJECT['version']}\n")
    lines = [line for group, entries in GROUPS.items() for line in (f"[{group}]", *map(" = ".join, entries.items()))]
    (info / "entry_points.txt").write_text("\n".join([*lines, ""]))
    paths = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


@pytest.fixture(scope="session")
def installed(site: dict[str, str]) -> Command:
    """Return what runs the command line with the package."""

    def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        environment = {**site, "PILEUP_RUNS": str(cwd / "runs")}
        command = [sys.executable, "-m", "pileup", *arguments]
        return subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120, check=False
        )

    return run
