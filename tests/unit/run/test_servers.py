"""Launched servers: readiness, what they said when they fail, and that none is left."""

import os
import sys
from pathlib import Path

import pytest

from pileup.model.errors import TargetError
from pileup.plugin import Launcher
from pileup.record import RunFolder
from pileup.run.servers import Supervisor

READY = "import time; print('ready at http://127.0.0.1:1/', flush=True); time.sleep(60)"
CHILD = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print("ready at", child.pid, flush=True)
time.sleep(60)
"""


def launcher(code: str, within: float = 5) -> Launcher:
    return Launcher((sys.executable, "-c", code), r"ready at (?P<url>\S+)", int(within * 1e9))


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path, "t", 0)


def test_a_server_is_ready_when_it_says_so_and_is_ended(folder: RunFolder, tmp_path: Path) -> None:
    supervisor = Supervisor(folder)
    assert supervisor.launch("se", launcher(READY), tmp_path / "se") == "http://127.0.0.1:1/"
    started = next(entry for entry in folder.journal_entries() if entry["state"] == "started")
    os.kill(started["pid"], 0)
    supervisor.end_all()
    with pytest.raises(ProcessLookupError):
        os.kill(started["pid"], 0)
    assert [entry["state"] for entry in folder.journal_entries()] == ["started", "ended"]


def test_children_of_a_server_go_with_it(folder: RunFolder, tmp_path: Path) -> None:
    supervisor = Supervisor(folder)
    child = int(supervisor.launch("se", launcher(CHILD), tmp_path / "se"))
    supervisor.end_all()
    state = Path(f"/proc/{child}/stat")
    assert not state.exists() or state.read_text().split()[2] == "Z"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys; print('no disk', file=sys.stderr); sys.exit(3)", "ended with code 3"),
        ("import sys; print('no disk', file=sys.stderr, flush=True); import time; time.sleep(60)", "still runs"),
    ],
)
def test_one_that_does_not_become_ready_is_quoted(folder: RunFolder, tmp_path: Path, code: str, said: str) -> None:
    supervisor = Supervisor(folder)
    with pytest.raises(TargetError, match="no disk") as problem:
        supervisor.launch("se", launcher(code, within=1), tmp_path / "se")
    assert said in str(problem.value)
    supervisor.end_all()


def test_a_missing_program_is_named(folder: RunFolder, tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="/no/such cannot be started"):
        Supervisor(folder).launch("se", Launcher(("/no/such",), "x"), tmp_path / "se")
