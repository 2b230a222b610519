"""Exports: the same rows in every format."""

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pileup.cli.app import app
from pileup.model.errors import UsageError
from pileup.record.operations import connect, quoted

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "0.1"
NUMBERS = {"operations": 401, "frames": 41, "samples": 46}


def export(state, form, out):
    return CliRunner().invoke(app, ["export", str(GOLDEN / state), "--to", form, "--out", str(out)])


def read(path):
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            return list(csv.DictReader(file))
    if path.suffix == ".json":
        return json.loads(path.read_text())
    with connect() as connection:
        query = connection.execute(f"SELECT * FROM read_parquet({quoted(path)})")
        names = [column[0] for column in query.description]
        return [dict(zip(names, row, strict=True)) for row in query.fetchall()]


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
@pytest.mark.parametrize("state", ["running", "ended"])
def test_every_row_is_there(form, state, tmp_path):
    out = tmp_path / "new" / "it's here"
    done = export(state, form, out)
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in out.iterdir()) == sorted(
        [*(f"{name}.{form}" for name in NUMBERS), "results.json"]
    )
    for name, number in NUMBERS.items():
        rows = read(out / f"{name}.{form}")
        assert len(rows) == number, name
    (first,) = [row for row in read(out / f"operations.{form}") if int(row["id"]) == 1]
    assert (first["case"], first["phase"], int(first["start"])) == ("check", "measure", 1_795_000_000_000_000_000)
    frame = read(out / f"frames.{form}")[-1]
    assert (frame["operation"], int(frame["passed"])) == ("read", 7)
    assert int(frame["p50"]) == pytest.approx(41.9e6, rel=0.01)
    sample = read(out / f"samples.{form}")[2]
    assert (sample["labels"], float(sample["value"])) == ("mode=user", 4.0)
    assert json.loads((out / "results.json").read_text())["run"]["title"] == "golden"


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    done = export("ended", "csv", tmp_path / "file" / "x")
    assert isinstance(done.exception, UsageError)
    assert "cannot be written" in str(done.exception)
