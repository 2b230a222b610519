"""`parallel`: so many independent tests are under way at a time; errors, limits and a stop are as ever."""

import threading
import time
from pathlib import Path

import pytest

from pileup.model.ending import StoppedBy
from pileup.model.errors import RecordError
from pileup.model.plan import Case
from pileup.record import RunFolder
from pileup.run import Runner
from pileup.run.manifest import ManifestWriter
from pileup.run.recovery.resume import take_up
from pileup.run.stop import Stop
from pileup.suite import load

OWN = """
import time
from pathlib import Path

from pileup.plugin import Op, Test, option


class Meet(Test):
    \"\"\"Wait until so many tests are under way at a time.\"\"\"

    folder: str = option()
    wanted: int = option(2)

    def run(self, op: Op) -> None:
        own = Path(self.folder) / self.context.name
        own.touch()
        until = time.monotonic() + 20
        most = 0
        while most < self.wanted and time.monotonic() < until:
            most = max(most, len(list(Path(self.folder).iterdir())))
            time.sleep(0.01)
        time.sleep(0.2)
        own.unlink()
        print("at a time:", most)
        self.expect(most == self.wanted, f"{most} at a time")


class Fail(Meet):
    def run(self, op: Op) -> None:
        raise RuntimeError("broken")


class Long(Meet):
    def run(self, op: Op) -> None:
        Path(self.context.folder, f"{self.context.name}.begun").touch()
        time.sleep(0.05)
"""
SUITE = """
pileup: 1
title: t
parallel: 2
options: {folder: FOLDER}
tests:
TESTS
reports: []
"""


def write(tmp_path: Path, tests: str) -> Path:
    (tmp_path / "meet").mkdir()
    (tmp_path / "own.py").write_text(OWN)
    path = tmp_path / "s.yaml"
    path.write_text(SUITE.replace("FOLDER", str(tmp_path / "meet")).replace("TESTS", tests))
    return path


def outcomes(folder: RunFolder) -> dict[str, str]:
    return {case.name: str(case.outcome) for case in folder.manifest().cases}


@pytest.mark.parametrize("places", ["local", "processes:1"])
def test_two_are_under_way_at_a_time_and_each_has_its_own_record(tmp_path: Path, places: str) -> None:
    tests = "".join(f'  - {{name: {name}, use: "./own.py:Meet"}}\n' for name in "abcd")
    runner = Runner(load(write(tmp_path, tests), {"places": places}), tmp_path)
    results = runner.run()
    folder = RunFolder.open(runner.folder.path)
    assert outcomes(folder) == dict.fromkeys("abcd", "passed")
    assert {path.parent.name: path.read_text().splitlines()[1] for path in folder.path.glob("output/*/stdout.txt")} == (
        dict.fromkeys("abcd", "at a time: 2")
    )
    assert [case.iterations.counts.passed for case in results.cases if case.iterations] == [1, 1, 1, 1]
    notes = {case.name: case.notes for case in results.cases}
    assert "ran at the same time as b: they shared the CPU of pileup" in notes["a"]


def test_one_that_fails_harms_no_other_and_what_needs_it_is_not_run(tmp_path: Path) -> None:
    tests = """
  - {name: a, use: "./own.py:Fail"}
  - {name: b, use: "./own.py:Long", load: {times: 5}}
  - {name: c, use: "./own.py:Long", after: [a]}
  - {name: d, use: "./own.py:Long", after: [b]}
"""
    runner = Runner(load(write(tmp_path, tests)), tmp_path)
    runner.run()
    folder = RunFolder.open(runner.folder.path)
    assert outcomes(folder) == {"a": "failed", "b": "passed", "c": "not run", "d": "passed"}
    assert folder.manifest().cases[2].reason == "needs a, which failed"


@pytest.mark.long
def test_a_stop_and_a_limit_end_all_that_is_under_way_and_a_resume_goes_on(tmp_path: Path) -> None:
    tests = "".join(f'  - {{name: {name}, use: "./own.py:Long", load: {{clients: 1, for: 1 s}}}}\n' for name in "abc")
    path, stop = write(tmp_path, tests), Stop()
    plan = load(path)
    runner = Runner(plan, tmp_path, stop)
    watched = time.monotonic()

    def ask() -> None:
        while not all((tmp_path / f"{name}.begun").exists() for name in "ab") and time.monotonic() - watched < 20:
            time.sleep(0.01)
        stop.ask(StoppedBy.USER, "Ctrl-C")

    threading.Thread(target=ask, daemon=True).start()
    runner.run()
    folder = RunFolder.open(runner.folder.path)
    assert outcomes(folder)["c"] == "not run"
    assert not (tmp_path / "c.begun").exists()
    earlier = take_up(folder.path, trusted=True)
    Runner(earlier.plan, tmp_path, Stop(), earlier).run()
    assert outcomes(RunFolder.open(folder.path)) == dict.fromkeys("abc", "passed")


def test_a_limit_ends_them_all(tmp_path: Path) -> None:
    tests = "".join(f'  - {{name: {name}, use: "./own.py:Long", load: {{clients: 1, for: 30 s}}}}\n' for name in "abc")
    begun = time.monotonic()
    runner = Runner(load(write(tmp_path, tests), {"limits.operations": "8"}), tmp_path)
    runner.run()
    assert time.monotonic() - begun < 20
    assert runner.folder.manifest().exit_code == 7
    assert outcomes(RunFolder.open(runner.folder.path))["c"] == "not run"


def test_a_fault_of_pileup_in_one_of_them_is_told_and_the_others_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = "".join(f'  - {{name: {name}, use: "./own.py:Long", load: {{clients: 1, for: 1 s}}}}\n' for name in "abc")
    begin = ManifestWriter.begin

    def refuse(book: ManifestWriter, case: Case) -> None:
        if case.name == "b":
            raise RecordError("no room")
        begin(book, case)

    monkeypatch.setattr(ManifestWriter, "begin", refuse)
    runner = Runner(load(write(tmp_path, tests)), tmp_path)
    runner.run()
    found = {case.name: case.outcome for case in runner.folder.manifest().cases}
    assert (str(found["a"]), found["b"], str(found["c"])) == ("passed", None, "passed")
    assert "no room" in runner.folder.manifest().stopped
