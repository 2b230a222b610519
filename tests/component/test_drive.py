"""The driver of the benchmarks presses as they order it: what it needs of pileup is still there."""

import json
import subprocess
import sys

import pytest

from tests.support import ROOT

SHORT = {"clients": 1, "warm_up": "10 ms", "for": "50 ms"}


@pytest.mark.parametrize("kind", ["paced", "with op()", "async"])
def test_a_python_test_is_driven(kind: str) -> None:
    order = json.dumps({"python": kind, "every": 0.05, "load": SHORT})
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "drive.py"), order],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["passed"] > 0
    assert found["failed"] == 0
