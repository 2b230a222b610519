"""new: what it writes, and what it refuses."""

import ast
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from pileup.cli import main
from pileup.cli.new import KINDS, LOG, PACKAGE, SKELETONS, USED, spelled
from pileup.model.errors import UsageError


def test_there_is_a_skeleton_of_every_kind() -> None:
    assert sorted(path.name for path in SKELETONS.iterdir()) == sorted([*KINDS, LOG])


def test_only_a_monitor_reads_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "test", "mine", "--log", "--out", str(tmp_path)]) == 2
    assert "--log with a test\n  expected a monitor" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    assert main(["new", "monitor", "mine", "--log", "--out", str(tmp_path)]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.py", "mine.yaml", "test_mine.py"]
    assert "Log(" in (tmp_path / "mine.py").read_text()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != PACKAGE])
def test_its_files_bear_the_name_in_the_spelling_of_each_place(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", kind, "list-folder", "--out", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    for path in tmp_path.iterdir():
        text = path.read_text()
        assert str(path) in told
        assert not re.search(r"(?i)\bthing[_-]?name", text)
        if path.suffix == ".py":
            ast.parse(text)
            assert "ListFolder" in text
        else:
            assert yaml.safe_load(text)["pileup"] == 1
    wanted = {"suite": {"list_folder.yaml"}} | {each: {"list_folder.py", "test_list_folder.py"} for each in USED}
    every = {"list_folder.py", "test_list_folder.py", "list_folder.yaml"}
    assert {path.name for path in tmp_path.iterdir()} == wanted.get(kind, every)


@pytest.mark.parametrize("name", ["list-folder", "list_folder", "ListFolder"])
def test_a_name_may_be_spelled_as_one_likes(name: str) -> None:
    assert spelled(name) == {"thing_name": "list_folder", "thing-name": "list-folder", "ThingName": "ListFolder"}


@pytest.mark.parametrize("name", ["", "class", "7up", "a b", "../x", "a--b", "a.b", "x" * 51, "ü"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is not a name"):
        spelled(name)


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.yaml").write_text("precious")
    assert main(["new", "test", "mine", "--out", str(tmp_path)]) == 2
    assert "mine.yaml is there already" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert main(["new", "suite", "mine", "--out", str(tmp_path / "file" / "below")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_package_bears_the_name_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "package", "our-tools", "--out", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    modules = {f"our-tools/src/our_tools/{name}.py" for name in ("__init__", "ask", "memory", "service")}
    others = {"pyproject.toml", "README.md", "our_tools.yaml", "tests/test_our_tools.py"}
    assert written == modules | {f"our-tools/{name}" for name in others}
    for path in tmp_path.rglob("*.*"):
        text = path.read_text()
        assert not re.search(r"(?i)thing[_-]?name", text)
        if path.suffix == ".py":
            ast.parse(text)
    points = tomllib.loads((tmp_path / "our-tools/pyproject.toml").read_text())["project"]["entry-points"]
    assert points["pileup.tests"] == {"our-tools.ask": "our_tools.ask:Ask"}
    assert f"pip install -e {tmp_path / 'our-tools'}" in told
    assert main(["new", "package", "our-tools", "--out", str(tmp_path)]) == 2
    assert "is there already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "what"),
    [("json", "a module of Python itself"), ("Pytest", "there already: /"), ("pileup", "there already: /")],
)
@pytest.mark.parametrize("kind", ["package", "test"])
def test_a_name_that_something_else_is_imported_by_is_refused(
    kind: str, name: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", kind, name, "--out", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert f"`import {name.lower()}` is {what}" in told
    assert f"expected a name that no other module has\n  e.g. my-{name.lower()}" in told
    assert not list(tmp_path.iterdir())
    assert main(["new", "suite", name, "--out", str(tmp_path)]) == 0
