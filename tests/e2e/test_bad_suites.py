"""Bad suites as a user meets them, with the shipped plug-ins: exit code 3, no traceback, little time and memory."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT

SUITES = sorted((ROOT / "tests/data/bad_suites").glob("*.yaml"))
CPU, MEMORY = 2, 500 << 20


def limited() -> None:
    """CPU seconds and address space beyond which the process is ended."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.stem)
def test_it_is_refused_within_two_seconds_and_500_mb(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pileup", "validate", str(path)],
        preexec_fn=limited,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 3, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert path.name in done.stderr
