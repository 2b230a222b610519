"""A catalogue that pileup launched, behind a relay: nothing of its servers and the relay is left after `kill -9`."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from pileup.model.errors import RecordError
from pileup.record import RunFolder
from pileup.run.servers import processes
from tests.e2e.test_leftovers_batch import OTHER, names, of, scratch, until
from tests.servers.rucio import require_rucio
from tests.support import FIGURES, pileup

SUITE: dict[str, Any] = {
    "pileup": 1,
    "title": "left",
    "targets": {"rucio": {"kind": "rucio", "launch": {}, "path": {"latency": "5 ms"}}},
    "tests": [{"name": "login", "use": "catalogue.login", "target": "rucio", "load": {"clients": 2, "for": "1 h"}}],
}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    require_rucio()
    (tmp_path / "suite.yaml").write_text(json.dumps(SUITE))
    (tmp_path / "other.yaml").write_text(json.dumps(OTHER))
    return tmp_path


def pressed(here: Path) -> bool:
    """Whether the run in it has begun its case."""
    for folder in (here / "runs").glob("*-left"):
        with suppress(RecordError):
            return any(event.kind == "case" for event in RunFolder.open(folder).events())
    return False


@contextmanager
def started(here: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A pileup whose clients log in to its Rucio."""
    command = [sys.executable, "-m", "pileup", "run", "suite.yaml", "--quiet", *FIGURES]
    said = here / "out"
    with said.open("wb") as out:
        variables = {**os.environ, "PILEUP_RUNS": str(here / "runs")}
        process = subprocess.Popen(command, cwd=here, env=variables, stdout=out, stderr=out, start_new_session=True)
    try:
        until(lambda: pressed(here), said)
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        processes.kill(of(here))


@pytest.mark.long
def test_the_next_start_ends_the_catalogue_and_the_relay_that_kill_9_left(here: Path) -> None:
    with started(here) as process:
        found = of(here)
        assert {"postgres", "memcached"} <= set(names(found))
        process.kill()
        process.wait()
        assert len(of(here)) >= 4, "all of it goes on, as after a crash"
        done = pileup("run", "other.yaml", "--quiet", cwd=here)
        assert done.returncode == 0, done.stderr
        assert of(here) == []
        assert not any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in found)
        assert scratch(here) and not any(path.exists() for path in scratch(here))
