"""Install what pileup and its developers need from PyPI into .venv, all but pileup: linters need no engine."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ALONE = ("axe-playwright-python",)
"""Installed without their dependencies: axe-core is used, the browsers' driver is not."""


def wanted(text: str) -> list[str]:
    """Return the requirements in a pyproject.toml: those of the program, and those of its developers."""
    project = tomllib.loads(text)["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["dev"]]


def main() -> int:
    """Install them; return the exit code of pip."""
    print("installing the Python packages that pileup and its tests need (a minute the first time) ...", flush=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", "constraints.txt"]
    for some in (wanted((ROOT / "pyproject.toml").read_text()), ["--no-deps", *ALONE]):
        code = subprocess.run([*pip, *some], cwd=ROOT, check=False).returncode
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
