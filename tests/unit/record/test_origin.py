"""Tables of another run in a run folder are noticed by whatever reads figures."""

import json
import shutil
from pathlib import Path

import pytest

from pileup.cli.app import run_app
from pileup.cli.verify import findings
from pileup.model.errors import DamagedRecord
from pileup.record import RunFolder
from pileup.stats import results
from tests.manifests import plain
from tests.unit.record.test_merge import made

TABLES = ["operations/operations.parquet", "samples/samples.parquet", "frames/0.table"]


@pytest.fixture
def two(tmp_path: Path) -> tuple[RunFolder, RunFolder]:
    """Two runs of one suite: nothing but their times and names differ."""
    return made(tmp_path, "one", repeats=1), made(tmp_path, "other", repeats=1)


@pytest.mark.long
@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_another_run_is_noticed(
    two: tuple[RunFolder, RunFolder], name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = two
    assert len(results(one).cases) == 2
    shutil.copy(other.path / name, one.path / name)
    shutil.copy(other.path / "SHA256SUMS", one.path / "SHA256SUMS")
    with pytest.raises(DamagedRecord, match=f"{name} is a table of another run"):
        results(one)
    assert (name, "it is a table of another run") in list(findings(one))
    run, out = str(one.path), str(tmp_path / "out")
    for words in (
        ["show", run],
        ["report", run, "--out", out],
        ["compare", str(other.path), run],
        ["export", run, "--to", "csv", "--out", out],
        ["merge", str(other.path), run, "--out", out],
    ):
        assert run_app(words) == 3, words
        assert "is a table of another run" in capsys.readouterr().err
    assert run_app(["verify", run]) == 1
    assert run_app(["show", str(other.path)]) == 0


def test_a_run_json_of_another_run_is_noticed(two: tuple[RunFolder, RunFolder]) -> None:
    one, other = two
    shutil.copy(other.path / "run.json", one.path / "run.json")
    with pytest.raises(DamagedRecord, match="is a table of another run"):
        results(RunFolder.open(one.path))


def test_records_of_before_are_believed(two: tuple[RunFolder, RunFolder]) -> None:
    one, other = two
    shutil.copy(other.path / "operations/operations.parquet", one.path / "operations/operations.parquet")
    (one.path / "run.json").write_text(json.dumps(plain(one) | {"nonce": ""}))
    assert len(results(RunFolder.open(one.path)).cases) == 2
