"""What takes a look at every row is found once and kept for the tables that it is of."""

import json
import shutil
from pathlib import Path

import pytest

from pileup.cli.verify import findings
from pileup.record import RunFolder
from pileup.record.kept import NAME
from pileup.stats import results, worked_out
from pileup.stats.frames import blocks
from tests.support import ROOT


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    shutil.copytree(ROOT / "tests" / "golden" / "0.1" / "ended", tmp_path / "run")
    return RunFolder.open(tmp_path / "run")


def test_what_is_kept_is_what_is_found_anew(folder: RunFolder) -> None:
    found, kept = worked_out(folder)
    assert '"mean"' in json.dumps(kept)
    folder.keep_dependence(kept)
    assert results(folder) == results(folder, anew=True) == found


def test_no_row_is_looked_at_again(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.keep_dependence(worked_out(folder)[1])
    monkeypatch.setattr(blocks, "_QUERY", "SELECT nothing FROM nowhere")
    assert any(
        each.response and each.response.mean_interval for case in results(folder).cases for each in case.operations
    )
    with pytest.raises(Exception, match="nowhere"):
        results(folder, anew=True)


def test_it_holds_for_its_tables_alone(folder: RunFolder) -> None:
    folder.keep_dependence(worked_out(folder)[1])
    assert folder.dependence() is not None
    with (folder.path / "frames" / "0.table").open("ab") as file:
        file.write(b"x")
    assert folder.dependence() is None


@pytest.mark.parametrize("text", ["", "[]", "{", '{"of": 1}', "[" * 100_000])
def test_what_cannot_be_read_is_not_there(folder: RunFolder, text: str) -> None:
    (folder.path / NAME).write_text(text)
    assert folder.dependence() is None
    assert results(folder).cases


@pytest.mark.parametrize("found", [None, {}, {"version": 1, "operations": [{}]}, {"version": 0, "operations": []}])
def test_what_is_not_of_this_version_is_found_anew(folder: RunFolder, found: object) -> None:
    folder.keep_dependence(found)
    assert results(folder) == results(folder, anew=True)


@pytest.mark.long
def test_verify_tells_of_one_that_is_wrong(folder: RunFolder) -> None:
    kept = worked_out(folder)[1]
    folder.keep_dependence(kept)
    before = list(findings(folder))
    assert not [where for where, _ in before if where == NAME]
    text = (folder.path / NAME).read_text()
    info = json.loads(text)
    info["found"]["operations"][0]["mean"] = [-1.0, 1.0]
    (folder.path / NAME).write_text(json.dumps(info))
    assert [where for where, _ in findings(folder) if where == NAME] == [NAME]
