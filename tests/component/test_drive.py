"""The driver of the benchmarks presses as they order it: what it needs of pileup is still there."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT, until

DRIVE = str(ROOT / "benchmarks" / "drive.py")
SHORT = {"clients": 1, "warm_up": "10 ms", "for": "50 ms"}


@pytest.mark.parametrize("kind", ["paced", "with op()", "async"])
def test_a_python_test_is_driven(kind: str) -> None:
    order = json.dumps({"python": kind, "every": 0.05, "load": SHORT})
    done = subprocess.run(
        [sys.executable, DRIVE, order],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["passed"] > 0
    assert found["failed"] == 0


def test_a_driver_that_is_ended_leaves_nothing_behind(tmp_path: Path) -> None:
    order = json.dumps({"python": "paced", "every": 0.05, "load": SHORT | {"for": "60 s"}})
    with subprocess.Popen([sys.executable, DRIVE, order], env={**os.environ, "TMPDIR": str(tmp_path)}) as driver:
        try:
            until(lambda: any(tmp_path.glob("*/operations.table")))
            driver.terminate()
            assert driver.wait(20) == 128 + signal.SIGTERM
        finally:
            driver.kill()
    assert list(tmp_path.iterdir()) == []
