"""What a run makes in a catalogue of somebody's own begins with its name, and goes with it, after a crash too."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import pileup, run_folder

TOY = '''
import os
import signal
from pathlib import Path

from pileup.plugin import Test, option
from pileup.plugin.catalogue import CatalogueTarget


class Toy(CatalogueTarget):
    """Keeps names as files of a folder."""

    kind = "toy"

    def add(self, name):
        self.check_inside("scope", name)
        (Path(self.url) / name).touch()

    def purge(self, prefix):
        found = list(Path(self.url).glob(f"{prefix}*"))
        if (Path(self.url) / "locked").exists():
            return f"{len(found)} names: it is locked"
        for each in found:
            each.unlink()
        return ""


class Add(Test):
    """Make a name."""

    needs = "catalogue"
    dies: bool = option(False, help="kill this process")

    def run(self, op):
        self.target.add(f"{self.context.own}.{op.number}")
        if self.dies:
            os.kill(os.getpid(), signal.SIGKILL)
'''
SUITE = """
pileup: 1
title: toy
targets: {{toy: {{kind: "./toy.py:Toy", url: {url}}}}}
limits: {{inside: {inside}}}
tests:
  - {{name: add, use: "./toy.py:Add", load: {{times: 3}}, cleanup: {cleanup}, options: {{dies: {dies}}}}}
"""


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    (tmp_path / "toy.py").write_text(TOY)
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "of-others").touch()
    return folder


def run(
    kept: Path, cleanup: str = "always", inside: str = "/scope", dies: str = "false"
) -> "subprocess.CompletedProcess[str]":
    words = {"url": kept, "cleanup": cleanup, "inside": inside, "dies": dies}
    (kept.parent / "suite.yaml").write_text(SUITE.format(**words))
    return pileup("run", "suite.yaml", "--quiet", cwd=kept.parent)


def names(kept: Path) -> list[str]:
    return sorted(each.name for each in kept.iterdir())


def test_what_is_made_goes_and_nothing_else(kept: Path) -> None:
    done = run(kept)
    assert done.returncode == 0, done.stdout + done.stderr
    assert names(kept) == ["of-others"]


def test_names_have_the_beginning_that_the_limit_asks_for(kept: Path) -> None:
    done = run(kept, cleanup="never", inside="/scope/mine-")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(names(kept)) == 4
    assert all(name.startswith("mine-pileup-") for name in names(kept) if name != "of-others")


def test_nothing_is_made_in_another_scope(kept: Path) -> None:
    assert run(kept, inside="/elsewhere").returncode != 0
    assert names(kept) == ["of-others"]


@pytest.mark.long
def test_what_a_crash_has_left_is_removed_by_clean(kept: Path) -> None:
    words = {"url": kept, "cleanup": "always", "inside": "/scope", "dies": "true"}
    (kept.parent / "suite.yaml").write_text(SUITE.format(**words))
    command = [sys.executable, "-m", "pileup", "run", "suite.yaml", "--quiet"]
    variables = {**os.environ, "PILEUP_RUNS": str(kept.parent / "runs")}
    assert subprocess.run(command, cwd=kept.parent, env=variables, check=False, capture_output=True).returncode == -9
    assert len(names(kept)) == 2
    [folder] = (kept.parent / "runs").glob("*-toy")
    (kept / "locked").touch()
    done = pileup("clean", str(folder), cwd=kept.parent)
    assert "it is locked" in done.stdout + done.stderr
    (kept / "locked").unlink()
    done = pileup("clean", str(folder), cwd=kept.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    assert names(kept) == ["of-others"]


def test_what_cannot_be_removed_is_told(kept: Path) -> None:
    (kept / "locked").touch()
    done = run(kept)
    events = (run_folder(done) / "events/events.jsonl").read_text()
    assert "names remain on target toy: 3 names: it is locked; `pileup clean" in events
