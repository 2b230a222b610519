"""Runs compared on the screen, as JSON, and by exit code."""

import io
import json

import pytest
from click.testing import CliRunner
from rich.console import Console

from pileup.cli.app import run_app
from pileup.cli.compare.command import command
from pileup.cli.compare.text import print_comparison
from pileup.stats import compare_runs
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


@pytest.mark.parametrize("width", [80, 120])
def test_everything_fits(width):
    slow = operation(1234.5 * MS, rate=12345.6, failed=30)
    found = compare_runs([run(case(operation(123.45 * MS, rate=98765.4)))], [[run(case(slow), title="b")]], 0.05)
    stream = io.StringIO()
    print_comparison(found, Console(file=stream, width=width))
    text = stream.getvalue()
    assert max(map(len, text.splitlines())) <= width
    for word in ("Verdict:", "6 worse", "+900.0 %", "-87.5 %", "not passed", "+2.91 %", "title: a -> b"):
        assert word in text, word


def test_brackets_are_text():
    stream = io.StringIO()
    found = compare_runs([run(case(operation(MS), test="[red]x"))], [[run(case(operation(MS), test="[red]x"))]], 0.05)
    print_comparison(found, Console(file=stream, width=80))
    assert "[red]x" in stream.getvalue()


def test_json_has_every_figure(folders):
    done = CliRunner().invoke(command, [*folders, "--format", "json"], standalone_mode=False)
    found = json.loads(done.output)
    assert found["verdict"] == "worse"
    assert [len(each["contrasts"]) > 4 for each in found["against"]] == [True, True]
    p50 = [each["contrasts"][3] for each in found["against"]]
    assert [each["metric"] for each in p50] == ["p50", "p50"]
    assert p50[0]["verdict"] == "no difference shown"
    assert p50[1]["relative"]["value"] == pytest.approx(0.5, abs=0.002)


def test_the_exit_code_tells_when_asked(folders, capsys):
    assert run_app(["compare", folders[0], folders[2]]) == 0
    assert run_app(["compare", folders[0], folders[1], "--fail-on", "worse"]) == 0
    assert run_app(["compare", folders[0], folders[2], "--fail-on", "worse"]) == 4
    assert run_app(["compare", folders[0], folders[2], "--fail-on", "worse", "--matters", "80 %"]) == 0
    assert "slightly worse" in capsys.readouterr().out


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
