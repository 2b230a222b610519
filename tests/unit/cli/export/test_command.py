"""Exports: the same rows in every format."""

import csv
import json
import re

import pytest
from click.testing import CliRunner

from pileup.cli.app import app
from pileup.model.errors import UsageError
from pileup.model.record import ClaimRow, FindingRow
from pileup.record.operations import connect, quoted
from tests.manifests import plain, run_of
from tests.support import ROOT
from tests.unit.stats import scans
from tests.unit.stats.conftest import golden

__all__ = ["golden"]

GOLDEN = ROOT / "tests" / "golden" / "0.1"
NUMBERS = {"operations": 401, "frames": 41, "samples": 46}
OTHERS = {"cases": 2, "figures": 3, "quantiles": 60, "timeline": 21, "errors": 1, "criteria": 5, "events": 1}
EMPTY = (
    "detached",
    "points",
    "repeats",
    "differences",
    "effects",
    "faults",
    "equivalences",
    "round_trips",
    "served",
    "joined",
    "one_sided",
    "labels",
)
EMPTY += ("matrix", "matrix_targets")
OF_BATCH = ("jobs", "job_reasons", "audits", "claims", "findings")


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


@pytest.mark.long
@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
@pytest.mark.parametrize("state", ["running", "ended"])
def test_every_row_is_there(form, state, tmp_path):
    out = tmp_path / "new" / "it's here"
    done = export(state, form, out)
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in out.iterdir()) == sorted(
        [
            *(f"{name}.{form}" for name in (*NUMBERS, *OTHERS, *EMPTY, *OF_BATCH, "histograms", "spectrum")),
            "results.json",
        ]
    )
    for name, number in {**NUMBERS, **OTHERS, **dict.fromkeys((*EMPTY, *OF_BATCH), 0)}.items():
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
    assert whole["response_mean_low"] < whole["response_mean"] < whole["response_mean_high"], "row T25"
    assert whole["cancelled"] == 0
    rows = read(tmp_path / "quantiles.parquet")
    (median,) = [
        r for r in rows if (r["case"], r["operation"], r["kind"], r["share"]) == ("copy", "read", "response", 0.5)
    ]
    assert median["value"] == pytest.approx(41e6, rel=0.002)
    (rare,) = [r for r in rows if (r["operation"], r["kind"], r["share"]) == ("read", "response", 0.9999)]
    assert (rare["value"], rare["note"]) == (None, "too few")
    assert sum(row["count"] for row in read(tmp_path / "histograms.parquet") if row["operation"] == "read") == 2 * 195
    assert [row["verdict"] for row in read(tmp_path / "criteria.parquet")] == [
        "met, not shown", "not met", "unknown", "met", "not covered",
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_an_axis_of_the_name_of_a_column_has_one_of_its_own(form, tmp_path):
    axes = {"mean": ["4", "16"], "Test": ["a"], "n": ["1"]}
    folder = scans.scan(tmp_path / "run", lambda point, repeat: int(point["mean"]) * 10**6, axes=axes)
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["export", str(folder.path), "--to", form, "--out", str(out)])
    assert done.exit_code == 0, done.output
    points = [row for row in read(out / f"points.{form}") if row["metric"] == "p50"]
    assert [(row["point.mean"], row["point.Test"], row["n"], row["test"]) for row in points] == [
        *[("4", "a", "1", "copy"), ("16", "a", "1", "copy")]
    ]
    assert [float(row["mean"]) for row in points] == pytest.approx([4e6, 16e6], rel=0.01)
    first = read(out / f"cases.{form}")[0]
    assert (first["mean"], first["point.Test"], first["test"]) == ("4", "a", "copy")


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_the_points_of_a_scan_are_tables(form, tmp_path):
    folder = scans.scan(tmp_path / "run", lambda point, repeat: (40 // int(point["se.threads"]) + repeat) * 10**6)
    told = plain(folder)
    told["criteria"] = [{"id": "C", "says": 'x\n"y", z', "check": "p50(copy) < 5 ms", "coverage": "full"}]
    told["equivalent"] = [["copy", "read"]]
    folder.save(run_of(told))
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
    (alike,) = read(out / f"equivalences.{form}")
    assert (alike["tests"], alike["verdict"]) == ("copy, read", "unknown")
    (fault,) = read(out / f"events.{form}")
    assert (fault["kind"], int(fault["begin"]), int(fault["end"]), fault["target"]) == ("fault", 1, 2, "se")


@pytest.mark.long
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


def test_claims_and_findings_are_tables(golden, tmp_path):
    folder = golden.make(tmp_path / "run", "ended")
    claims = [ClaimRow(7, 2, "copy", "se", "job-1", "12"), ClaimRow(8, 2, "copy", "se", "job-2")]
    folder.append_claims(claims)
    folder.append_findings(
        [
            FindingRow(0, 9, claims[0], "ran once", 1, "failed", "12", "exit 1", 7, 8, 9),
            FindingRow(0, 9, claims[1], "never"),
        ]
    )
    folder.close()
    told = {"number": 0, "target": "se", "fault": -1, "after": "", "load": "", "begin": 8, "end": 9, "gone": 0}
    folder.save(run_of({**plain(folder), "audits": [{**told, "claims": {"copy": 2}, "looked": 2, "problem": ""}]}))
    done = CliRunner().invoke(app, ["export", str(folder.path), "--to", "json", "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    first, second = read(tmp_path / "out" / "findings.json")
    assert (first["name"], first["fate"], first["reason"], first["ended"]) == ("job-1", "ran once", "exit 1", 9)
    assert (second["case"], second["fate"], second["id"], second["started"]) == ("copy", "never", "", None)
    assert [each["what"] for each in read(tmp_path / "out" / "claims.json")] == ["job", "job"]
    (audit,) = read(tmp_path / "out" / "audits.json")
    assert (audit["ran_once"], audit["never"], audit["acknowledged"], audit["fault"]) == (1, 1, 1, None)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--to", "xls"], "there is no exporter 'xls'; expected a name from `pileup list exporters`"),
        (["--charts", "svg", "--chart", "nosuch"], "--chart: there is no chart 'nosuch'; expected one of "),
        (["--chart", "cases", "--to", "csv"], "--chart without --charts; expected --charts svg"),
        (["--to", "./own.py:Broken"], "exporter 'broken' fails at table 'operations': KeyError: 'no'"),
    ],
)
def test_what_is_wrong_with_a_format_or_a_chart_is_told(arguments, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(
        "from pileup.plugin import Exporter\n\n\nclass Broken(Exporter):\n    name = 'broken'\n\n"
        "    def write(self, table, path):\n        raise KeyError('no')\n"
    )
    done = CliRunner().invoke(app, ["export", str(GOLDEN / "ended"), "--out", str(tmp_path / "x"), *arguments])
    assert told in str(done.exception)


def test_one_chart_can_be_chosen(tmp_path):
    arguments = ["export", str(GOLDEN / "ended"), "--charts", "svg", "--chart", "cases", "--out", str(tmp_path)]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert [path.name for path in (tmp_path / "charts").iterdir()] == ["cases.svg"]


def test_rows_that_an_exporter_gets_are_those_of_the_table(tmp_path):
    (tmp_path / "own.py").write_text(
        "from pileup.plugin import Exporter\n\n\nclass Count(Exporter):\n    name = 'count'\n\n"
        "    def write(self, table, path):\n"
        "        path.write_text(f'{len(list(table.rows()))} {len(table.columns)}')\n"
    )
    done = export("ended", f"{tmp_path}/own.py:Count", tmp_path / "out")
    assert done.exit_code == 0, done.output
    for name, number in NUMBERS.items():
        rows, columns = (tmp_path / "out" / f"{name}.count").read_text().split()
        assert (int(rows), int(columns) > 3) == (number, True)


LINE = re.compile(r"[ ]*([0-9.]+)[ ]*([0-9.]+)[ ]*([0-9]+)[ ]*([0-9.]*)\n")
"""As the plotter of HdrHistogram takes a file apart."""


def test_spectra_are_what_plotters_of_hdrhistogram_read(tmp_path):
    done = export("ended", "hgrm", tmp_path)
    assert done.exit_code == 0, done.output
    names = {path.name for path in tmp_path.iterdir()}
    assert {"check.response.hgrm", "copy.iteration.response.hgrm", "copy.read.service.hgrm", "results.json"} <= names
    assert all(name.endswith((".hgrm", "results.json")) for name in names), "it takes no other table"
    lines = (tmp_path / "copy.iteration.response.hgrm").read_text().splitlines(keepends=True)
    assert lines[0].split() == ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"]
    rows = [found.groups() for line in lines if (found := LINE.fullmatch(line))]
    values, shares, counts = ([float(row[place]) for row in rows] for place in range(3))
    assert values == sorted(values)
    assert counts == sorted(counts)
    assert (shares[-1], rows[-1][3]) == (1.0, ""), "there is no number for the end of all percentiles"
    for share, (*_, rest) in zip(shares[:-1], rows, strict=False):
        assert float(rest) == pytest.approx(1 / (1 - share), abs=0.006)
    told = json.loads((tmp_path / "results.json").read_text())
    (copy,) = [case for case in told["cases"] if case["name"] == "copy"]
    response = copy["operations"][0]["response"]
    assert counts[-1] == response["n"]
    assert values[-1] == pytest.approx(response["largest"] / 1e6)
    median = next(value for value, share in zip(values, shares, strict=True) if share >= 0.5)
    assert median == pytest.approx(response["quantiles"]["0.5"]["value"] / 1e6, rel=0.02)
    assert f"#[Max     = {values[-1]:12.6f}, Total count    = {int(counts[-1]):12d}]\n" == lines[-1]


def test_an_exporter_may_take_a_part_of_the_tables_and_split_them(tmp_path):
    (tmp_path / "parted.py").write_text(
        "from pileup.plugin import Exporter\n\n\n"
        'class Parted(Exporter):\n    """Parts."""\n\n    name = suffix = "txt"\n'
        '    tables = ("figures",)\n    split = ("case", "operation")\n\n'
        "    def write(self, table, path):\n        path.write_text(str(len(list(table.rows()))))\n"
    )
    out = tmp_path / "out"
    done = export("ended", f"{tmp_path}/parted.py:Parted", out)
    assert done.exit_code == 0, done.output
    found = {path.name: path.read_text() for path in out.glob("*.txt")}
    assert len(found) == OTHERS["figures"]
    assert set(found.values()) == {"1"}
