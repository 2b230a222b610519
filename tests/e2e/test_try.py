"""pileup try: one iteration in the foreground, with its whole traceback or in the debugger; nothing stays behind."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support import pileup

TESTS = '''
import asyncio
import time

from pileup.plugin import Op, Refused, Test, option


class Plain(Test):
    """A plain one."""

    needs = "files"
    wanted: int = option(4)

    def setup(self) -> None:
        print("set up for", self.context.client)

    def run(self, op: Op) -> None:
        print("iteration of", op.client)
        with op("write", "x") as writing:
            self.target.write("x", b"1234")
            writing.bytes = 4
        self.report("kept", 4, "B")
        known = 4
        self.expect(known == self.wanted, f"{known} kept, expected {self.wanted}")

    def teardown(self) -> None:
        self.target.delete("x")


class Async(Test):
    """One that waits."""

    seconds: float = option(0.01)

    async def run(self, op: Op) -> None:
        with op("wait"):
            await asyncio.sleep(self.seconds)


class Says(Test):
    """Refused."""

    def run(self, op: Op) -> None:
        with op("ask"):
            raise Refused("not today")


class Stops(Test):
    """Waits for a debugger, or for ever."""

    needs = "any"
    how: str = option("breakpoint")

    def run(self, op: Op) -> None:
        answer = 41
        print("at", self.target.url, flush=True)
        if self.how == "sleep":
            time.sleep(120)
        else:
            breakpoint()
        assert answer == 42
'''
SUITE = """
pileup: 1
title: To be tried
limits: {operations: 100000}
targets:
  disk: {kind: posix}
  se: {kind: practice-storage, launch: {}}
tests:
  - {name: wrong, use: "./mine.py:Plain", target: disk, options: {wanted: 5}, load: {clients: 50, for: 1 h}}
  - {name: waits, use: "./mine.py:Async", load: {rate: 10 /s, for: 1 h}}
  - {name: late, use: "./mine.py:Async", timeout: 100 ms, options: {seconds: 60}}
  - {name: says, use: "./mine.py:Says"}
  - {name: stops, use: "./mine.py:Stops", target: se}
  - {name: sleeps, use: "./mine.py:Stops", target: se, options: {how: sleep}}
  - {name: fill, use: storage.write, target: se, options: {files: 3, size: 1 KiB}}
  - name: read
    use: storage.read
    target: se
    after: [fill]
    options: {files: 3, size: 1 KiB}
    load: {clients: 3, for: 1 h}
scan: {se.threads: [3, 4]}
criteria:
  - {id: C1, says: "Never", check: count(read) > 1e9}
"""
FILES = """
pileup: 1
title: Somebody's disk
targets: {disk: {kind: posix, url: KEPT}}
tests:
  - {name: fill, use: storage.write, target: disk, options: {files: 3, size: 1 KiB}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(TESTS)
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "tmp").mkdir()
    return tmp_path


def tried(folder: Path, *words: str, keys: str = "", suite: str = "suite.yaml") -> "subprocess.CompletedProcess[str]":
    """Try a test with something typed; nothing may stay in the folder for temporary files."""
    if not keys:
        done = pileup("try", suite, *words, cwd=folder, TMPDIR=str(folder / "tmp"))
    else:
        done = subprocess.run(
            [sys.executable, "-m", "pileup", "try", suite, *words],
            cwd=folder, input=keys, env={**os.environ, "TMPDIR": str(folder / "tmp")},
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert not list((folder / "tmp").iterdir()), done.stderr
    assert not (folder / "runs").exists()
    return done


def answers(url: str) -> bool:
    place = urlsplit(url)
    try:
        socket.create_connection((place.hostname, place.port), 1).close()
    except OSError:
        return False
    return True


def test_one_iteration_is_done_and_shown(folder: Path) -> None:
    done = tried(folder, "wrong", "--client", "7", "--set", "tests.wrong.options.wanted=4")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["set up for 7", "iteration of 7"]
    assert next(line for line in lines if line.startswith("write")).split()[-1] == "passed"
    assert "reported kept: 4 B" in lines
    assert lines[-1].startswith("wrong: passed (")


def test_a_failure_has_its_reason_and_the_whole_traceback(folder: Path) -> None:
    done = tried(folder, "wrong")
    assert done.returncode == 1
    assert "wrong: failed: 4 kept, expected 5" in done.stdout.splitlines()[-1]
    trace = done.stderr.splitlines()
    assert trace[0] == "Traceback (most recent call last):"
    assert "mine.py" in trace[1]  # the first line is the user's


@pytest.mark.long
def test_a_test_that_is_async_and_one_that_is_refused(folder: Path) -> None:
    assert tried(folder, "waits").stdout.splitlines()[-1].startswith("waits: passed (")
    late = tried(folder, "late")
    assert late.stdout.splitlines()[-1].startswith("late: ambiguous: no answer within 100 ms")
    said = tried(folder, "says")
    assert "refused: not today" in said.stdout
    assert "Refused: not today" in said.stderr


def test_a_native_test_is_done_once_after_what_it_needs(folder: Path) -> None:
    done = tried(folder, "read")
    assert done.returncode == 0, done.stdout + done.stderr
    reads = [line for line in done.stdout.splitlines() if line.startswith("read ")]
    assert len(reads) == 3
    assert all(line.split()[-1] == "passed" for line in reads)


@pytest.mark.long
def test_the_debugger_begins_where_it_failed(folder: Path) -> None:
    done = tried(folder, "wrong", "--pdb", keys="p 'known', known\nq\n")
    assert "('known', 4)" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("wrong: failed: 4 kept, expected 5")


@pytest.mark.long
def test_breakpoint_works_and_q_ends_all(folder: Path) -> None:
    done = tried(folder, "stops", keys="p 'answer', answer\nq\n")
    assert "('answer', 41)" in done.stdout
    assert done.returncode == 6
    assert done.stdout.splitlines()[-1] == "stops: stopped by the user"
    (url,) = [line.removeprefix("at ") for line in done.stdout.splitlines() if line.startswith("at ")]
    assert not answers(url)
    again = tried(folder, "stops", keys="answer = 42\nc\n")
    assert again.returncode == 0, again.stdout + again.stderr


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_it_with_its_servers(folder: Path, number: signal.Signals) -> None:
    """Also in the background of a script, where shells have it ignore SIGINT."""
    process = subprocess.Popen(
        ["sh", "-c", 'trap "" INT; exec "$@"', "sh", sys.executable, "-m", "pileup", "try", "suite.yaml", "sleeps"],
        cwd=folder, env={**os.environ, "TMPDIR": str(folder / "tmp")}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip().removeprefix("at ")
        assert answers(url)
        begin = time.monotonic()
        process.send_signal(number)
        out, _ = process.communicate(timeout=30)
        assert time.monotonic() - begin < 20
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 6
    assert out.splitlines()[-1] == "sleeps: stopped by the user"
    assert not answers(url)
    assert not list((folder / "tmp").iterdir())


def test_a_test_that_there_is_not_is_told(folder: Path) -> None:
    done = tried(folder, "wrnog")
    assert done.returncode == 2
    assert "the suite has no test 'wrnog'\n  expected 'wrong'\n  suite.yaml" in done.stderr


def test_it_keeps_to_the_limits_of_the_suite(folder: Path) -> None:
    (folder / "kept").mkdir()
    (folder / "files.yaml").write_text(FILES.replace("KEPT", str(folder / "kept")))
    done = tried(folder, "fill", suite="files.yaml")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("pileup-") > 0  # in a folder of its own, which goes with it
    assert not list((folder / "kept").iterdir())
    outside = tried(folder, "fill", "--set", "limits.inside=/nowhere", suite="files.yaml")
    assert outside.returncode != 0
    assert "/nowhere" in outside.stdout.splitlines()[-1]
