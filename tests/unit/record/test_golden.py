"""Run folders of earlier releases read back equal, for ever."""

import json
import shutil
import sys

import pytest

from pileup.record import RunFolder
from tests.support import ROOT

GOLDEN = ROOT / "tests" / "golden"
RELEASES = sorted(path.name for path in GOLDEN.iterdir() if (path / "content.json").exists())


@pytest.fixture
def make(monkeypatch):
    monkeypatch.syspath_prepend(str(GOLDEN))
    import make

    yield make
    sys.modules.pop("make", None)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("state", ["running", "ended"])
def test_a_golden_folder_reads_back_equal(release, state, make):
    expected = json.loads((GOLDEN / release / "content.json").read_text())
    assert json.loads(json.dumps(make.content(RunFolder.open(GOLDEN / release / state)))) == expected


@pytest.mark.parametrize("release", RELEASES)
def test_a_golden_folder_that_was_broken_off_converts(release, make, tmp_path):
    shutil.copytree(GOLDEN / release / "running", tmp_path / "run")
    folder = RunFolder.open(tmp_path / "run")
    folder.convert()
    expected = json.loads((GOLDEN / release / "content.json").read_text())
    assert json.loads(json.dumps(make.content(folder))) == expected


def test_this_release_makes_the_same_folder(make, tmp_path):
    made = make.make(tmp_path, "ended")
    assert json.loads(json.dumps(make.content(made))) == json.loads(
        (GOLDEN / RELEASES[-1] / "content.json").read_text()
    )
