"""More clients than the soft limit of open files, 1024 as a rule: pileup raises it, and says so when it may not."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pileup
from tests.support import run_folder

SUITE = """
pileup: 1
title: Many clients
targets:
  se: {kind: practice-storage, launch: {}}
tests:
  - {name: fill, use: storage.write, target: se, options: {files: 5, size: 1 KiB}, cleanup: never}
  - name: stat
    use: storage.stat
    target: se
    after: [fill]
    options: {files: 5, size: 1 KiB}
    load: {clients: 400, think: 1 s, for: 3 s}
criteria:
  - {id: C1, says: Nothing fails, check: "fraction(stat.failed) == 0"}
"""


def pressed(folder: Path, soft: int, hard: int) -> tuple[int, dict[str, Any], Path]:
    """Run it under these limits; return exit code, results and the run's folder."""
    (folder / "suite.yaml").write_text(SUITE)
    done = subprocess.run(
        [sys.executable, "-m", "pileup", "run", "suite.yaml", "--quiet"],
        cwd=folder,
        env={**os.environ, "PILEUP_RUNS": str(folder / "runs")},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    run = folder / run_folder(done)
    return done.returncode, json.loads((run / "results.json").read_text()), run


@pytest.mark.long
def test_the_soft_limit_is_raised(tmp_path: Path) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    code, results, _ = pressed(tmp_path, 200, hard)
    assert (code, results["errors"]) == (0, [])


@pytest.mark.long
def test_failures_for_want_of_files_are_not_blamed_on_the_system(tmp_path: Path) -> None:
    code, results, run = pressed(tmp_path, 200, 300)
    assert {error["message"] for error in results["errors"]} == {"too many open files"}
    assert "pileup had no more open files (ulimit -n)" in results["limit"]
    assert [(each["verdict"], code) for each in results["criteria"]] == [("unknown", 8)]
    opened = pileup.open(run).samples(monitor="pileup", metric="open_files").numpy()["value"]
    assert 200 < max(opened) < 290  # the clients have none left, and pileup has some for its record
