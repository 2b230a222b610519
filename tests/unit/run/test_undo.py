"""What a crash left is put right by the journal alone, once, and what could not be stays open."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from pileup.model.program import Keys, Program, Step
from pileup.record import RunFolder
from pileup.run import leftovers, processes
from pileup.run.info import first_info
from pileup.run.intents import open_intents
from pileup.run.processes import MARK, Identity
from pileup.run.undo import mend, would_mend
from pileup.suite import load
from tests.unit.run.test_servers import until

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


def undo(folder: RunFolder, objects: bool) -> list[str]:
    """Return in words what was put right."""
    return [str(each) for each in mend(folder, objects)]


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
        info = first_info(load(tmp_path / "suite.yaml"), 1)
        info["targets"] = [{"name": "se", "private": False}, {"name": "mine", "private": True}]
        folder.save(info)
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
        "pid": identity.pid,
        "born": identity.born,
        "mark": f"mark-{os.getpid()}",
    }


def states(folder: RunFolder, what: str) -> list[str]:
    return [entry["state"] for entry in folder.journal_entries() if entry["what"] == what]


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
    assert would_mend(folder, objects=True) == [f"the server of target se (pid {process.pid}) is ended"]
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
    about = {**known(identity), "born": identity.born - 100, "mark": "of somebody else"}
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


def test_scratch_folders_go_and_nothing_that_is_none(begin: Begin, tmp_path: Path) -> None:
    folder = begin()
    scratch, other, link = tmp_path / "pileup-mine-1", tmp_path / "precious", tmp_path / "pileup-link"
    for path in (scratch, other):
        (path / "deep").mkdir(parents=True)
    link.symlink_to(other)
    for path in (scratch, other, link):
        folder.journal("scratch", "made", target="mine", path=str(path))
    told = undo(folder, objects=False)
    assert not scratch.exists()
    assert (other / "deep").exists()
    assert sum("is no folder that pileup makes" in each for each in told) == 2
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
    assert "is not what this run began with" in told
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


def test_a_run_is_alive_while_its_owner_is(begin: Begin) -> None:
    folder = begin()
    assert not leftovers.alive(folder)
    leftovers.register(folder)
    assert leftovers.alive(folder)
    leftovers.unregister(folder)
    assert not leftovers.alive(folder)
    assert not (folder.path / leftovers.MARKER).exists()
    folder.journal("owner", "begun", pid=os.getpid(), born=1.0, host=socket.gethostname())
    assert not leftovers.alive(folder), "the number belongs to another process now"
    folder.journal("owner", "begun", pid=1, born=1.0, host="elsewhere")
    assert leftovers.alive(folder), "it cannot be seen from here"


def test_sweep_looks_at_dead_runs_alone_and_only_once(begin: Begin, tmp_path: Path) -> None:
    folder = begin()
    leftovers.register(folder)
    folder.journal("setting", "changed", target="se", setting="level", value="9", before="2")
    assert leftovers.sweep(tmp_path / "runs") == []
    folder.journal("owner", "begun", pid=os.getpid(), born=1.0, host=socket.gethostname())
    told = f"left by {folder.path.name}: the setting level of target se is set back to 2"
    assert leftovers.sweep(tmp_path / "runs") == [told]
    assert leftovers.sweep(tmp_path / "runs") == []
    assert leftovers.sweep(tmp_path / "nowhere") == []


def test_what_a_run_could_not_put_right_is_tried_at_the_next_start(begin: Begin, tmp_path: Path) -> None:
    folder = begin()
    leftovers.register(folder)
    folder.journal("setting", "changed", target="se", setting="level", value="9", before="2")
    leftovers.unregister(folder)
    assert len(leftovers.sweep(tmp_path / "runs")) == 1
    assert (tmp_path / "level").read_text() == "2"
    assert not (folder.path / leftovers.MARKER).exists()
