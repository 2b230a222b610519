"""Targets of a run: a folder of their own only for kinds that live in one, and gone at the end."""

from pathlib import Path

import pytest

from pileup.model.errors import TargetError
from pileup.record import RunFolder
from pileup.run.servers.supervisor import Supervisor
from pileup.run.targets.opening import Targets
from pileup.suite import load

SUITE = """
pileup: 1
title: t
targets: {nothing: {kind: noop}, disk: {kind: posix}, unused: {kind: posix}}
tests:
  - {name: a, use: noop, target: nothing}
  - {name: b, use: storage.list, target: disk}
"""


def test_only_a_folder_target_gets_a_scratch_folder_and_only_while_the_run_lasts(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SUITE)
    folder = RunFolder.create(tmp_path, "t", 0)
    targets = Targets(load(tmp_path / "s.yaml"), folder, Supervisor(folder))
    told = {target.name: target.url for target in targets.open()}
    assert set(told) == {"nothing", "disk"}, "a target that no test uses is not opened"
    assert told["nothing"] == ""
    assert Path(told["disk"]).is_dir()
    assert [entry.target for entry in folder.journal_entries()] == ["disk"]
    targets.close()
    assert not Path(told["disk"]).exists()
    folder.close()


BROKEN = """
from pileup.plugin import ClientSpec, Launcher, Target


class Broken(Target):
    needs_url = False
    text: str = "x"

    def client(self):
        return ClientSpec("noop", {})

    def probe(self):
        return {}[self.text] if self.text == "x" else 7


class Chatty(Broken):
    def probe(self):
        return "chatty 1"

    def remarks(self):
        return 1 / 0


class Late(Broken):
    launch_settings = ()

    @classmethod
    def launcher(cls, settings, folder):
        if "servers" in folder.parts:
            raise RuntimeError("no room")
        return Launcher.one(("true",), "(?P<url>.*)")


class Unmade(Broken):
    def __init__(self, *more, **options):
        raise LookupError("no such site")
"""
MISTAKES = """
pileup: 1
title: t
targets:
  raising: {kind: "./t.py:Broken"}
  number: {kind: "./t.py:Broken", options: {text: y}}
  chatty: {kind: "./t.py:Chatty"}
  late: {kind: "./t.py:Late", launch: {}}
  unmade: {kind: "./t.py:Unmade"}
  good: {kind: noop}
tests:
  - {name: a, use: noop, target: raising}
  - {name: b, use: noop, target: number}
  - {name: d, use: noop, target: chatty}
  - {name: e, use: noop, target: good}
  - {name: f, use: noop, target: late}
  - {name: g, use: noop, target: unmade}
"""


def test_a_mistake_in_a_target_makes_that_one_unavailable_and_names_the_line(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text(BROKEN)
    (tmp_path / "s.yaml").write_text(MISTAKES)
    folder = RunFolder.create(tmp_path, "t", 0)
    targets = Targets(load(tmp_path / "s.yaml"), folder, Supervisor(folder))
    told = targets.open()
    assert [entry.name for entry in told if targets.get(entry.name) is not None] == ["good"]
    mend = "(fix the file and run again)"
    assert {entry.name: targets.problem(entry.name) for entry in told} == {
        "raising": f"the probe of target raising raised KeyError: 'x' (t.py:13); expected a text or TargetError {mend}",
        "number": f"the probe of target number returned 7; expected a text or TargetError {mend}",
        "chatty": "the remarks of target chatty raised ZeroDivisionError: division by zero (t.py:21); "
        f"expected a list of texts {mend}",
        "late": "the launcher of target late raised RuntimeError: no room (t.py:30); "
        f"expected a Launcher, or None {mend}",
        "unmade": "the __init__ of target unmade raised LookupError: no such site (t.py:36); "
        f"expected a target of its options {mend}",
        "good": "",
    }
    with pytest.raises(TargetError) as caught:
        targets.open_target("number")
    assert str(caught.value) == targets.problem("number"), "one thing is expected, as where the target is opened"
    with pytest.raises(TargetError, match="target other is used by no test; expected a target that a test uses"):
        targets.open_target("other")
    folder.close()
