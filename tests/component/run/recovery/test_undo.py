"""What a crash left is cleaned up by the journal alone, once, and what could not be stays open."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from pileup.model.errors import UsageError
from pileup.model.manifest import TargetEntry
from pileup.model.program import Keys, Program, Step
from pileup.record import RunFolder
from pileup.run.manifest_start import first_manifest
from pileup.run.recovery import leftovers, registry
from pileup.run.recovery.intents import open_intents
from pileup.run.recovery.ownership import Trust
from pileup.run.recovery.reload import reload
from pileup.run.recovery.undo import mend, would_mend
from pileup.run.recovery.undo_kinds import UndoReach
from pileup.run.servers import processes
from pileup.run.servers.processes import MARK, Identity
from pileup.run.servers.scratch import make as make_scratch
from pileup.suite import load
from tests.component.run.servers.test_supervisor import until

SUITE = """
pileup: 1
title: undo
limits: {inside: INSIDE}
targets:
  se: {kind: posix, url: FOLDER, settings: {level: {set: "FOLDER/../set {value}", default: 1}}}
  mine: {kind: posix}
tests:
  - {name: fill, use: storage.write, target: se, options: {files: 3, size: 1 B}}
  - {name: own, use: storage.write, target: mine, options: {files: 3, size: 1 B}}
"""
Begin = Callable[..., RunFolder]
TRUSTED = Trust(None, given=True)


def undo(folder: RunFolder, objects: bool) -> list[str]:
    """Return in words what was cleaned up."""
    return [str(each) for each in mend(folder, TRUSTED, UndoReach.ALL if objects else UndoReach.SETTINGS)]


@pytest.fixture
def begin(tmp_path: Path) -> Begin:
    """A run folder as a crash of its pileup leaves it, with nothing in the journal yet."""

    def begin(inside: str = "/") -> RunFolder:
        (tmp_path / "data" / "pileup").mkdir(parents=True)
        for number in range(3):
            (tmp_path / "data" / "pileup" / f"f{number:06d}").touch()
        (tmp_path / "data" / "pileup" / "theirs").touch()
        (tmp_path / "set").write_text(f"#!/bin/sh\nprintf %s $1 > {tmp_path}/level\n")
        (tmp_path / "set").chmod(0o755)
        text = SUITE.replace("FOLDER", str(tmp_path / "data")).replace("INSIDE", inside)
        (tmp_path / "suite.yaml").write_text(text)
        folder = RunFolder.create(tmp_path / "runs", "undo", 0)
        info = first_manifest(load(tmp_path / "suite.yaml"), 1)
        targets = (TargetEntry("se", private=False), TargetEntry("mine", private=True))
        folder.save(replace(info, targets=targets))
        return folder

    return begin


@pytest.fixture
def server() -> Iterator[tuple["subprocess.Popen[bytes]", Identity]]:
    """A server that a crash has left, with a child in a session of its own."""
    code = "import subprocess, sys; subprocess.Popen(['sleep', '60'], start_new_session=True); sys.stdin.read()"
    process = subprocess.Popen(
        [sys.executable, "-ISc", code],
        stdin=subprocess.PIPE,
        env={**os.environ, MARK: f"mark-{os.getpid()}"},
        start_new_session=True,
    )
    until(lambda: len(processes.marked(f"mark-{os.getpid()}")) == 2)
    identity = Identity.of(process.pid)
    assert identity is not None
    yield process, identity
    processes.kill(processes.marked(f"mark-{os.getpid()}"))
    process.communicate()


def known(identity: Identity) -> dict[str, Any]:
    return {
        "target": "se",
        "process": "server",
        **asdict(identity),
        "mark": f"mark-{os.getpid()}",
    }


def states(folder: RunFolder, what: str) -> list[str]:
    return [entry.state for entry in folder.journal_entries() if entry.what == what]


def objects(folder: RunFolder, case: str = "fill", target: str = "se", cleanup: str = "always") -> int:
    step = Step("delete", "delete", Keys("pileup/f", 3), repeat=3, missing_ok=True)
    remove = Program((step,)).to_native()
    return folder.journal("objects", "made", case=case, target=target, cleanup=cleanup, remove=remove)


def names(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "data" / "pileup").iterdir())


def test_an_empty_journal_needs_nothing(begin: Begin) -> None:
    assert undo(begin(), objects=True) == []


def test_a_server_is_ended_with_all_that_it_started(
    begin: Begin, server: tuple["subprocess.Popen[bytes]", Identity]
) -> None:
    folder, (process, identity) = begin(), server
    intent = folder.journal("server", "begun", target="se", process="server", mark=f"mark-{os.getpid()}")
    folder.journal("server", "started", of=intent, **known(identity))
    assert would_mend(folder, TRUSTED, UndoReach.ALL) == [f"the server of target se (pid {process.pid}) is ended"]
    assert process.poll() is None
    assert undo(folder, objects=False) == [f"the server of target se (pid {process.pid}) is ended"]
    assert process.wait(10) == -signal.SIGTERM
    assert processes.marked(f"mark-{os.getpid()}") == []
    assert states(folder, "server") == ["begun", "started", "ended"]
    assert undo(folder, objects=False) == []


def test_a_server_of_which_only_the_intent_is_known_is_found_by_its_mark(
    begin: Begin, server: tuple["subprocess.Popen[bytes]", Identity]
) -> None:
    folder, (process, _) = begin(), server
    folder.journal("server", "begun", target="se", process="server", mark=f"mark-{os.getpid()}")
    assert undo(folder, objects=False) == ["the server of target se is ended"]
    process.wait(10)


def test_a_number_that_another_process_has_now_is_left_alone(
    begin: Begin, server: tuple["subprocess.Popen[bytes]", Identity]
) -> None:
    folder, (process, identity) = begin(), server
    about = {**known(identity), "ticks": identity.ticks - 100, "mark": "of somebody else"}
    folder.journal("server", "started", of=folder.journal("server", "begun", target="se"), **about)
    assert undo(folder, objects=False) == []
    assert process.poll() is None
    assert states(folder, "server")[-1] == "ended"


def test_a_paused_server_goes_on(begin: Begin, server: tuple["subprocess.Popen[bytes]", Identity]) -> None:
    folder, (process, identity) = begin(), server
    process.send_signal(signal.SIGSTOP)
    until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_STOPPED)
    folder.journal("pause", "begun", **known(identity))
    assert undo(folder, objects=False) == ["the paused server of target se goes on"]
    until(lambda: psutil.Process(process.pid).status() != psutil.STATUS_STOPPED)


def test_what_ran_on_another_host_stays_open(begin: Begin) -> None:
    folder = begin()
    folder.journal("owner", "begun", pid=1, born=0.0, host="elsewhere")
    folder.journal("scratch", "made", target="mine", path="/tmp/pileup-mine-1")
    (told,) = undo(folder, objects=False)
    assert "could not be done: it is on host elsewhere" in told
    assert len(open_intents(folder)) == 1


def test_s7_what_ran_in_another_container_of_this_host_stays_open(
    begin: Begin, server: tuple["subprocess.Popen[bytes]", Identity]
) -> None:
    folder, (process, identity) = begin(), server
    there = asdict(identity) | {"namespace": identity.namespace + 1}
    folder.journal("owner", "begun", host=socket.gethostname(), **there)
    folder.journal("server", "started", of=folder.journal("server", "begun", target="se"), **(known(identity) | there))
    (told,) = undo(folder, objects=False)
    assert "could not be done: it is in another container of this host" in told
    assert process.poll() is None
    assert len(open_intents(folder)) == 1


@pytest.mark.parametrize("other", [{"boot": "another"}, {"namespace": 1}, {"ticks": 1}])
def test_s7_a_process_is_known_by_boot_namespace_and_tick(
    begin: Begin, server: tuple["subprocess.Popen[bytes]", Identity], other: dict[str, Any]
) -> None:
    folder, (process, identity) = begin(), server
    assert identity.known
    assert identity.alive
    about = {**known(identity), **other, "mark": "of somebody else"}
    assert not replace(identity, **other).known
    folder.journal("server", "started", of=folder.journal("server", "begun", target="se"), **about)
    assert undo(folder, objects=False) == []
    assert process.poll() is None


def test_a_server_that_hides_its_environment_is_known_by_its_log(begin: Begin, tmp_path: Path) -> None:
    folder = begin()
    log = folder.server_log("se", "server")
    assert log is not None
    log.parent.mkdir(parents=True)
    with log.open("ab") as out, subprocess.Popen(["sleep", "60"], stdout=out, start_new_session=True) as process:
        identity = Identity.of(process.pid)
        assert identity is not None
        about = {"target": "se", "process": "server", "mark": "a" * 32, **asdict(identity)}
        folder.journal("server", "started", of=folder.journal("server", "begun", target="se"), **about)
        assert undo(folder, objects=False) == [f"the server of target se (pid {process.pid}) is ended"]
        assert process.wait(10) == -signal.SIGTERM


def test_scratch_folders_go_and_nothing_that_is_none(begin: Begin, tmp_path: Path) -> None:
    folder = begin()
    begin_of_name = f"pileup-{folder.nonce[:12]}"
    scratch, other, link = tmp_path / f"{begin_of_name}-1", tmp_path / "precious", tmp_path / f"{begin_of_name}-2"
    for path in (scratch, other):
        (path / "deep").mkdir(parents=True)
    link.symlink_to(other)
    for path in (scratch, other, link):
        folder.journal("scratch", "made", target="mine", path=str(path))
    told = undo(folder, objects=False)
    assert not scratch.exists()
    assert (other / "deep").exists()
    assert sum("is not a folder that this run has made" in each for each in told) == 2
    assert states(folder, "scratch") == ["made", "made", "made", "removed"]


def test_settings_are_set_back_the_newest_first(begin: Begin, tmp_path: Path) -> None:
    folder = begin()
    for before in ("2", "3", None):
        folder.journal("setting", "changed", target="se", setting="level", value="9", before=before)
    assert undo(folder, objects=False) == [
        "the setting level of target se is set back to 3",
        "the setting level of target se is set back to 2",
    ]
    assert (tmp_path / "level").read_text() == "2"
    assert states(folder, "setting")[3:] == ["kept", "restored", "restored"]


def test_a_suite_that_has_changed_is_told_and_the_setting_stays_open(begin: Begin, tmp_path: Path) -> None:
    folder = begin()
    folder.journal("setting", "changed", target="se", setting="level", value="9", before="2")
    with (tmp_path / "suite.yaml").open("a") as file:
        file.write("# another\n")
    (told,) = undo(folder, objects=False)
    assert "could not be done: " in told
    assert "has changed since this run began" in told
    assert len(open_intents(folder)) == 1


def test_objects_are_removed_by_name_and_only_when_asked(begin: Begin, tmp_path: Path) -> None:
    folder = begin()
    objects(folder)
    assert undo(folder, objects=False) == []
    assert len(names(tmp_path)) == 4
    assert undo(folder, objects=True) == ["what fill has made on target se is removed"]
    assert names(tmp_path) == ["theirs"]
    assert states(folder, "objects") == ["made", "removed"]


@pytest.mark.parametrize("cleanup", ["never", "passed"])
def test_what_the_suite_keeps_is_kept(begin: Begin, tmp_path: Path, cleanup: str) -> None:
    folder = begin()
    objects(folder, cleanup=cleanup)
    assert undo(folder, objects=True) == [f"what fill has made on target se is kept: its clean-up is `{cleanup}`"]
    assert len(names(tmp_path)) == 4
    assert undo(folder, objects=True) == []


def test_what_could_not_be_removed_is_tried_again(begin: Begin, tmp_path: Path) -> None:
    folder = begin()
    objects(folder)
    (tmp_path / "data/pileup/f000001").unlink()
    (tmp_path / "data/pileup/f000001/full").mkdir(parents=True)
    (told,) = undo(folder, objects=True)
    assert "is removed: could not be done: 1 of 3 could not be removed: " in told
    assert names(tmp_path) == ["f000001", "theirs"]
    assert states(folder, "objects") == ["made", "left"]
    (tmp_path / "data/pileup/f000001/full").rmdir()
    assert undo(folder, objects=True) == ["what fill has made on target se is removed"]
    assert names(tmp_path) == ["theirs"]


def test_objects_outside_the_limit_are_not_touched(begin: Begin, tmp_path: Path) -> None:
    folder = begin(inside=str(tmp_path / "data" / "other"))
    objects(folder)
    (told,) = undo(folder, objects=True)
    assert f"outside {tmp_path}/data/other" in told
    assert len(names(tmp_path)) == 4


def test_what_was_on_a_private_target_went_with_it(begin: Begin) -> None:
    folder = begin()
    objects(folder, case="own", target="mine")
    assert undo(folder, objects=True) == []
    assert states(folder, "objects") == ["made", "removed"]


def test_s7_a_run_is_alive_while_its_lock_is_held(begin: Begin) -> None:
    folder = begin()
    assert not leftovers.alive(folder)
    held = leftovers.register(folder, load(folder.path.parents[1] / "suite.yaml"))
    assert leftovers.alive(folder)
    with pytest.raises(UsageError, match=rf"is still running: its process is active \(pid {os.getpid()}\)"):
        leftovers.take(folder)
    leftovers.unregister(held)
    assert not leftovers.alive(folder)
    assert not (folder.path / leftovers.MARKER).exists()
    known = asdict(Identity.of(os.getpid()) or Identity(0, 0))
    folder.journal("owner", "begun", host=socket.gethostname(), **known)
    (folder.path / leftovers.MARKER).touch()
    assert not leftovers.alive(folder), "a number proves nothing: nobody holds the lock"
    folder.journal("owner", "begun", pid=1, host="elsewhere")
    assert leftovers.alive(folder), "it cannot be seen from here"


def crash(folder: RunFolder) -> None:
    """Enter a run as its start does, and let its lock go as its end does not."""
    held = leftovers.register(folder, load(folder.path.parents[1] / "suite.yaml"))
    held.lock.release(done=False)


def test_s5_the_next_start_tells_of_settings_and_executes_nothing_of_a_suite(begin: Begin, tmp_path: Path) -> None:
    folder = begin()
    crash(folder)
    (tmp_path / "level").write_text("9")
    folder.journal("setting", "changed", target="se", setting="level", value="9", before="2")
    scratch = make_scratch(folder.nonce)
    folder.journal("scratch", "made", target="mine", path=str(scratch))
    told = leftovers.sweep()
    assert told == [
        f"left by {folder.path.name}: the folder {scratch} of target mine is removed",
        f"left by {folder.path.name}: the setting level of target se is set back to 2: could not be done: "
        f"the next start executes nothing of a suite; `pileup clean {folder.path}` does it",
    ]
    assert not scratch.exists()
    assert (tmp_path / "level").read_text() == "9"
    assert len(leftovers.sweep()) == 1, "it is told as long as it is so"
    trust = Trust.of(folder)
    told.clear()
    mended = leftovers.put_right(folder, trust, UndoReach.ALL, tell=told.append)
    assert [str(each) for each in mended] == ["the setting level of target se is set back to 2"]
    assert (tmp_path / "level").read_text() == "2"
    assert told == [f"loads the suite {tmp_path}/suite.yaml", f"executes {tmp_path}/data/../set 2"], "shown before"
    assert leftovers.sweep() == []


def test_s7_a_run_that_goes_on_is_let_alone(begin: Begin) -> None:
    folder = begin()
    held = leftovers.register(folder, load(folder.path.parents[1] / "suite.yaml"))
    scratch = make_scratch(folder.nonce)
    folder.journal("scratch", "made", target="mine", path=str(scratch))
    assert leftovers.sweep() == []
    assert leftovers.put_right(folder, Trust.of(folder), UndoReach.ALL) == []
    assert scratch.exists()
    leftovers.unregister(held)
    assert len(leftovers.sweep()) == 1
    assert not scratch.exists()


def test_s5_a_copy_of_a_run_is_not_that_run(begin: Begin, tmp_path: Path) -> None:
    folder = begin()
    crash(folder)
    scratch = make_scratch(folder.nonce)
    folder.journal("scratch", "made", target="mine", path=str(scratch))
    copy = RunFolder.open(shutil.copytree(folder.path, tmp_path / "runs" / "copy"))
    assert copy.nonce == folder.nonce
    assert not Trust.of(copy).granted
    with pytest.raises(UsageError, match="is not in your registry of runs"):
        leftovers.put_right(copy, Trust.of(copy), UndoReach.ALL)
    assert scratch.exists()
    shutil.rmtree(folder.path)
    assert leftovers.sweep() == []
    assert not any(entry.nonce == copy.nonce for entry in registry.entries()), "its folder is gone"
    scratch.rmdir()


def test_s6_a_damaged_journal_is_told_and_hinders_nobody(begin: Begin) -> None:
    folder = begin()
    crash(folder)
    scratch = make_scratch(folder.nonce)
    folder.journal("scratch", "made", target="mine", path=str(scratch))
    with (folder.path / "journal.jsonl").open("a") as file:
        file.write('{"number": 90, "time": 1, "what": "scratch", "state": "made", "target": "mine"}\n')
        file.write("[" * 100_000 + "\n")
        file.write('{"number": 1e400, "time": 1, "what": "scratch", "state": "made"}\n')
        file.write('{"number": 91, "time": 1, "what": ["scratch"], "state": {}}\n')
    told = leftovers.sweep()
    assert any("entry 90 (scratch) of the journal has no path as pileup writes it" in line for line in told)
    assert any(f"the folder {scratch} of target mine is removed" in line for line in told)
    assert len(told) == 2


def test_s5_a_suite_that_has_changed_is_not_loaded(begin: Begin, tmp_path: Path) -> None:
    folder = begin()
    crash(folder)
    folder.journal("setting", "changed", target="se", setting="level", value="9", before="2")
    (tmp_path / "mine.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'w')")
    (tmp_path / "suite.yaml").write_text("pileup: 1\ntitle: t\ntests: [{name: a, use: './mine.py:A'}]\n")
    (told,) = leftovers.put_right(folder, Trust.of(folder), UndoReach.ALL)
    assert "has changed since this run began" in told.problem
    assert not (tmp_path / "executed").exists()


def test_s5_a_plug_in_that_has_changed_is_not_executed(tmp_path: Path) -> None:
    plugin = tmp_path / "mine.py"
    plugin.write_text("from pileup.plugin import Test\nclass A(Test):\n    def run(self, op): pass\n")
    (tmp_path / "suite.yaml").write_text("pileup: 1\ntitle: t\ntests: [{name: a, use: './mine.py:A'}]\n")
    plan = load(tmp_path / "suite.yaml")
    folder = RunFolder.create(tmp_path / "runs", "plugin", 0)
    folder.save(first_manifest(plan, 1))
    leftovers.register(folder, plan).lock.release(done=False)
    assert reload(folder.manifest(), {}, Trust.of(folder)).digest == plan.digest
    plugin.write_text(f"open({str(tmp_path / 'executed')!r}, 'w')")
    with pytest.raises(UsageError, match=r"mine\.py, a plug-in of .* has changed since this run began"):
        reload(folder.manifest(), {}, Trust.of(folder))
    assert not (tmp_path / "executed").exists()


def test_s5_a_process_without_the_mark_is_not_ended(begin: Begin) -> None:
    folder = begin()
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
        try:
            identity = Identity.of(process.pid)
            assert identity is not None
            about = {"target": "se", "process": "server", "mark": "f" * 32, **asdict(identity)}
            folder.journal("server", "started", of=folder.journal("server", "begun", target="se"), **about)
            folder.journal("pause", "begun", **about)
            assert undo(folder, objects=True) == []
            assert process.poll() is None
        finally:
            process.kill()
