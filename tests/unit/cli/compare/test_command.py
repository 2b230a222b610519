"""Runs compared on the screen, as JSON, and by exit code."""

import io
import json
import shutil

import pytest
from click.testing import CliRunner
from rich.console import Console

from pileup.cli.app import run_app
from pileup.cli.compare.command import command
from pileup.cli.compare.text import print_comparison
from pileup.stats.compare.runs import compare_runs
from tests.unit.stats import scans
from tests.unit.stats.contrasts import MS, case, operation, run


def made(tmp_path, name, factor):
    """A run folder with one case of 40 iterations of `factor` times 20 ms."""
    rows = scans.rows_of(1, scans.START, 20 * MS * factor)
    told = scans.info([scans.case(1, "copy", scans.START)], axes={}, exit_code=0)
    return scans.write(tmp_path / name, told, [rows]).path


@pytest.fixture
def folders(tmp_path):
    return [str(made(tmp_path, name, factor)) for name, factor in (("a", 1.0), ("b", 1.0), ("slow", 1.5))]


def test_json_is_the_format_json(folders):
    told = [CliRunner().invoke(command, [*folders[:2], *words]).stdout for words in (["--json"], ["--format", "json"])]
    assert told[0] == told[1]
    assert json.loads(told[0])["verdict"]


@pytest.mark.parametrize("width", [60, 100, 160])
def test_everything_fits(width):
    slow = operation(1234.5 * MS, rate=12345.6, failed=30)
    found = compare_runs([run(case(operation(123.45 * MS, rate=98765.4)))], [[run(case(slow), title="b")]], 0.05)
    stream = io.StringIO()
    print_comparison(found, Console(file=stream, width=width))
    text = stream.getvalue()
    assert max(map(len, text.splitlines())) <= width
    for word in ("✗ Regressed: 6 of", "+900.0 %", "-87.5 %", "not passed", "+2.91 %", "title: a -> b"):
        assert word in text, word


def test_brackets_are_text():
    stream = io.StringIO()
    found = compare_runs([run(case(operation(MS), test="[red]x"))], [[run(case(operation(MS), test="[red]x"))]], 0.05)
    print_comparison(found, Console(file=stream, width=80))
    assert "[red]x" not in stream.getvalue(), "nothing has changed"
    stream = io.StringIO()
    print_comparison(found, Console(file=stream, width=80), everything=True)
    assert "[red]x" in stream.getvalue()


def test_u9_what_has_not_changed_is_folded():
    base, new = operation(20 * MS), operation(30 * MS)
    found = compare_runs([run(case(base))], [[run(case(new), folder="/runs/two")]], 0.05)

    def shown(everything):
        stream = io.StringIO()
        print_comparison(found, Console(file=stream, width=100), everything)
        return stream.getvalue()

    brief, whole = shown(False), shown(True)
    assert brief.startswith("✗ Regressed: 3 of 6 metrics are worse by 5 % or more, the most copy mean +50.0 %.")
    assert "too few" not in brief.replace("with too few values", "")
    assert "2 metrics without a change that is shown, 1 metric with too few values: --all lists them" in brief
    assert "rate" not in brief.partition("Verdict")[2].partition("metrics without")[0]
    assert "too few" in whole
    assert "--all" not in whole


@pytest.mark.long
def test_u9_the_same_run_twice_is_said(folders, capsys, tmp_path):
    assert run_app(["compare", folders[0], folders[0]]) == 2
    assert f"{folders[0]} is given twice" in capsys.readouterr().err
    copied = shutil.copytree(folders[0], tmp_path / "copied")
    assert run_app(["compare", folders[0], f"{folders[1]},{copied}"]) == 2
    assert "are the same run" in capsys.readouterr().err


def test_json_has_every_figure(folders):
    done = CliRunner().invoke(command, [*folders, "--format", "json"], standalone_mode=False)
    found = json.loads(done.output)
    assert found["verdict"] == "worse"
    assert [len(each["contrasts"]) > 4 for each in found["against"]] == [True, True]
    p50 = [each["contrasts"][3] for each in found["against"]]
    assert [each["metric"] for each in p50] == ["p50", "p50"]
    assert p50[0]["verdict"] == "no difference shown"
    assert p50[1]["relative"]["value"] == pytest.approx(0.5, abs=0.002)


@pytest.mark.long
def test_the_exit_code_tells_when_asked(folders, capsys):
    assert run_app(["compare", folders[0], folders[2]]) == 0
    assert run_app(["compare", folders[0], folders[1], "--fail-if", "worse"]) == 0
    assert run_app(["compare", folders[0], folders[2], "--fail-if", "worse"]) == 4
    assert run_app(["compare", folders[0], folders[2], "--fail-if", "worse", "--matters", "80 %"]) == 0
    assert "Changed by less than 80 %" in capsys.readouterr().out


@pytest.mark.long
def test_conditions_decide_the_exit_code(folders, capsys):
    slow = [folders[0], folders[2]]
    assert run_app(["compare", *slow, "--fail-if", "p50 > 5 %"]) == 4
    assert "--fail-if 'p50 > 5 %' holds: copy p50 +50." in " ".join(capsys.readouterr().out.split())
    assert run_app(["compare", *slow, "--fail-if", "p50 > 90 %"]) == 0
    assert run_app(["compare", *slow, "--fail-if", "p99 > 5 %"]) == 8, "40 values have no p99"
    assert run_app(["compare", *slow, "--fail-if", "p99 > 5 %", "--fail-if", "worse"]) == 4
    done = CliRunner().invoke(command, [*slow, "--fail-if", "worse", "--format", "json"], standalone_mode=False)
    (told,) = json.loads(done.output)["fail_if"]
    assert (told["gate"], told["holds"]) == ("worse", True)


def test_the_last_green_run_is_the_baseline(tmp_path, capsys):
    def at(seconds, name, factor, **fields):
        rows = scans.rows_of(1, scans.START, 20 * MS * factor)
        known = {"exit_code": 0, "started": scans.START + seconds, "verdict": "passed", **fields}
        told = scans.info([scans.case(1, "copy", scans.START)], axes={}, **known)
        folder = scans.write(tmp_path / name, told, [rows]).path
        return folder.rename(tmp_path / "runs" / name)

    (tmp_path / "runs").mkdir()
    at(0, "green", 1.0)
    at(1, "red", 3.0, verdict="failed", exit_code=4)
    new = at(2, "new", 1.5)
    assert run_app(["compare", "--last-green", str(new), "--fail-if", "worse"]) == 4
    told = capsys.readouterr().out
    assert "new against the baseline green" in told
    assert "+50" in told


def test_runs_with_commas_are_one_side(folders):
    group = ",".join(folders[:2])
    done = CliRunner().invoke(command, [group, folders[2], "--format", "json"], standalone_mode=False)
    found = json.loads(done.output)
    assert found["baseline"]["runs"] == folders[:2]
    assert found["against"][0]["contrasts"][3]["over_runs"] is True


def test_a_file_is_written(folders, tmp_path):
    out = tmp_path / "compared.json"
    done = CliRunner().invoke(command, [*folders[:2], "--format", "json", "--out", str(out)], standalone_mode=False)
    assert done.output.strip() == str(out)
    assert json.loads(out.read_text())["smallest"] == 0.05


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["{0}"], 2, ["one run alone", "a baseline and at least one more"]),
        (["{0}", "{1}", "--matters", "5 s"], 2, ["--matters '5 s'", "share of the baseline"]),
        (["{0}", "{1}", "--matters", "200 %"], 2, ["is no share", "less than 100 %"]),
        (["{0}", "nowhere"], 2, ["there is no folder nowhere", "pileup run"]),
        (["{0}", ","], 2, ["names no run"]),
        (["{0}", "{1}", "--fail-if", "p95 > 5 %"], 2, ["--fail-if 'p95 > 5 %'", "known are rate", "p99 > 5 %"]),
        (["{0}", "{1}", "--fail-if", "p99(no) > 5 %"], 2, ["about no metric", "a metric of copy", "--all"]),
        (["--last-green", "{0}"], 2, ["passed before", "that passed", "pileup compare BASELINE RUN"]),
        (["{0}", "{1}", "--out", "/nowhere/x"], 2, ["/nowhere/x cannot be written"]),
    ],
)
def test_mistakes_are_told(folders, capsys, arguments, code, words):
    assert run_app(["compare", *(each.format(*folders) for each in arguments)]) == code
    told = " ".join(capsys.readouterr().err.split())
    assert all(word in told for word in words), told


def test_html_is_one_page(folders, tmp_path):
    out = tmp_path / "compared.html"
    done = CliRunner().invoke(command, [*folders, "--format", "html", "--out", str(out)], standalone_mode=False)
    assert done.exit_code == 0
    assert out.read_text().lstrip().startswith("<!doctype html>")
