"""`begin_run` and `end_run`: once in a run, whatever the load, the places and the end, and what they share."""

import json
import os
import sys
import threading
import time
from pathlib import Path

import pytest

from pileup.model.ending import StoppedBy
from pileup.record import RunFolder
from pileup.run import Runner
from pileup.run.recovery.resume import take_up
from pileup.run.stop import Stop
from pileup.suite import load
from tests.servers.sshd import Sshd, sshd
from tests.support import pileup, run_folder

__all__ = ["sshd"]

OWN = """
import json
import os
import secrets
import signal
import time
from pathlib import Path

from pileup.plugin import Op, Refused, Test, option


class Own(Test):
    needs = "files"
    log: str = option()
    step: int = option(0)
    wait: float = option(0.0)

    def note(self, what: str) -> None:
        with Path(self.log).open("a") as file:
            file.write(json.dumps([what, self.step, self.shared.get("id"), os.getpid()]) + "\\n")

    def begin_run(self):
        print("begun")
        self.target.write(f"{self.context.own}/common".lstrip("/"), b"content")
        self.note("begin")
        return {"id": secrets.token_hex(4), "names": ["a", {"b": 1}]}

    def setup(self) -> None:
        self.expect(self.shared["names"] == ("a", {"b": 1}), f"setup knows {self.shared}")

    def run(self, op: Op) -> None:
        time.sleep(self.wait)
        self.note("run")
        data = b"".join(self.target.read(f"{self.context.own}/common".lstrip("/")))
        self.expect(data == b"content", "another content")

    def end_run(self) -> None:
        print("ended")
        self.note("end")


class Later(Own):
    async def begin_run(self):
        return Own.begin_run(self)

    async def run(self, op: Op) -> None:
        Own.run(self, op)

    async def end_run(self):
        Own.end_run(self)


class Refusing(Own):
    def begin_run(self):
        self.note("begin")
        raise Refused("no quota")


class Object(Own):
    def begin_run(self):
        return {"session": [self]}


class Listing(Own):
    def begin_run(self):
        return [1]


class Large(Own):
    def begin_run(self):
        return {"a": "b" * (1 << 20)}


class Changing(Own):
    def run(self, op: Op) -> None:
        self.shared["id"] = 1


class Asking(Own):
    def run(self, op: Op) -> None:
        self.shared["name"]


class Hanging(Own):
    def begin_run(self):
        self.note("begin")
        time.sleep(30)


class Killed(Own):
    def run(self, op: Op) -> None:
        os.kill(os.getpid(), signal.SIGKILL)
"""
SUITE = """
pileup: 1
title: t
targets: {disk: {kind: posix, url: FOLDER}}
options: {log: LOG}
tests:
  - {name: own, use: "./own.py:Own", load: {times: 4, clients: 2}}
reports: []
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """The suite, with a folder as its target."""
    (tmp_path / "data").mkdir()
    (tmp_path / "own.py").write_text(OWN)
    path = tmp_path / "s.yaml"
    path.write_text(SUITE.replace("FOLDER", str(tmp_path / "data")).replace("LOG", str(tmp_path / "log")))
    return path


def log(suite: Path) -> list[list[object]]:
    """Return what the test noted: what, step, id, pid."""
    path = suite.parent / "log"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def whats(suite: Path) -> list[object]:
    return [line[0] for line in log(suite)]


def run(suite: Path, stop: Stop | None = None, **values: str) -> Runner:
    """Run the suite with values set by their words with `__` for dots; return the runner."""
    given = {name.replace("__", "."): value for name, value in values.items()}
    runner = Runner(load(suite, given), suite.parent / "runs", stop)
    runner.run()
    return runner


def outcome(runner: Runner) -> tuple[str, str]:
    (case,) = runner.folder.manifest().cases
    return str(case.outcome), case.reason


@pytest.mark.parametrize("use", ["Own", "Later"])
def test_it_is_begun_before_all_clients_and_ended_after_them(suite: Path, use: str) -> None:
    runner = run(suite, tests__own__use=f"./own.py:{use}")
    assert outcome(runner) == ("passed", "")
    assert whats(suite) == ["begin", "run", "run", "run", "run", "end"]
    assert len({line[2] for line in log(suite)[1:]}) == 1
    assert list((suite.parent / "data").iterdir()) == []
    (printed,) = runner.folder.path.glob("output/own/stdout.txt")
    assert printed.read_text().splitlines() == ["--- begin_run ---", "begun", "--- end_run ---", "ended"]
    states = [entry.state for entry in runner.folder.journal_entries() if entry.what == "begin_run"]
    assert states == ["made", "ended"]


@pytest.mark.long
def test_its_data_reaches_other_hosts(suite: Path, sshd: Sshd) -> None:
    python = suite.parent / "python"  # with the sources of this one
    python.write_text(f"#!/bin/sh\nPYTHONPATH='{os.environ.get('PYTHONPATH', '')}' exec {sys.executable} \"$@\"\n")
    python.chmod(0o755)
    places = f"places={{ssh: [{sshd.host}, {sshd.host}], python: {python}}}"
    done = pileup("run", str(suite), "--quiet", "--set", places, cwd=suite.parent, PILEUP_SSH=sshd.command)
    (case,) = RunFolder.open(run_folder(done)).manifest().cases
    assert (str(case.outcome), case.reason) == ("passed", "")
    first, *others = [line[3] for line in log(suite)]
    assert whats(suite)[0] == "begin"
    assert whats(suite)[-1] == "end"
    assert others.pop() == first
    assert len(set(others) - {first}) == 2
    assert len({line[2] for line in log(suite)[1:]}) == 1


@pytest.mark.parametrize(
    ("use", "told"),
    [
        ("Refusing", "set-up failed: begin_run() of ./own.py:Refusing: no quota"),
        ("Object", "begin_run() of ./own.py:Object returned ['session'][0] is a Object; expected a mapping of texts"),
        ("Listing", "begin_run() of ./own.py:Listing returned a list; expected a mapping of texts"),
        ("Large", "of data; expected at most 1 MiB as JSON"),
    ],
)
def test_one_that_fails_is_a_set_up_that_failed(suite: Path, use: str, told: str) -> None:
    runner = run(suite, tests__own__use=f"./own.py:{use}")
    found, reason = outcome(runner)
    assert found == "failed"
    assert told in reason
    assert {"run", "end"}.isdisjoint(whats(suite))
    states = [entry.state for entry in runner.folder.journal_entries() if entry.what == "begin_run"]
    assert states == ["made", "failed"]


@pytest.mark.parametrize(
    ("use", "told"),
    [
        ("Changing", "self.shared cannot be changed: it is what begin_run() returned, the same at all places"),
        ("Asking", "begin_run() returned no 'name'; it returned 'id', 'names'"),
    ],
)
def test_its_data_are_read_alone(suite: Path, use: str, told: str) -> None:
    found, reason = outcome(run(suite, tests__own__use=f"./own.py:{use}"))
    assert found == "failed"
    assert told in reason
    assert whats(suite) == ["begin", "end"]


def test_with_other_options_of_a_scan_it_is_begun_anew_and_in_repeats_not(suite: Path) -> None:
    run(suite, scan="{own.step: [1, 2]}", repeat="2", tests__own__load__times="1", tests__own__load__clients="1")
    assert [line[:2] for line in log(suite)] == [
        ["begin", 1],
        ["run", 1],
        ["begin", 2],
        ["run", 2],
        ["run", 2],
        ["run", 1],
        ["end", 2],
        ["end", 1],
    ]


def test_one_that_failed_is_not_begun_again_in_the_next_repeat(suite: Path) -> None:
    runner = run(suite, repeat="2", tests__own__use="./own.py:Refusing")
    assert [(str(case.outcome), "no quota" in case.reason) for case in runner.folder.manifest().cases] == [
        ("failed", True),
        ("failed", True),
    ]
    assert whats(suite) == ["begin"]


def when(suite: Path, what: str, act: object) -> None:
    """Do something once the log has that word, in a thread."""

    def wait() -> None:
        until = time.monotonic() + 20
        while what not in whats(suite) and time.monotonic() < until:
            time.sleep(0.02)
        act()  # type: ignore[operator]

    threading.Thread(target=wait, daemon=True).start()


@pytest.mark.long
def test_it_is_ended_when_the_run_is_stopped_and_begun_again_when_it_is_resumed(suite: Path) -> None:
    stop = Stop()
    when(suite, "run", lambda: stop.ask(StoppedBy.USER, "Ctrl-C"))
    more = {"tests.own.load": "{times: 6, clients: 1}", "tests.own.options.wait": "0.3"}
    runner = run(suite, stop, **more)
    assert whats(suite)[0] == "begin"
    assert whats(suite)[-1] == "end"
    (suite.parent / "log").unlink()
    earlier = take_up(runner.folder.path, trusted=True)
    again = Runner(earlier.plan, suite.parent / "runs", Stop(), earlier)
    again.run()
    assert outcome(again) == ("passed", "")
    assert whats(suite) == ["begin", *["run"] * 6, "end"]


def test_a_limit_ends_it_too(suite: Path) -> None:
    runner = run(suite, limits__operations="3", tests__own__load="{clients: 1, for: 20 s}")
    assert runner.folder.manifest().exit_code == 7
    assert whats(suite)[-1] == "end"


def test_one_that_hangs_is_left_when_the_run_is_ended_at_once(suite: Path) -> None:
    stop = Stop()

    def twice() -> None:
        stop.ask(StoppedBy.USER, "Ctrl-C")
        stop.ask(StoppedBy.USER, "Ctrl-C")

    when(suite, "begin", twice)
    begun = time.monotonic()
    runner = run(suite, stop, tests__own__use="./own.py:Hanging")
    assert time.monotonic() - begun < 15
    assert outcome(runner)[0] == "not run"
    assert whats(suite) == ["begin"]


def test_a_run_that_is_to_end_waits_for_it_no_longer_than_its_timeout(suite: Path) -> None:
    stop = Stop()
    when(suite, "begin", lambda: stop.ask(StoppedBy.USER, "Ctrl-C"))
    runner = run(suite, stop, tests__own__use="./own.py:Hanging", tests__own__timeout="500 ms")
    assert "begin_run() of own was abandoned: it took longer than 500 ms" in outcome(runner)[1]


@pytest.mark.long
def test_a_crash_is_told_by_the_next_start(suite: Path) -> None:
    done = pileup("run", str(suite), "--quiet", "--set", "tests.own.use=./own.py:Killed", cwd=suite.parent)
    assert done.returncode < 0
    told = pileup("run", str(suite), "--quiet", cwd=suite.parent).stderr
    assert "end_run() of test own was not called: what its begin_run() has made may still be there" in told
    assert "end_run()" not in pileup("run", str(suite), "--quiet", cwd=suite.parent).stderr


def test_no_own_folder_is_made_outside_of_the_limits(suite: Path) -> None:
    runner = run(suite, limits__inside="/nowhere")
    assert "outside /nowhere" in outcome(runner)[1]
    assert [entry for entry in runner.folder.journal_entries() if entry.what == "own"] == []


@pytest.mark.long
def test_p10_a_global_that_a_test_changes_is_told_of_when_there_are_several_places(suite: Path) -> None:
    own = suite.parent / "own.py"
    changing = OWN.replace("class Own(Test):", "SEEN = []\n\n\nclass Own(Test):")
    own.write_text(changing.replace("        time.sleep(self.wait)", "        SEEN.append(op.number)"))
    runner = run(suite, places="processes:2")
    (told,) = [note for case in runner.folder.manifest().cases for note in case.notes]
    assert "own.py changes SEEN" in told
    assert "self.shared" in told
    assert not any(case.notes for case in run(suite).folder.manifest().cases)
