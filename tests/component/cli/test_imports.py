"""What short commands import: modules are counted, since time depends on the machine: benchmarks/commands.py has it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT

SUITE = """
pileup: 1
title: Small
targets: {se: {kind: posix, url: /tmp}}
tests:
  - {name: fill, use: storage.write, target: se, options: {files: 10, size: 64 KiB}}
  - name: read
    use: storage.read
    target: se
    after: [fill]
    options: {files: 10, size: 64 KiB}
    load: {clients: 2, for: 2 s}
monitors: [{use: node}]
criteria: [{id: C1, says: Nothing fails, check: fraction(read.failed) == 0}]
"""
ENGINES = ("numpy", "duckdb", "altair", "jinja2", "asyncio")
"""What only runs and their records need."""
LIBRARIES = (*ENGINES, "pydantic", "yaml", "rich", "psutil", "pileup._core._native")
CODE = """
import contextlib, io, json, sys
from pileup.cli import main
with contextlib.redirect_stdout(io.StringIO()):
    code = main(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]))
"""
COMPARED = ("pileup.stats.compare.runs", "pileup.stats.intervals.precision", "pileup.stats.loads.trial")
"""What only comparisons and steered loads need."""


def imported(*words: str, **environment: str) -> set[str]:
    """The modules that a command has imported, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, *words],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    code, modules = json.loads(done.stdout)
    assert code == 0, done.stderr
    return set(modules)


@pytest.fixture
def suite(tmp_path: Path) -> str:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    return str(path)


@pytest.mark.parametrize(
    ("words", "most"),
    [
        (("--help",), 160),
        (("run", "--help"), 165),
        (("help", "bench"), 165),
        (("completion", "bash"), 160),
        (("list", "suites"), 160),
    ],
)
def test_help_and_names_need_no_library(words: tuple[str, ...], most: int) -> None:
    modules = imported(*words)
    assert not modules & set(LIBRARIES)
    assert len(modules) <= most


@pytest.mark.parametrize(("command", "most"), [("validate", 432), ("plan", 490)])
def test_a_suite_is_read_without_what_runs_and_records_need(command: str, most: int, suite: str) -> None:
    modules = imported(command, suite)
    assert not modules & {*ENGINES, "pileup.model.manifest"}
    assert len(modules) <= most


def test_plug_ins_are_listed_without_what_they_run_with() -> None:
    modules = imported("list")
    assert not modules & {*ENGINES, "rich", "yaml", "psutil"}
    assert "pileup.suite.loading" not in modules
    assert len(modules) <= 600


def test_a_suite_is_completed_without_a_library() -> None:
    code = "import sys\nfrom pileup.cli import main\nmain([])\nprint(sorted(sys.modules))\n"
    asked = {"_PILEUP_COMPLETE": "bash_complete", "COMP_WORDS": "pileup run suite:first", "COMP_CWORD": "2"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.splitlines()[0] == "plain,suite:first-run"
    assert not any(f"'{name}'" in done.stdout for name in LIBRARIES)


def test_a_run_is_shown_without_what_runs_it() -> None:
    modules = imported("show", str(ROOT / "tests/golden/0.1/ended"))
    assert not modules & {"altair", "asyncio", "jinja2", "pileup.run.runner", "pileup.suite.loading"}
    assert not modules & {*COMPARED, "numpy.ma", "pydantic"}
    assert len(modules) <= 532


@pytest.mark.parametrize("given", [{}, {"OPENBLAS_NUM_THREADS": "2"}])
def test_numpy_starts_no_threads_unless_asked_for(given: dict[str, str]) -> None:
    code = """
import os
from pileup.cli.reading import load_numpy
before = dict(os.environ)
load_numpy()
assert dict(os.environ) == before
print(len(os.listdir("/proc/self/task")))
"""
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"} | given
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    assert int(done.stdout) in ({1, 2} if given else {1})  # fewer on a machine of one core


def test_what_is_to_be_done_at_the_end_is_done() -> None:
    code = """
import atexit, sys
from pileup.cli import run_and_exit
atexit.register(print, "done")
sys.argv = ["pileup", "--version"]
run_and_exit()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "done"


def test_runs_are_completed_without_a_library(tmp_path: Path) -> None:
    code = "import sys\nfrom pileup.cli import main\nmain([])\nprint(sorted(sys.modules))\n"
    asked = {"_PILEUP_COMPLETE": "bash_complete", "COMP_WORDS": "pileup show ", "COMP_CWORD": "2"}
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "run.json").touch()
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **asked, "PILEUP_RUNS": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.splitlines()[0] == f"plain,{tmp_path / 'one'}"
    assert not any(f"'{name}'" in done.stdout for name in LIBRARIES)
