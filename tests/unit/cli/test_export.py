"""Exports: the same rows in every format."""

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pileup.cli.app import app
from pileup.model.errors import UsageError
from pileup.record.operations import connect, quoted
from tests.unit.stats import scans

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "0.1"
NUMBERS = {"operations": 401, "frames": 41, "samples": 46}
OTHERS = {"cases": 2, "figures": 3, "quantiles": 30, "timeline": 21, "errors": 1, "criteria": 5, "events": 1}
EMPTY = ("detached", "points", "repeats", "differences", "effects")


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
        [*(f"{name}.{form}" for name in (*NUMBERS, *OTHERS, *EMPTY, "histograms")), "results.json"]
    )
    for name, number in {**NUMBERS, **OTHERS, **dict.fromkeys(EMPTY, 0)}.items():
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


def test_figures_quantiles_and_criteria_are_those_of_the_results(tmp_path):
    export("ended", "parquet", tmp_path)
    (whole,) = [row for row in read(tmp_path / "figures.parquet") if row["case"] == "copy" and row["iteration"]]
    assert (whole["passed"], whole["failed"], whole["seconds"]) == (195, 5, 20.0)
    assert whole["rate_low"] < whole["rate"] == 9.75 < whole["rate_high"]
    rows = read(tmp_path / "quantiles.parquet")
    (median,) = [
        r for r in rows if (r["case"], r["operation"], r["kind"], r["share"]) == ("copy", "read", "response", 0.5)
    ]
    assert median["value"] == pytest.approx(41e6, rel=0.002)
    (rare,) = [r for r in rows if (r["operation"], r["kind"], r["share"]) == ("read", "response", 0.9999)]
    assert (rare["value"], rare["note"]) == (None, "too few")
    assert sum(row["count"] for row in read(tmp_path / "histograms.parquet") if row["operation"] == "read") == 2 * 195
    assert [row["verdict"] for row in read(tmp_path / "criteria.parquet")] == [
        "passed", "failed", "unknown", "passed", "not checked",
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_the_points_of_a_scan_are_tables(form, tmp_path):
    folder = scans.scan(tmp_path / "run", lambda point, repeat: (40 // int(point["se.threads"]) + repeat) * 10**6)
    told = folder.info()
    told["criteria"] = [{"id": "C", "says": 'x\n"y", z', "check": "p50(copy) < 5 ms", "coverage": "full"}]
    folder.save(told)
    folder.event("fault", "se is restarted", target="se", begin=1, end=2)
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["export", str(folder.path), "--to", form, "--out", str(out)])
    assert done.exit_code == 0, done.output
    points = [row for row in read(out / f"points.{form}") if row["metric"] == "p50"]
    assert [(row["se.threads"], row["copy.buffer"]) for row in points] == [
        ("4", "64 KiB"), ("4", "1 MiB"), ("16", "64 KiB"), ("16", "1 MiB"),
    ]  # fmt: skip
    assert float(points[0]["mean"]) == pytest.approx(12e6, rel=0.01)
    gaps = [row for row in read(out / f"differences.{form}") if row["metric"] == "p50"]
    assert float(gaps[1]["difference"]) == pytest.approx(-8e6, rel=0.01)
    assert float(gaps[1]["relative_low"]) < float(gaps[1]["relative"]) < float(gaps[1]["relative_high"])
    assert (gaps[1]["verdict"], gaps[1]["baseline"]) == ("smaller", "se.threads=4, copy.buffer=64 KiB")
    assert len(read(out / f"repeats.{form}")) % 12 == 0
    assert {row["axis"] for row in read(out / f"effects.{form}")} == {"se.threads", "copy.buffer"}
    assert read(out / f"cases.{form}")[0]["se.threads"] == "4"
    verdicts = read(out / f"criteria.{form}")
    assert [row["point"] or "" for row in verdicts] == ["", *(row["point"] for row in points)]
    assert verdicts[0]["says"] == 'x\n"y", z'
    (fault,) = read(out / f"events.{form}")
    assert (fault["kind"], int(fault["begin"]), int(fault["end"]), fault["target"]) == ("fault", 1, 2, "se")


@pytest.mark.parametrize(("form", "begins"), [("svg", b"<svg xmlns="), ("png", b"\x89PNG")])
def test_charts_are_pictures(form, begins, tmp_path):
    done = CliRunner().invoke(app, ["export", str(GOLDEN / "ended"), "--charts", form, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    found = {path.name: path.read_bytes() for path in (tmp_path / "charts").iterdir()}
    assert f"rates-iterations.{form}" in found
    assert all(data.startswith(begins) for data in found.values())
    assert sorted(done.output.split()) == sorted(str(tmp_path / "charts" / name) for name in found)


def test_something_must_be_asked_for(tmp_path):
    done = CliRunner().invoke(app, ["export", str(GOLDEN / "ended"), "--out", str(tmp_path)])
    assert isinstance(done.exception, UsageError)
    assert "--to csv, or --charts svg" in str(done.exception)
