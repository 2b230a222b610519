"""What a test knows of where it is, and the files that it leaves: in the record, from every place."""

import hashlib
import json
import os
import sys
from pathlib import Path

import pytest

from pileup.record import RunFolder
from pileup.record.damage import damage
from pileup.run import Runner
from pileup.suite import load
from tests.servers.sshd import Sshd, sshd

__all__ = ["sshd"]

OWN = """
import json
import os

from pileup.plugin import Op, Test, option


class Own(Test):
    step: int = option(0)

    def setup(self) -> None:
        self._first = self.context.random.random()

    def run(self, op: Op) -> None:
        known = self.context
        told = [known.place, known.place_name, known.client, dict(known.point), known.repeat, self._first]
        print(json.dumps(told))
        (known.artefacts / f"log-{op.client}.txt").write_text(f"client {op.client}")


class Messy(Own):
    def run(self, op: Op) -> None:
        folder = self.context.artefacts
        (folder / "a name; of my own").write_bytes(bytes(3 << 20))
        os.symlink("/etc/passwd", folder / "link")
        os.mkfifo(folder / "pipe")
        (folder / "folder").mkdir()
        os.truncate(os.open(folder / "zz-large", os.O_CREAT | os.O_WRONLY), 65 << 20)


class Early(Own):
    def begin_run(self):
        self.context.artefacts
"""
SUITE = """
pileup: 1
title: t
seed: 7
tests:
  - {name: own, use: "./own.py:Own", load: {times: 4, clients: 4}}
reports: [{use: html}]
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "s.yaml").write_text(SUITE)
    return tmp_path / "s.yaml"


def run(suite: Path, **values: str) -> RunFolder:
    given = {name.replace("__", "."): value for name, value in values.items()}
    runner = Runner(load(suite, given), suite.parent / "runs")
    runner.run()
    return RunFolder.open(runner.folder.path)


def told(folder: RunFolder) -> list[list[object]]:
    """Return what the iterations printed."""
    lines = [line for path in folder.path.glob("output/*/stdout.txt") for line in path.read_text().splitlines()]
    return [json.loads(line) for line in lines if line.startswith("[")]


def names(folder: RunFolder, case: str = "own") -> list[str]:
    return [path.partition("/artefacts/")[2] for path in folder.artefacts(case)]


def test_a_client_knows_point_repeat_and_numbers_of_its_own(suite: Path) -> None:
    found = told(run(suite, scan="{own.step: [1, 2]}", repeat="2"))
    keys = {(place, name, client, point["own.step"], repeat) for place, name, client, point, repeat, _ in found}  # type: ignore[index]
    assert keys == {(0, "local", client, step, repeat) for client in range(4) for step in "12" for repeat in (1, 2)}
    firsts = {client: {first for _, _, other, _, _, first in found if other == client} for client in range(4)}
    assert [len(each) for each in firsts.values()] == [1, 1, 1, 1]
    assert len(set.union(*firsts.values())) == 4


def test_files_of_every_client_are_in_the_record_with_their_checksums(suite: Path) -> None:
    folder = run(suite)
    assert names(folder) == [f"0/log-{client}.txt" for client in range(4)]
    path = folder.path / folder.artefacts("own")[2]
    assert path.read_text() == "client 2"
    line = f"{hashlib.sha256(b'client 2').hexdigest()}  output/own/artefacts/0/log-2.txt"
    assert line in (folder.path / "SHA256SUMS").read_text().splitlines()
    assert "4 files in output/own/artefacts" in (folder.path / "report.html").read_text()
    assert list(damage(folder)) == []
    path.write_text("another")
    assert [name for name, _ in damage(folder)] == ["output/own/artefacts/0/log-2.txt"]


@pytest.mark.long
@pytest.mark.parametrize("far", [False, True])
def test_they_come_from_other_places(suite: Path, far: bool, sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PILEUP_SSH", sshd.command)
    python = suite.parent / "python"  # with the sources of this one
    python.write_text(f"#!/bin/sh\nPYTHONPATH='{os.environ.get('PYTHONPATH', '')}' exec {sys.executable} \"$@\"\n")
    python.chmod(0o755)
    ssh = f"{{ssh: [{sshd.host}, {sshd.host}], python: {python}, command: {sshd.command}}}"
    folder = run(suite, places=ssh if far else "processes:2")
    found = told(folder)
    words = [sshd.host, sshd.host] if far else ["process 1", "process 2"]
    assert sorted({(each[0], each[1]) for each in found}) == [(1, words[0]), (2, words[1])]  # type: ignore[type-var]
    assert sorted(names(folder)) == sorted(f"{each[0]}/log-{each[2]}.txt" for each in found)


def test_what_is_no_plain_file_or_too_much_is_left_out_and_told(suite: Path) -> None:
    folder = run(suite, tests__own__use="./own.py:Messy", tests__own__load="{times: 1}")
    assert names(folder) == ["0/_a name_ of my own"]
    assert (folder.path / folder.artefacts("own")[0]).stat().st_size == 3 << 20
    (text,) = [each.text for each in folder.events() if "artefacts" in each.text]
    assert "own: artefacts: 4 left out (65 MiB); kept are at most 1000 files and 64 MiB of a load at a place" in text


def test_a_later_attempt_does_not_write_over_the_files_of_an_earlier_one(suite: Path, tmp_path: Path) -> None:
    output = run(suite, tests__own__load="{times: 1}").output("own")
    output.keep(0, "log-0.txt", b"again", True)
    output.keep(0, "log-0.txt", b" and again", False)
    (path,) = tmp_path.glob("runs/*/output/own/artefacts/0/2-log-0.txt")
    assert path.read_bytes() == b"again and again"


def test_there_is_none_before_there_are_clients(suite: Path) -> None:
    (case,) = run(suite, tests__own__use="./own.py:Early").manifest().cases
    assert "there is no folder for artefacts yet; expected `setup`, `run` or `teardown` of a client" in case.reason
