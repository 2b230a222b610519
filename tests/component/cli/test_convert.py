"""pileup convert: files, stdin and stdout, what is told and what is refused."""

import subprocess
import sys
from pathlib import Path

import pytest

from pileup.cli import main

YAML = "# mine\npileup: 1\ntitle: t\nvariables: {n: 3}\ntests: [{name: a, use: noop, load: {times: $n}}]\n"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "suite.yaml"
    path.write_text(YAML)
    return path


def test_there_and_back_through_files(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    xml, back = suite.with_suffix(".xml"), suite.with_name("back.yml")
    assert main(["convert", str(suite), str(xml)]) == 0
    assert capsys.readouterr().err == f"note: {suite}: not carried over: comments\n"
    assert main(["convert", str(xml), str(back)]) == 0
    assert capsys.readouterr() == ("", "")
    assert back.read_text() == (
        "pileup: 1\ntitle: t\nvariables: {n: 3}\ntests:\n  - {name: a, use: noop, load: {times: $n}}\n"
    )
    assert 'variables n="3"' in xml.read_text()


def test_stdout_gets_the_other_format(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", str(suite)]) == 0
    xml = capsys.readouterr().out
    assert xml.startswith("<?xml")
    assert main(["convert", str(suite), "--to", "yaml"]) == 0
    assert capsys.readouterr().out.startswith("pileup: 1\n")


def test_stdin_is_known_by_what_it_holds(suite: Path) -> None:
    def convert(text: str) -> str:
        command = [sys.executable, "-m", "pileup", "convert", "-", "-"]
        return subprocess.run(command, input=text, capture_output=True, text=True, check=True, timeout=60).stdout

    xml = convert(YAML)
    assert xml.startswith("<?xml")
    assert convert(xml).startswith("pileup: 1\n")


def test_a_file_that_is_there_is_kept(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = suite.with_name("mine.xml")
    out.write_text("keep")
    assert main(["convert", str(suite), str(out)]) == 2
    assert "already" in capsys.readouterr().err
    assert out.read_text() == "keep"
    assert main(["convert", str(suite), str(out), "--force"]) == 0
    assert out.read_text().startswith("<?xml")


@pytest.mark.parametrize("out", ["nowhere/at/all.xml", "."])
def test_a_place_that_cannot_be_written_is_wrong_usage(
    suite: Path, out: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", str(suite), str(suite.parent / out), "--to", "xml", "--force"]) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('a: "\\x01"\n', "suite.yaml:1:4: the character U+0001, which XML cannot hold; expected printable text"),
        ('"\\ufffe": 1\n', "suite.yaml:1:1: the character U+FFFE, which XML cannot hold"),
        ("a: [\n", "suite.yaml:2:1: this is not YAML"),
        ("- a\n", "suite.yaml:1:1: the file holds a list"),
        ("a: '" + "<" * 2_000_000 + "'", "bytes as XML; expected at most 4 MiB"),
    ],
)
def test_what_cannot_be_converted_is_told(
    suite: Path, text: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    suite.write_text(text)
    assert main(["convert", str(suite)]) == 3
    captured = capsys.readouterr()
    assert told in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("name", "text", "lost"),
    [
        ("a.yaml", "a: 1 # x\n", "comments"),
        ("a.yaml", "a: '# x'\nb: |\n  # y\n", ""),
        ("a.yaml", "a: &n 1\nb: *n\n", "anchors (what they stand for is written out)"),
        ("a.xml", "<suite><!-- x --></suite>", "comments"),
        ("a.xml", "<suite><about><![CDATA[<!-- x -->]]></about></suite>", ""),
    ],
)
def test_what_is_lost_is_told(
    tmp_path: Path, name: str, text: str, lost: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(text)
    assert main(["convert", str(tmp_path / name)]) == 0
    told = capsys.readouterr().err
    assert told == (f"note: {tmp_path / name}: not carried over: {lost}\n" if lost else "")


def test_a_shipped_suite_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "suite:first-run.xml"]) == 0
    assert "title: First run" in capsys.readouterr().out


def test_validate_and_plan_take_xml(suite: Path, fake_plugins: None, capsys: pytest.CaptureFixture[str]) -> None:
    xml = suite.with_suffix(".xml")
    assert main(["convert", str(suite), str(xml)]) == 0
    assert main(["validate", str(xml), "--set", "n=4"]) == 0
    assert main(["plan", str(xml), "--json"]) == 0
    assert '"name": "a"' in capsys.readouterr().out
    assert main(["validate", str(xml), "--set", "n=none"]) == 3
    assert f"{xml}:6:" in capsys.readouterr().err
