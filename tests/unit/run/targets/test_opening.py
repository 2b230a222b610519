"""Targets of a run: a folder of their own only for kinds that live in one, and gone at the end."""

from pathlib import Path

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
