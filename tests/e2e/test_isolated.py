"""Python tests in processes of their own, environments, and monitors at other hosts."""

import subprocess
import sys
from pathlib import Path

import pytest

from pileup.record import RunFolder
from tests.manifests import plain
from tests.servers.sshd import Sshd, sshd
from tests.support import pileup, run_folder

__all__ = ["sshd"]

TESTS = '''
"""Tests that end their process, and one that does not."""
import ctypes
import os
import time
from pileup.plugin import Test


class Exits(Test):
    """Ends the process in its sixth iteration."""

    def run(self, op):
        if op.number == 5:
            time.sleep(0.5)
            os._exit(3)
        time.sleep(0.01)


class Segfaults(Test):
    """Reads where nothing is."""

    def run(self, op):
        ctypes.string_at(0)


class ExitsInSetUp(Test):
    """Never comes to its first iteration."""

    def setup(self):
        os._exit(4)

    def run(self, op):
        pass


class Shows(Test):
    """Print the process and a variable."""

    def run(self, op):
        print("variable", os.environ.get("FLAVOUR"), os.environ.get("SOURCED"))
'''
ISOLATED = """
pileup: 1
title: Isolated
isolate: process
tests:
  - {name: exits, use: "./tests.py:Exits", load: {times: 100}}
  - {name: first, use: "./tests.py:Shows"}
  - {name: crashes, use: "./tests.py:Segfaults"}
  - {name: unready, use: "./tests.py:ExitsInSetUp"}
  - {name: second, use: "./tests.py:Shows", environment: {source: setup.sh, set: {FLAVOUR: sour}}}
  - {name: third, use: "./tests.py:Shows"}
"""
FAR = """
pileup: 1
title: Far
tests:
  - {name: shows, use: "./tests.py:Shows", environment: {source: setup.sh, set: {FLAVOUR: "so ur"}}}
  - {name: press, use: noop, load: {rate: 10, for: 3 s}}
monitors:
  - {use: node, name: there, every: 200 ms, host: "ssh://HOST"}
  - {use: "./monitor.py:Mine", name: mine, every: 200 ms, host: "ssh://HOST"}
  - {use: node, name: absent, every: 1 s, host: "ssh://127.0.0.1:1"}
"""
MONITOR = '''
"""A monitor of the user's."""
from pileup.plugin import Monitor, Sample


class Mine(Monitor):
    """Seven."""

    def sample(self):
        yield Sample("seven", 7.0)
'''


@pytest.fixture
def suites(tmp_path: Path) -> Path:
    (tmp_path / "tests.py").write_text(TESTS)
    (tmp_path / "monitor.py").write_text(MONITOR)
    (tmp_path / "setup.sh").write_text("export SOURCED=yes\n")
    (tmp_path / "isolated.yaml").write_text(ISOLATED)
    return tmp_path


@pytest.mark.long
def test_a_test_that_ends_its_process_loses_its_place_alone(suites: Path) -> None:
    done = pileup("run", "isolated.yaml", "--quiet", cwd=suites)
    assert done.returncode == 1, done.stdout + done.stderr
    run = RunFolder.open(suites / run_folder(done))
    cases = {case["name"]: case for case in plain(run)["cases"]}
    wanted = {"exits": "failed", "first": "passed", "crashes": "failed", "unready": "failed"}
    wanted |= {"second": "passed", "third": "passed"}
    assert {name: case["outcome"] for name, case in cases.items()} == wanted
    assert "ended with code 3" in cases["exits"]["reason"]
    assert "SIGSEGV" in cases["crashes"]["reason"]
    assert "in run" in cases["crashes"]["reason"], "where it crashed"
    assert "set-up failed" in cases["unready"]["reason"]
    with run.operations().connect() as connection:
        counted = connection.execute(
            'select "case", outcome, count(*) from operations group by all order by all'
        ).fetchall()
    assert ("exits", "passed", 5) in counted, "what went well before is in the record"
    assert ("exits", "lost", 1) in counted
    assert ("crashes", "lost", 1) in counted
    assert (run.path / "output/second/stdout.txt").read_text().splitlines()[1] == "variable sour yes"
    assert (run.path / "output/third/stdout.txt").read_text().splitlines()[1] == "variable None None"
    numbers = [place["number"] for place in plain(run)["places"]]
    assert len(set(numbers)) == len(numbers) >= 5


@pytest.mark.long
def test_environments_and_monitors_come_to_other_hosts(suites: Path, sshd: Sshd) -> None:
    (suites / "far.yaml").write_text(FAR.replace("HOST", sshd.host))
    done = pileup("run", "far.yaml", "--quiet", "--fleet", f"ssh:{sshd.host}", cwd=suites, PILEUP_SSH=sshd.command)
    assert done.returncode == 0, done.stdout + done.stderr
    run = RunFolder.open(suites / run_folder(done))
    assert (run.path / "output/shows/stdout.txt").read_text().splitlines()[1] == "variable so ur yes"
    info = plain(run)
    rows = [row for row in run.samples() if row.monitor in ("there", "mine")]
    assert {row.monitor for row in rows} == {"there", "mine"}
    assert {row.host for row in rows} == {info["hosts"][0]["name"]}
    assert all(info["started"] < row.time < info["ended"] for row in rows)
    assert {row.sample.value for row in rows if row.monitor == "mine"} == {7.0}
    told = [event.text for event in run.events() if event.kind == "monitor"]
    assert len(told) == 1
    assert "127.0.0.1:1" in told[0]
    assert "refused" in told[0].lower()


SHADOWS = ("queue", "yaml", "numpy", "tempfile")
"""Names of modules that pileup imports."""
SHADOWED = """
pileup: 1
title: Shadowed
tests: [{name: apart, use: "./own.py:Own", isolate: process, load: {times: 2}}]
"""


@pytest.mark.long
def test_s18_a_place_imports_nothing_from_the_folder_it_starts_in(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SHADOWED)
    (tmp_path / "own.py").write_text(
        "from pileup.plugin import Test\nclass Own(Test):\n    def run(self, op):\n        pass\n"
    )
    for name in SHADOWS:
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'a').write(__name__)\n")
    words = [sys.executable, "-P", "-m", "pileup", "run", "s.yaml", "--quiet"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (tmp_path / "executed").exists()
