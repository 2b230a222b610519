"""A command from a process that has its modules is the command that `python -m pileup` is."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests import warm
from tests.support import ROOT

SUITE = {
    "pileup": 1,
    "title": "Looks around",
    "targets": {"none": {"kind": "noop"}},
    "tests": [{"name": "looks", "use": "./looks.py:Looks", "load": {"once": True}}],
}
LOOKS = """
import json, os, random, signal, sys, tempfile, threading
from pathlib import Path
from pileup.plugin import Test


class Looks(Test):
    def run(self, op):
        Path(os.environ["SEEN"]).write_text(json.dumps({
            "arguments": sys.argv, "all arguments": sys.orig_argv[1:],
            "folder": os.getcwd(), "environment": dict(os.environ),
            "first places": sys.path[:2], "main": sys.modules["__main__"].__spec__.name,
            "children": str(signal.getsignal(signal.SIGCHLD)),
            "temporary": tempfile.gettempdir(),
            "open": sorted(os.listdir("/proc/self/fd"))[:3], "session": os.getsid(0), "drawn": random.random(),
        }))
"""


def cold(arguments: list[str], cwd: Path, environment: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "pileup", *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def forked(arguments: list[str], cwd: Path, environment: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    return warm.shared().run(arguments, cwd, environment, 60)


@pytest.mark.parametrize(
    "arguments", [["--version"], ["nothing"], ["validate", "suite.json"], ["list", "targets"], ["show", "runs"]]
)
def test_it_says_what_a_new_process_says(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "suite.json").write_text(json.dumps(SUITE))
    (tmp_path / "looks.py").write_text(LOOKS)
    new = cold(arguments, tmp_path, os.environ)
    same = forked(arguments, tmp_path, os.environ)
    assert (same.returncode, same.stdout, same.stderr) == (new.returncode, new.stdout, new.stderr)
    assert new.stdout or new.stderr


@pytest.mark.long
def test_a_run_finds_itself_as_in_a_new_process_but_draws_its_own_numbers(tmp_path: Path) -> None:
    (tmp_path / "suite.json").write_text(json.dumps(SUITE))
    (tmp_path / "looks.py").write_text(LOOKS)
    environment = {**os.environ, "SEEN": str(tmp_path / "seen.json"), "TMPDIR": str(tmp_path)}
    environment.pop("HOME", None)
    seen, drawn = [], set()
    for start in (cold, forked, forked):
        done = start(["run", "suite.json"], tmp_path, environment)
        assert done.returncode == 0, done.stdout + done.stderr
        seen.append(json.loads((tmp_path / "seen.json").read_text()))
        drawn.add(seen[-1].pop("drawn"))
    assert seen[0] == seen[1] == seen[2]
    assert len(drawn) == 3


def test_what_a_command_used_is_known(tmp_path: Path) -> None:
    done = warm.shared().run(["--version"], tmp_path, os.environ, 60)
    assert 0 < done.cpu < 10
    assert 20 << 20 < done.memory < 1 << 30


def test_what_takes_too_long_is_killed(tmp_path: Path) -> None:
    words = ["practice", "storage"]
    with pytest.raises(subprocess.TimeoutExpired):
        warm.shared().run(words, tmp_path, os.environ, 1)
    assert forked(["--version"], tmp_path, os.environ).stdout.startswith("pileup ")


@pytest.mark.parametrize("name", ["PYTHONPATH", "PYTHONSAFEPATH", "LC_ALL", "LANG", "LD_PRELOAD"])
def test_another_start_of_the_interpreter_is_a_new_process(name: str) -> None:
    assert warm.same_start(os.environ)
    assert not warm.same_start({**os.environ, name: "another"})
    assert warm.same_start({**os.environ, "PILEUP_RUNS": str(ROOT)})
