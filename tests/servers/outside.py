"""Systems that pileup did not start, as far as it knows: what a launched one reports on itself is taken away."""

import contextlib
import os
import pwd
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.servers.slurm import RunningSlurm, slurm
from tests.support import ROOT, give_up


@dataclass(frozen=True)
class Site:
    """A Slurm of a site: where it is, and the variables that make its commands work on this machine."""

    url: str
    environment: dict[str, str]
    user: str
    """Who may submit to it."""


@contextlib.contextmanager
def slurm_site(folder: Path, **settings: Any) -> Iterator[Site]:
    """Yield a Slurm with these settings (of a suite's `launch`) of which nothing is known but where it is."""
    with slurm(folder, **settings) as made:
        yield site_of(made)


def site_of(made: RunningSlurm) -> Site:
    """Return a running Slurm as somebody else's: the file that reports on it is removed."""
    target = made.target()
    found = Site(target.url, target.environment(), target.run_as or pwd.getpwuid(os.geteuid()).pw_name)
    (made.home / "etc" / "pileup.json").unlink()
    return found


def python_of(user: str) -> str:
    """Return a Python that an ordinary user can run pileup by.

    The test is skipped where that user may not enter the folder of the project. Elsewhere Debian's Python does it,
    which `make system` installs, if it is of the version that pileup was built for.
    """
    found = next((each for each in (sys.executable, "/usr/bin/python3") if _runs(each, user)), None)
    if found is None and subprocess.run(["test", "-r", __file__], user=user, check=False).returncode:
        pytest.skip(f"user {user} may not enter {ROOT}: clone to another folder")
    if found is None:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        give_up(f"user {user} can run pileup by no Python {version} here; as root: apt-get install python{version}")
    return found


def _runs(python: str, user: str) -> bool:
    """Whether pileup can be imported by a Python and a user."""
    words = [python, "-c", "import pileup.builtin.slurm.target"]
    with contextlib.suppress(OSError):
        return not subprocess.run(words, env=environment_of(), capture_output=True, user=user, check=False).returncode
    return False


def environment_of() -> dict[str, str]:
    """Return variables by which any Python of this version finds pileup and what it needs."""
    path = os.pathsep.join((str(ROOT / "src"), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")))
    return {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin", "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
