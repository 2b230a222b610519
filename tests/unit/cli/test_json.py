"""What --json prints has the keys and types of pileup.cli.data, and nothing else."""

import json
import shutil
from pathlib import Path
from types import UnionType
from typing import Any, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

import pytest

from pileup.cli import data, main
from tests.support import ROOT

ENDED = ROOT / "tests" / "golden" / "0.1" / "ended"
GOOD = """
pileup: 1
title: A short one
targets: {disk: {kind: posix}}
tests:
  - {name: fill, use: storage.write, options: {files: 20, size: 1 MiB}}
  - {name: copy, use: noop, after: [fill], load: {clients: 2, for: 10 s}}
monitors: [{use: node}]
criteria: [{id: C1, says: x, check: count(copy.passed) > 0}]
"""


@pytest.fixture
def suite(tmp_path: Path, fake_plugins: None) -> Path:
    path = tmp_path / "suite.yaml"
    path.write_text(GOOD)
    return path


def printed(capsys: pytest.CaptureFixture[str], kind: Any, *words: str, code: int = 0) -> Any:
    """Run a command and return what it printed, held to a type: every key there is, and no other."""
    assert main(list(words)) == code
    found = json.loads(capsys.readouterr().out)
    hold(found, kind, "it")
    return found


def hold(value: Any, hint: Any, where: str) -> None:
    """Fail where a value of JSON is not of a type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if is_typeddict(hint):
        hold_keys(value, get_type_hints(hint, include_extras=True), where)
    elif origin is list:
        assert isinstance(value, list), where
        for number, item in enumerate(value):
            hold(item, arguments[0], f"{where}[{number}]")
    elif origin is dict:
        assert isinstance(value, dict), where
        for name, item in value.items():
            hold(item, arguments[1], f"{where}.{name}")
    elif origin is UnionType:
        assert type(value) in arguments, where
    elif hint is not object:
        assert type(value) is hint, where


def hold_keys(value: Any, hints: dict[str, Any], where: str) -> None:
    """Fail where an object lacks a key, has another, or one of another type."""
    assert isinstance(value, dict), where
    assert set(value) <= set(hints), where
    for name, hint in hints.items():
        optional = get_origin(hint) is NotRequired
        assert optional or name in value, f"{where}.{name}"
        if name in value:
            hold(value[name], get_args(hint)[0] if optional else hint, f"{where}.{name}")


def test_a_valid_suite(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, data.Validated, "validate", str(suite), "--json")
    assert found["valid"]
    assert (found["tests"], found["targets"], found["monitors"], found["criteria"]) == (2, 1, 1, 1)
    assert found["problems"] == []


def test_every_mistake_of_a_suite(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("validate", str(suite), "--json", "--set", "tests.copy.load.clients=0", "--set", "tests.fill.use=nix")
    suite.write_text(GOOD.replace("targets", "targts"))
    found = printed(capsys, data.Validated, *words, code=3)
    assert not found["valid"]
    codes = {each["code"]: each for each in found["problems"]}
    assert {"unknown-key", "out-of-range", "unknown-plugin"} <= set(codes)
    assert (codes["unknown-key"]["line"], codes["unknown-key"]["column"]) == (4, 1)
    assert codes["unknown-key"]["file"] == str(suite)
    assert codes["out-of-range"]["file"] is None
    assert codes["out-of-range"]["where"] == "--set tests.copy.load.clients"


def test_the_annotations_of_github(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite.write_text(GOOD.replace("targets", "targts"))
    assert main(["validate", str(suite), "--format", "github", "--set", "tests.copy.load.clients=0"]) == 3
    first, second = capsys.readouterr().out.splitlines()
    assert first == f"::error file={suite},line=4,col=1,title=unknown-key::unknown word 'targts'; expected 'targets'"
    assert second.startswith("::error title=out-of-range::--set tests.copy.load.clients: ")


def test_what_would_break_an_annotation_is_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a,b.yaml"
    path.write_text("pileup: 1\n'100%': 1\n")
    assert main(["validate", str(path), "--format", "github"]) == 3
    told = capsys.readouterr().out
    assert "a%2Cb.yaml" in told
    assert "'100%25'" in told


def test_a_plan(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, data.Planned, "plan", str(suite), "--json")
    assert [case["after"] for case in found["cases"]] == [[], ["fill"]]


@pytest.mark.parametrize("words", [["tests"], ["suites"], []])
def test_lists(words: list[str], fake_plugins: None, capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, dict[str, list[data.Listed]], "list", *words, "--json")
    assert found


@pytest.mark.parametrize("name", ["noop", "load", "unknown-key", "exit-codes"])
def test_pages(name: str, fake_plugins: None, capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, data.Described, "describe", name, "--json")
    assert found["pages"][0]["blocks"]


def test_options_of_a_plug_in_are_rows(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, data.Described, "describe", "storage.read", "--json")
    rows = [row for block in found["pages"][0]["blocks"] for row in block.get("rows", [])]
    assert {"files", "size"} <= {row["name"] for row in rows}


def test_what_was_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, suite = Path(shutil.copytree(ENDED, tmp_path / "run")), tmp_path / "suite.yaml"
    found = printed(capsys, data.WrittenData, "report", str(run), "--to", "json", "--json")
    assert found["files"] == [str(run / "results.json")]
    found = printed(capsys, data.WrittenData, "new", "suite", "mine", "--out", str(tmp_path / "own"), "--json")
    assert found["files"] == [str(tmp_path / "own" / "mine.yaml")]
    xml = str(tmp_path / "suite.xml")
    suite.write_text(f"# a remark\n{GOOD}")
    found = printed(capsys, data.ConvertedData, "convert", str(suite), xml, "--json")
    assert (found["files"], found["format"], len(found["lost"])) == ([xml], "xml", 1)
    assert all(Path(name).is_file() for name in (xml, tmp_path / "own" / "mine.yaml", run / "results.json"))


def test_the_files_of_an_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, data.WrittenData, "export", str(ENDED), "--to", "hgrm", "--out", str(tmp_path), "--json")
    assert sorted(found["files"]) == sorted(str(path) for path in tmp_path.iterdir())
    assert len(found["files"]) > 3


@pytest.mark.parametrize(
    "words", [["convert", "suite:first-run", "--json"], ["report", str(ENDED), "--to", "json", "--out", "-", "--json"]]
)
def test_stdout_holds_one_thing(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "itself goes to stdout" in told.err


WITHOUT = {
    "try": "what the test prints is on its stdout, and a debugger may be there; `pileup run --json` has the facts",
    "watch": "a screen; `pileup show --json` has the results",
    "practice": "a server, whose figures are in its log",
    "relay": "a server, whose connections are in the file of --trace",
    "schema": "prints JSON itself",
    "help": "text; `pileup describe --json` has the pages",
    "completion": "a script for a shell",
    "man": "pages for man",
    "place": "called by pileup itself",
}
"""Command -> why it prints no JSON."""


def test_every_command_with_facts_has_it() -> None:
    import click

    from pileup.cli.app import app
    from pileup.cli.table import COMMANDS

    context = click.Context(app)
    found = {
        name
        for name in COMMANDS
        if (command := app.get_command(context, name)) is not None
        and "--json" in {word for each in command.params for word in each.opts}
    }
    assert found == set(COMMANDS) - set(WITHOUT)
    assert found == {name for names in data.COMMANDS for name in names.split(", ")}, "the page says what each prints"


def test_the_page_names_every_type() -> None:
    from pileup.cli.pages.topics import json_page

    titles = {getattr(block, "text", "") for block in json_page().blocks}
    assert {each.__name__ for each in data.TYPES} <= titles
