"""pileup from Python, as a script uses it: suites checked and run, Ctrl-C, and runs of many operations."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pileup
from tests.support import pileup as command

SUITE = """
pileup: 1
title: From Python
variables: {number: 7, length: 60 s}
targets: {nothing: {kind: noop}}
tests:
  - {name: press, use: noop, target: nothing, load: {times: $number}}
reports: []
"""
LONG = SUITE.replace("times: $number", "clients: 1, for: $length, think: 10 ms").replace("number: 7, ", "")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    return path


def test_a_suite_is_run_and_opened(suite: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run = pileup.run(suite, set={"number": 30}, out=tmp_path / "runs")
    assert (run.verdict, run.exit_code, run.ended, run.left) == ("passed", 0, True, ())
    assert run.path.parent == tmp_path / "runs"
    (row,) = run.figures(iteration=True).numpy()
    assert row["passed"] == len(run.operations(operation="noop", phase="measure")) == 30
    assert pileup.open(run.path).results.cases == run.results.cases
    assert capfd.readouterr() == ("", "")


@pytest.mark.long
def test_runs_go_where_the_environment_says(suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PILEUP_RUNS", str(tmp_path / "others"))
    assert pileup.run(suite, fleet="processes:2").path.parent == tmp_path / "others"


def test_a_suite_is_checked_and_typed(suite: Path) -> None:
    found = pileup.load(suite, set={"number": 12, "title": "Another"})
    assert (found.title, found.tests[0].load.times) == ("Another", 12)
    assert pileup.load("suite:first-run").tests
    with pytest.raises(pileup.SuiteError) as wrong:
        pileup.load(suite, set={"tests.press.load.times": -1, "targets.nothing.kind": "noo"})
    assert len(wrong.value.problems) == 2
    assert all(each.expected for each in wrong.value.problems)
    with pytest.raises(pileup.UsageError, match="there is no file"):
        pileup.load("nothing.yaml")


@pytest.mark.long
@pytest.mark.parametrize("thread", [False, True])
def test_ctrl_c_ends_a_run_in_order(tmp_path: Path, thread: bool) -> None:
    (tmp_path / "suite.yaml").write_text(LONG)
    call = "run = pileup.run('suite.yaml', out='runs', set={'length': '60 s' if %r else '2 s'})" % (not thread)
    code = f"import pileup, threading\ndef go():\n    global run\n    {call}\n"
    code += "t = threading.Thread(target=go); t.start(); t.join()\n" if thread else "go()\n"
    code += "print(run.verdict, len(run.operations()) > 0, run.left)\n"
    process = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        until = time.monotonic() + 60
        while not list(tmp_path.glob("runs/*/frames/*.table")) and time.monotonic() < until:
            time.sleep(0.05)
        if not thread:
            os.kill(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert out == ("passed True ()\n" if thread else "stopped True ()\n")
    assert process.returncode == 0


COUNTED = """
import resource, sys, time, pileup
run = pileup.open(sys.argv[1])
assert run.figures(iteration=True).numpy()["passed"][0] == int(sys.argv[2])
rows = run.operations(phase="measure").select("start", "end", "outcome")
assert sum(len(chunk) for chunk in rows.chunks()) == int(sys.argv[2])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
MANY, FEW = 500_000, 50_000
ROOM = 24 << 10
"""KiB that so many more rows may take: what DuckDB keeps of a file. The rows take 44 MB."""


@pytest.mark.long
def test_memory_does_not_grow_with_the_rows(suite: Path, tmp_path: Path) -> None:
    peaks = []
    for number in (FEW, MANY):
        done = command("run", "suite.yaml", "--quiet", "--set", f"number={number}", cwd=tmp_path)
        folder = done.stdout.splitlines()[-1]
        counted = subprocess.run(
            [sys.executable, "-c", COUNTED, folder, str(number)],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        peaks.append(int(counted.stdout))
    assert peaks[1] < peaks[0] + ROOM, peaks
